//! The page on which residents report, as a browser without a script uses it, and as its script does.

use std::net::SocketAddr;
use std::time::Duration;

use figment::Figment;
use rocket::http::{Accept, ContentType, Header, Method, Status};
use rocket::local::blocking::LocalResponse;
use serde_json::{Value, json};
use siaga::model::Clock;

use crate::suite::eventually::{LONG, eventually_blocking};
use crate::suite::photos::photo;
use crate::suite::support::{Siaga, figment, json_of, properties};

const TOKEN: &str = "0123456789abcdef0123456789abcdef";
const BOUNDARY: &str = "a-boundary";
/// A flood in area 1.
const FLOOD: [(&str, &str); 5] = [
    ("disaster", "flood"),
    ("flood_depth", "40"),
    ("lat", "-6.195"),
    ("lng", "106.805"),
    ("text", "Air setinggi lutut <b>"),
];

fn open() -> Figment {
    figment().merge(("siaga.cards.open", true))
}

fn started(figment: Figment) -> Siaga {
    Siaga::with(figment, |builder| builder)
}

/// The body of a form.
fn form(fields: &[(&str, &str)], file: Option<&[u8]>) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, text) in fields {
        let part =
            format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{text}\r\n");
        body.extend(part.as_bytes());
    }
    let (name, file) = file.map_or(("", &[][..]), |file| ("photo.jpg", file));
    let head = format!(
        "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"{name}\"\r\n\
         Content-Type: image/jpeg\r\n\r\n"
    );
    body.extend(head.as_bytes());
    body.extend(file);
    body.extend(format!("\r\n--{BOUNDARY}--\r\n").as_bytes());
    body
}

fn send<'c>(
    siaga: &'c Siaga,
    address: &'c str,
    fields: &[(&str, &str)],
    file: Option<&[u8]>,
) -> LocalResponse<'c> {
    let kind = ContentType::new("multipart", "form-data").with_params(("boundary", BOUNDARY));
    siaga.client.post(address).header(kind).body(form(fields, file)).dispatch()
}

/// Returns the fields of a flood with further ones, of which the last of a name counts.
fn flood<'a>(others: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let kept = FLOOD.into_iter().filter(|(name, _)| others.iter().all(|(other, _)| other != name));
    kept.chain(others.iter().copied()).collect()
}

fn card(siaga: &Siaga, language: &str) -> String {
    let holder = json!({ "username": "Ani", "network": "telegram", "language": language });
    let made = json_of(siaga.ask(Method::Post, "/v1/cards", holder.to_string()));
    made["cardId"].as_str().unwrap().to_owned()
}

fn newest(siaga: &Siaga) -> Value {
    properties(&siaga.result("/v1/reports"))[0].clone()
}

fn count(siaga: &Siaga) -> usize {
    properties(&siaga.result("/v1/reports")).len()
}

fn location(response: &LocalResponse<'_>) -> String {
    assert_eq!(response.status(), Status::SeeOther);
    response.headers().get_one("Location").unwrap().to_owned()
}

#[test]
fn a_report_without_a_card_and_without_a_script_stands_on_the_map_with_its_photo() {
    let siaga = started(open());
    let page = siaga.get("/report?lang=en").into_string().unwrap();
    assert!(page.contains("name=\"token\" value=\"") && page.contains("enctype=\"multipart/form-data\""));
    let photo = photo(80, 60, 1);
    let sent = send(&siaga, "/report?lang=en", &flood(&[("token", TOKEN)]), Some(&photo));
    let thanks = location(&sent);
    let report = newest(&siaga);
    let id = report["url"].as_str().unwrap().to_owned();
    assert_eq!(id.len(), 14);
    assert_eq!(thanks, format!("/report/{id}/thanks?lang=en"));
    assert_eq!(
        (&report["disaster_type"], &report["report_data"]["flood_depth"], &report["text"]),
        (&json!("flood"), &json!(40), &json!("Air setinggi lutut <b>"))
    );
    assert_eq!(report["tags"]["local_area_id"], "1");
    let shown = || newest(&siaga)["image_url"].clone();
    eventually_blocking("the photo is shown", LONG, shown, |url| !url.is_null());
    let thanks = siaga.get(&thanks).into_string().unwrap();
    assert!(thanks.contains("Thank you") && thanks.contains("&#x2f;map?area=1&amp;lang=en"), "{thanks}");
    let made = json_of(siaga.ask(Method::Get, &format!("/v1/cards/{id}"), ""));
    assert_eq!((&made["result"]["network"], &made["result"]["username"]), (&json!("website"), &json!("")));
}

#[test]
fn a_form_that_is_sent_again_is_one_report() {
    let siaga = started(open());
    let before = count(&siaga);
    let card = card(&siaga, "id");
    for address in ["/report".to_owned(), format!("/report/{card}")] {
        let fields = flood(&[("token", TOKEN)]);
        let first = location(&send(&siaga, &address, &fields, Some(&photo(8, 6, 1))));
        for file in [None, Some(&*photo(8, 6, 1))] {
            assert_eq!(location(&send(&siaga, &address, &fields, file)), first);
        }
    }
    assert_eq!(count(&siaga), before + 2);
}

