//! Abuse of the form and the desk.

use figment::Figment;
use rocket::http::{Accept, ContentType, Header, Status};
use rocket::local::blocking::Client;
use serde_json::{Value, json};

use crate::suite::form::{count, flood, form, open, send_from, started};
use crate::suite::support::{ADMIN_KEY, KEY, Siaga, json_of};

/// A service and a browser in which an officer has logged in.
fn officer(figment: Figment, key: &str) -> (Siaga, Client) {
    let siaga = started(figment.clone());
    let client = siaga.with_cookies(figment);
    assert_eq!(log_in(&client, key, "http://localhost:8000"), Status::SeeOther);
    (siaga, client)
}

fn log_in(client: &Client, key: &str, origin: &str) -> Status {
    let body = format!("name=Sri&key={}", key.replace(' ', "+"));
    let request = client.post("/desk/login").header(ContentType::Form).body(body);
    request.header(Header::new("Origin", origin.to_owned())).dispatch().status()
}

#[test]
fn a_form_of_another_site_waits_for_review_and_its_response_is_unreadable_to_it() {
    let siaga = started(open());
    let before = count(&siaga);
    for (number, (headers, waits)) in [
        (&[("Sec-Fetch-Site", "same-origin")][..], false),
        (&[("Sec-Fetch-Site", "none")], false),
        (&[("Sec-Fetch-Site", "cross-site")], true),
        (&[("Sec-Fetch-Site", "same-site")], true),
        (&[("Sec-Fetch-Site", "same-origin"), ("Origin", "https://evil.example")], false),
        (&[("Origin", "null")], false),
        (&[("Origin", "https://evil.example")], true),
        (&[("Origin", "http://localhost:8000")], false),
        (&[("Origin", "nonsense")], true),
        (&[], false),
    ]
    .into_iter()
    .enumerate()
    {
        let (status, sent) = send_from(&siaga.client, "192.0.2.1", number, headers, &[]);
        assert_eq!((status, &sent["waits"]), (200, &json!(waits)), "{headers:?}");
    }
    assert_eq!(count(&siaga), before + 6);
    for address in ["/report", "/report/unknown-card"] {
        assert_eq!(siaga.get(address).headers().get_one("Access-Control-Allow-Origin"), None, "{address}");
    }
    assert!(siaga.get("/v1/reports").headers().contains("Access-Control-Allow-Origin"));
}

#[test]
fn login_from_another_site_is_rejected() {
    let siaga = started(open());
    for (origin, expected) in [
        ("https://evil.example", Status::Forbidden),
        ("null", Status::SeeOther),
        ("http://localhost:8000", Status::SeeOther),
    ] {
        assert_eq!(log_in(&siaga.client, KEY, origin), expected, "{origin}");
    }
}

#[test]
fn beyond_the_total_limit_each_network_still_publishes_a_few_reports_and_the_desk_shows_it() {
    let figment = open().merge(("siaga.report.reviewed_total", 5));
    let (_siaga, client) = officer(figment, KEY);
    let crowded = || json_of(client.get("/desk/news").dispatch())["result"]["crowded"].clone();
    let waits = |address: &str, number| send_from(&client, address, number, &[], &[]).1["waits"].clone();
    let first: Vec<_> = (0..5).map(|number| waits("192.0.2.1", number)).collect();
    assert_eq!((first, crowded()), (vec![json!(false); 5], json!(false)));
    let next: Vec<_> = (5..10).map(|number| waits("192.0.2.7", number)).collect();
    assert_eq!(next, [false, false, false, true, true].map(Value::from));
    assert_eq!(waits("198.51.100.1", 10), json!(false), "nobody switches off publication for others");
    assert_eq!(crowded(), json!(true));
}

#[test]
fn a_report_by_a_link_does_not_count_for_its_address() {
    let siaga = started(open().merge(("siaga.report.reviewed_after", 1)));
    let waits = |number| send_from(&siaga.client, "192.0.2.1", number, &[], &[]).1["waits"].clone();
    assert_eq!((waits(0), waits(1)), (json!(false), json!(true)));
    let address = format!("/report/{}", siaga.card());
    let sent = form(&siaga.client, &address, &flood(&[]), None).header(Accept::JSON);
    assert_eq!(json_of(sent.remote("192.0.2.1:1".parse().unwrap()).dispatch())["waits"], false);
}

#[test]
fn one_address_cannot_crowd_real_reports_out_of_the_moderation_list() {
    let figment = open().merge(("siaga.report.reviewed_after", 1)).merge(("siaga.report.refused_after", 0));
    let (siaga, client) = officer(figment, ADMIN_KEY);
    for (numbers, host, others) in [
        (0..300, "192.0.2.1", &[("website", "https://spam.example")][..]),
        (1_000..1_001, "198.51.100.1", &[]),
        (1_001..1_003, "198.51.100.1", &[("text", "a real one")]),
        (2_000..2_300, "192.0.2.1", &[]),
    ] {
        numbers.for_each(|number| drop(send_from(&siaga.client, host, number, &[], others)));
    }
    let news = || json_of(client.get("/desk/news").dispatch())["result"].clone();
    let listing = news();
    let listed = listing["reports"].as_array().unwrap().iter();
    let waiting: Vec<_> = listed.filter(|report| report["waiting"] == true).collect();
    assert_eq!((&listing["waiting"], waiting.len()), (&json!(601), 22), "twenty of a sender are listed");
    let real: Vec<_> = waiting.iter().filter(|report| report["text"] == "a real one").collect();
    assert_eq!(real.len(), 2);
    assert_eq!((&real[0]["of_sender"], &real[0]["suspect"]), (&json!(2), &json!(false)));
    let other = waiting.iter().find(|report| report["of_sender"] == 599).unwrap();
    assert_ne!(other["sender"], real[0]["sender"]);

    let before = count(&siaga);
    let hide = |sender: &str, body: &str| {
        let address = format!("/desk/reports/waiting/{sender}/hide");
        let request = client.post(address).header(ContentType::JSON).body(body);
        request.header(Header::new("Sec-Fetch-Site", "same-origin")).dispatch()
    };
    let sender = other["sender"].as_str().unwrap();
    assert_eq!(hide(sender, "{}").status(), Status::BadRequest);
    assert_eq!(hide("not-a-hash", r#"{"reason":"spam"}"#).status(), Status::BadRequest);
    let hidden = json_of(hide(sender, r#"{"reason":"spam"}"#));
    assert_eq!(hidden["hidden"].as_array().unwrap().len(), 599);
    assert_eq!((news()["waiting"].clone(), count(&siaga)), (json!(2), before), "published ones stay");
    assert_eq!(json_of(hide(sender, r#"{"reason":"spam"}"#))["hidden"], json!([]));
}
