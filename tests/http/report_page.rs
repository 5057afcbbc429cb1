//! The page on which residents report, as a browser without a script uses it, and as its script does.

use std::time::Duration;

use rocket::http::{ContentType, Method, Status};
use serde_json::{Value, json};

use crate::suite::eventually::{LONG, eventually_blocking};
use crate::suite::form::{
    FLOOD, TOKEN, card, count, flood, location, newest, open, send, send_by_script, send_from, started,
};
use crate::suite::photos::photo;
use crate::suite::support::{KEY, Siaga, json_of, key};

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
    assert!(thanks.starts_with(&format!("/report/{id}/thanks?lang=en&token=")), "{thanks}");
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
fn what_is_wrong_is_said_beside_its_field_and_nothing_that_was_typed_is_lost() {
    let siaga = started(open());
    let before = count(&siaga);
    for (change, field) in [
        (("disaster", ""), "disaster"),
        (("flood.flood_depth", ""), "flood.flood_depth"),
        (("flood.flood_depth", "deep"), "flood.flood_depth"),
        (("flood.flood_depth", "10001"), "flood.flood_depth"),
        (("disaster", "earthquake"), "earthquake.report_type"),
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
    let small = started(open().merge(("siaga.images.max_bytes", "1KiB")));
    let huge = send(&small, "/report", &flood(&[("token", TOKEN)]), Some(&photo(400, 300, 1)));
    assert_eq!(huge.status(), Status::BadRequest);
    let huge = huge.into_string().unwrap();
    assert!(huge.contains("id=\"fault-photo\"") && huge.contains("Air setinggi lutut &lt;b&gt;"), "{huge}");
    let no_token = send(&siaga, "/report", &FLOOD, None);
    assert!(no_token.into_string().unwrap().contains("id=\"fault-token\""));
    assert_eq!(count(&siaga), before);
    let json = siaga.client.post("/report").header(ContentType::JSON).body("{}").dispatch();
    assert_eq!(json.status(), Status::UnsupportedMediaType);
}

#[test]
fn the_script_gets_json() {
    let siaga = started(open());
    let ask = |fields: &[(&str, &str)]| send_by_script(&siaga, "/report?lang=en", fields, None);
    let (status, wrong) = ask(&flood(&[("token", TOKEN), ("disaster", "")]));
    assert_eq!((status, &wrong["statusCode"]), (400, &json!(400)));
    assert_eq!(wrong["faults"]["disaster"], "Choose what is happening.");
    let (status, sent) = ask(&flood(&[("token", TOKEN)]));
    assert_eq!((status, &sent["created"], &sent["waits"]), (200, &json!(true), &json!(false)));
    let id = sent["cardId"].as_str().unwrap();
    assert!(sent["thanks"].as_str().unwrap().starts_with(&format!("/report/{id}/thanks?lang=en&token=")));
    let (status, again) = ask(&flood(&[("token", TOKEN)]));
    assert_eq!((status, &again["created"], &again["cardId"]), (200, &json!(false), &sent["cardId"]));
    let (status, late) = send_by_script(&siaga, "/report/unknown-card-1", &FLOOD, Some(&photo(8, 6, 1)));
    assert_eq!((status, &late["expired"]), (404, &json!(true)));
}

#[test]
fn a_link_is_a_form_then_a_thank_you_and_later_says_what_to_do() {
    let siaga = started(open());
    let (used, late) = (card(&siaga, "en"), card(&siaga, "id"));
    let address = format!("/report/{used}");
    let form = siaga.get(&address).into_string().unwrap();
    assert!(form.contains("Report what you see"), "the language of the card: {form}");
    assert!(siaga.get(&format!("/report/{late}")).into_string().unwrap().contains("Laporkan"));
    location(&send(&siaga, &address, &flood(&[("disaster", "wind"), ("wind.impact", "2")]), None));
    assert_eq!(newest(&siaga)["url"], *used);
    assert!(siaga.get(&address).into_string().unwrap().contains("Thank you"));
    siaga.pass(Duration::from_hours(24));
    for id in [&*late, "unknown-card-1", "x"] {
        let response = siaga.client.get(format!("/report/{id}?lang=en")).dispatch();
        assert_eq!(response.status(), Status::NotFound);
        let page = response.into_string().unwrap();
        assert!(
            page.contains("This link does not work") && page.contains("href=\"&#x2f;report?lang=en\""),
            "{page}"
        );
        let address = format!("/report/{id}?lang=en");
        let sent = send(&siaga, &address, &FLOOD, Some(&photo(8, 6, 1)));
        assert_eq!(sent.status(), Status::NotFound);
        let sent = sent.into_string().unwrap();
        assert!(
            sent.contains("action=\"&#x2f;report?lang=en\"")
                && sent.contains("The link of this form has expired"),
            "the form without a link: {sent}"
        );
        assert!(sent.contains("Air setinggi lutut &lt;b&gt;"), "nothing that was typed is lost: {sent}");
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
fn reports_wait_for_review_if_the_operator_wants_it_or_a_program_or_many_from_one_address_send_them() {
    let from = |siaga: &Siaga, host: &str, number: usize, others: &[(&str, &str)]| {
        let (status, sent) = send_from(&siaga.client, host, number, &[], others);
        (status, sent["waits"].clone())
    };
    let siaga = started(open().merge(("siaga.report.review", true)));
    let before = count(&siaga);
    let panels = || {
        let shared = |area| siaga.get(&format!("/map?area={area}&lang=en")).into_string().unwrap();
        let panel = |page: String| {
            page.split_once("id=\"chosen\"").map(|(_, rest)| rest.chars().take(600).collect::<String>())
        };
        [1, 2, 5, 10, 30].map(|area| panel(shared(area)))
    };
    let said = panels();
    assert_eq!(from(&siaga, "192.0.2.1", 1, &[]), (200, json!(true)));
    assert_eq!((count(&siaga), panels()), (before, said), "no page counts a report that waits");
    let listed = siaga.client.get("/v1/floods/attention").header(key(KEY)).dispatch();
    let listed = json_of(listed)["result"].clone();
    let reasons = listed.as_array().unwrap().iter().flat_map(|area| area["reasons"].as_array().unwrap());
    let waiting: Vec<_> =
        reasons.map(|reason| &reason["waiting_ids"]).filter(|ids| ids[0].is_string()).collect();
    assert_eq!(waiting.len(), 1, "officers see that somebody has reported: {listed}");

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
    let fields = [("token", TOKEN), ("disaster", "wind"), ("wind.impact", "0"), ("area", "1")];
    location(&send(&siaga, "/report", &fields, None));
    assert_eq!(newest(&siaga)["tags"]["local_area_id"], "1");
}

#[test]
fn the_form_asks_about_the_hazards_of_the_country_in_its_languages() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/country/ph");
    let siaga = started(open().merge(("siaga.country.folder", folder)));
    let page = siaga.get("/report?lang=tl").into_string().unwrap();
    assert!(page.contains("Bagyo") && page.contains("Gaano kalala ang pinsala?"), "{page}");
    assert!(page.contains("name=\"typhoon.report_type\" value=\"storm\""), "{page}");
    for indonesian in ["Angin", "Banjir", "value=\"wind\"><span><svg"] {
        assert!(!page.contains(indonesian), "{indonesian}: {page}");
    }
    let storm = json!({ "report_type": "storm", "impact": 1, "flood_depth": 20 });
    for (number, (report_type, answers, expected)) in [
        ("wind", &[("impact", "2"), ("flood_depth", "9")][..], json!({ "report_type": "wind", "impact": 2 })),
        ("flood", &[("flood_depth", "60")], json!({ "report_type": "flood", "flood_depth": 60 })),
        ("storm", &[("impact", "1"), ("flood_depth", "20")], storm),
    ]
    .into_iter()
    .enumerate()
    {
        let token = format!("{number:032x}");
        let answers: Vec<_> = answers.iter().map(|(name, text)| (format!("typhoon.{name}"), *text)).collect();
        let answers = answers.iter().map(|(name, text)| (name.as_str(), *text));
        let typhoon = [
            ("token", token.as_str()),
            ("disaster", "typhoon"),
            ("typhoon.report_type", report_type),
            // The person has changed their mind: it is no flood.
            ("flood.flood_depth", "150"),
        ];
        let fields = flood(&typhoon.into_iter().chain(answers).collect::<Vec<_>>());
        location(&send(&siaga, "/report?lang=tl", &fields, Some(&photo(80, 60, 1))));
        let report = newest(&siaga);
        assert_eq!((&report["disaster_type"], &report["report_data"]), (&json!("typhoon"), &expected));
    }
    let wrong = flood(&[("token", TOKEN), ("disaster", "typhoon"), ("typhoon.report_type", "road")]);
    let refused = send(&siaga, "/report?lang=tl", &wrong, None);
    assert_eq!(refused.status(), Status::BadRequest);
    let refused = refused.into_string().unwrap();
    assert!(refused.contains("Piliin kung ano ang iniuulat mo."), "{refused}");
    let deep = [("token", TOKEN), ("disaster", "typhoon"), ("typhoon.report_type", "flood")];
    let deep = flood(&[&deep[..], &[("typhoon.flood_depth", "10001")]].concat());
    let refused = send(&siaga, "/report?lang=tl", &deep, None).into_string().unwrap();
    assert!(refused.contains("mula 0 hanggang 10000."), "{refused}");
}

#[test]
fn a_disaster_of_the_configuration_has_one_type_and_no_questions() {
    let siaga = started(open().merge(("siaga.disasters.also", ["tsunami"])));
    let fields = flood(&[("token", TOKEN), ("disaster", "tsunami")]);
    location(&send(&siaga, "/report", &fields, None));
    assert_eq!(newest(&siaga)["report_data"], json!({ "report_type": "tsunami" }));
}

#[test]
fn those_who_have_sent_a_report_can_add_a_photo_while_the_card_is_open() {
    let siaga = started(open());
    let card = card(&siaga, "en");
    let address = format!("/report/{card}");
    let thanks = location(&send(&siaga, &address, &flood(&[]), None));
    let token = thanks.split_once("&token=").unwrap().1.to_owned();
    let page = |address: &str| siaga.get(address).into_string().unwrap();
    let offers = |page: &str| page.contains("type=\"file\"");
    assert!(offers(&page(&thanks)));
    // The identifier is public now, and permits nothing without the token.
    let wrong = "0".repeat(64);
    for stranger in [address.clone(), format!("{address}/thanks"), format!("{address}/thanks?token={wrong}")]
    {
        assert!(!offers(&page(&stranger)), "{stranger}");
    }
    for query in ["", "?token=", &format!("?token={wrong}"), "?token=x"] {
        let sent = format!("{address}/photo{query}");
        let refused = send(&siaga, &sent, &[], Some(&photo(80, 60, 1)));
        assert_eq!(refused.status(), Status::Forbidden, "{query}");
        let refused = refused.into_string().unwrap();
        assert!(refused.contains("role=\"alert\">The photo was not accepted"), "{query}: {refused}");
        assert!(offers(&page(&thanks)), "nothing was taken: {query}");
    }
    let photo_of = format!("{address}/photo?lang=en&token={token}");
    for file in [None, Some(&b"%PDF-1.7 is not a photo"[..])] {
        let refused = send(&siaga, &photo_of, &[], file);
        assert_eq!(refused.status(), Status::BadRequest);
        let refused = refused.into_string().unwrap();
        assert!(refused.contains("id=\"fault-photo\""), "{refused}");
    }
    for _ in 0..2 {
        let there = location(&send(&siaga, &photo_of, &[], Some(&photo(80, 60, 1))));
        assert_eq!(there, format!("{address}/thanks?lang=en"));
        assert!(page(&there).contains("Your photo has arrived."));
    }
    assert!(!offers(&page(&thanks)), "a report has one photo");
    let shown = || newest(&siaga)["image_url"].clone();
    eventually_blocking("the photo is shown", LONG, shown, |url| !url.is_null());

    let late = crate::suite::form::card(&siaga, "en");
    let thanks = location(&send(&siaga, &format!("/report/{late}"), &flood(&[]), None));
    siaga.pass(Duration::from_hours(24));
    assert!(!offers(&page(&thanks)), "the card is closed");
    let token = thanks.split_once("&token=").unwrap().1;
    let expired = format!("/report/{late}/photo?lang=en&token={token}");
    let refused = send(&siaga, &expired, &[], Some(&photo(80, 60, 1)));
    assert_eq!(refused.status(), Status::Forbidden);
    assert!(refused.into_string().unwrap().contains("The photo was not accepted"));
    let unused = format!("/report/{}/photo", crate::suite::form::card(&siaga, "en"));
    assert_eq!(send(&siaga, &unused, &[], Some(&photo(8, 6, 1))).status(), Status::NotFound);
}