#[test]
fn what_is_wrong_is_said_beside_its_field_and_nothing_that_was_typed_is_lost() {
    let siaga = started(open());
    let before = count(&siaga);
    for (change, field) in [
        (("disaster", ""), "disaster"),
        (("flood_depth", ""), "flood_depth"),
        (("flood_depth", "deep"), "flood_depth"),
        (("flood_depth", "10001"), "flood_depth"),
        (("lat", ""), "place"),
        (("lat", "91"), "place"),
    ] {
        let response = send(&siaga, "/report?lang=en", &flood(&[("token", TOKEN), change]), None);
        assert_eq!(response.status(), Status::BadRequest, "{change:?}");
        let page = response.into_string().unwrap();
        assert!(page.contains(&format!("id=\"fault-{field}\"")), "{change:?}: {page}");
        assert!(page.contains("Air setinggi lutut &lt;b&gt;"), "{change:?}");
        assert!(page.contains(TOKEN), "the same form is sent again");
    }
    let long = "x".repeat(501);
    let long = send(&siaga, "/report", &flood(&[("token", TOKEN), ("text", &long)]), None);
    assert!(long.into_string().unwrap().contains("id=\"fault-text\""));
    let no_photo = send(&siaga, "/report", &flood(&[("token", TOKEN)]), Some(b"%PDF-1.7 is not a photo"));
    assert_eq!(no_photo.status(), Status::BadRequest);
    assert!(no_photo.into_string().unwrap().contains("id=\"fault-photo\""));
    let no_token = send(&siaga, "/report", &FLOOD, None);
    assert!(no_token.into_string().unwrap().contains("id=\"fault-token\""));
    assert_eq!(count(&siaga), before);
    let json = siaga.client.post("/report").header(ContentType::JSON).body("{}").dispatch();
    assert_eq!(json.status(), Status::UnsupportedMediaType);
}

#[test]
fn the_script_gets_json() {
    let siaga = started(open());
    let kind = ContentType::new("multipart", "form-data").with_params(("boundary", BOUNDARY));
    let ask = |fields: &[(&str, &str)]| {
        let request = siaga.client.post("/report?lang=en").header(kind.clone()).header(Accept::JSON);
        let response = request.body(form(fields, None)).dispatch();
        (response.status().code, json_of(response))
    };
    let (status, wrong) = ask(&flood(&[("token", TOKEN), ("disaster", "")]));
    assert_eq!((status, &wrong["faults"]["disaster"]), (400, &json!("Choose what is happening.")));
    let (status, sent) = ask(&flood(&[("token", TOKEN)]));
    assert_eq!((status, &sent["created"], &sent["waits"]), (200, &json!(true), &json!(false)));
    let (status, again) = ask(&flood(&[("token", TOKEN)]));
    assert_eq!((status, &again["created"], &again["cardId"]), (200, &json!(false), &sent["cardId"]));
}

#[test]
fn a_link_is_a_form_then_a_thank_you_and_later_says_what_to_do() {
    let siaga = started(open());
    let (used, late) = (card(&siaga, "en"), card(&siaga, "id"));
    let address = format!("/report/{used}");
    let form = siaga.get(&address).into_string().unwrap();
    assert!(form.contains("Report what you see"), "the language of the card: {form}");
    assert!(siaga.get(&format!("/report/{late}")).into_string().unwrap().contains("Laporkan"));
    location(&send(&siaga, &address, &flood(&[("disaster", "wind"), ("impact", "2")]), None));
    assert_eq!(newest(&siaga)["url"], *used);
    assert!(siaga.get(&address).into_string().unwrap().contains("Thank you"));
    siaga.clock.set(siaga.clock.now().after(Duration::from_hours(24)));
    for id in [&*late, "unknown-card-1", "x"] {
        let response = siaga.client.get(format!("/report/{id}?lang=en")).dispatch();
        assert_eq!(response.status(), Status::NotFound);
        let page = response.into_string().unwrap();
        assert!(
            page.contains("This link does not work") && page.contains("href=\"&#x2f;report?lang=en\""),
            "{page}"
        );
        assert_eq!(send(&siaga, &format!("/report/{id}"), &FLOOD, None).status(), Status::NotFound);
    }
}

#[test]
fn without_open_cards_there_is_no_page() {
    let siaga = Siaga::start();
    for address in ["/report", "/report/fresh-card", "/report/fresh-card/thanks", "/reporting/places?q=a"] {
        assert_eq!(siaga.get(address).status(), Status::NotFound, "{address}");
    }
    assert_eq!(send(&siaga, "/report", &flood(&[("token", TOKEN)]), None).status(), Status::NotFound);
}

#[test]
fn a_report_that_waited_on_a_phone_keeps_its_time_whatever_the_phones_clock() {
    let siaga = started(open());
    // Ten hours before it was sent, by a clock that is a day ahead.
    let times = [("created_at", "2016-12-20T05:00:00Z"), ("sent_at", "2016-12-20T15:00:00Z")];
    let fields = flood(&[("token", TOKEN), times[0], times[1]]);
    location(&send(&siaga, "/report", &fields, None));
    let all = siaga.result("/v1/reports?timeperiod=86400");
    let made = siaga.clock.now().before(Duration::from_hours(10)).to_string();
    assert!(properties(&all).iter().any(|report| report["created_at"] == *made), "{made}: {all}");
    // A report by a link is never from before the link.
    let card = card(&siaga, "id");
    location(&send(&siaga, &format!("/report/{card}"), &flood(&times), None));
    assert_eq!(
        (&newest(&siaga)["url"], &newest(&siaga)["created_at"]),
        (&json!(card), &json!(siaga.clock.now()))
    );
}

#[test]
fn reports_wait_for_review_if_the_operator_wants_it_or_a_program_or_many_from_one_address_send_them() {
    let peer = |host: &str| SocketAddr::new(host.parse().unwrap(), 4711);
    let kind = ContentType::new("multipart", "form-data").with_params(("boundary", BOUNDARY));
    let from = |siaga: &Siaga, host: &str, number: usize, others: &[(&str, &str)]| {
        let token = format!("{number:032x}");
        let fields: Vec<_> = flood(others).into_iter().chain([("token", &*token)]).collect();
        let request = siaga.client.post("/report").header(kind.clone()).header(Accept::JSON);
        let response = request.remote(peer(host)).body(form(&fields, None)).dispatch();
        (response.status().code, json_of(response)["waits"].clone())
    };
    let siaga = started(open().merge(("siaga.report.review", true)));
    let before = count(&siaga);
    assert_eq!(from(&siaga, "192.0.2.1", 1, &[]), (200, json!(true)));
    assert_eq!(count(&siaga), before);

    let limits = open().merge(("siaga.report.reviewed_after", 2)).merge(("siaga.report.refused_after", 4));
    let siaga = started(limits);
    assert_eq!(from(&siaga, "192.0.2.9", 99, &[("website", "https://spam.example")]), (200, json!(true)));
    let sent: Vec<_> = (0..5).map(|number| from(&siaga, "192.0.2.1", number, &[])).collect();
    let waits: Vec<_> = sent.iter().map(|(status, waits)| (*status, waits.clone())).collect();
    let expected = [
        (200, json!(false)),
        (200, json!(false)),
        (200, json!(true)),
        (200, json!(true)),
        (429, Value::Null),
    ];
    assert_eq!(waits, expected);
    assert_eq!(from(&siaga, "192.0.2.2", 7, &[]), (200, json!(false)), "another address");
    assert_eq!(count(&siaga), before + 3);
    // A person who sends a form again is not refused.
    assert_eq!(from(&siaga, "192.0.2.2", 7, &[]), (200, Value::Null));
}

#[test]
fn nobody_else_learns_the_address_and_no_cache_keeps_the_page() {
    let siaga = started(open());
    let card = card(&siaga, "id");
    for address in ["/report".to_owned(), format!("/report/{card}")] {
        let response = siaga.get(&address);
        let header = |name| response.headers().get_one(name).unwrap_or_default().to_owned();
        assert_eq!(header("Cache-Control"), "no-store");
        assert_eq!(header("Referrer-Policy"), "no-referrer");
        assert_eq!(header("X-Robots-Tag"), "noindex");
        assert!(header("Content-Security-Policy").contains("script-src 'self'"));
        assert_eq!(response.headers().get("Set-Cookie").count(), 0);
    }
}

#[test]
fn areas_are_chosen_from_lists_without_a_script_and_found_by_words_with_one() {
    let siaga = started(open());
    let page = siaga.get("/report").into_string().unwrap();
    assert!(page.contains("city=JAKARTA%20BARAT"), "{page}");
    let found = json_of(siaga.get("/reporting/places?q=jakarta%20rw"))["result"].clone();
    let found = found.as_array().unwrap();
    assert!(!found.is_empty() && found.len() <= 20);
    assert!(found.iter().all(|place| place["city"].as_str().unwrap().contains("JAKARTA")));
    assert_eq!(json_of(siaga.get("/reporting/places?q="))["result"], json!([]));
    let fields = [("token", TOKEN), ("disaster", "wind"), ("impact", "0"), ("area", "1")];
    location(&send(&siaga, "/report", &fields, None));
    assert_eq!(newest(&siaga)["tags"]["local_area_id"], "1");
}

#[test]
fn the_files_of_the_page_are_there() {
    let siaga = Siaga::start();
    for file in ["report.js", "photo.js", "outbox.js", "report.css"] {
        let address = format!("/reporting/{file}");
        let response =
            siaga.client.get(address).header(Header::new("Accept-Encoding", "identity")).dispatch();
        assert_eq!(response.status(), Status::Ok, "{file}");
    }
    assert_eq!(siaga.get("/reporting/other.js").status(), Status::NotFound);
}
