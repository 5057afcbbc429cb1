//! Handling of a sent form: time, place, text and photo of its report, and the response.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use rocket::http::{ContentType, Status};
use serde_json::{Value, json};
use siaga::model::Places;
use siaga::stores::memory::OpenMemory;
use siaga::stores::{Decorator, Store, StoreError, Versioned};

use crate::suite::form::{
    TOKEN, count, flood, form_with, location, newest, open, send, send_by_script, shows_its_photo, started,
};
use crate::suite::photos::photo;
use crate::suite::support::{Siaga, properties};
use crate::suite::wrapped::{OpenWrapped, Wrapped};

/// A store whose places cannot be read.
#[derive(Clone, Debug)]
struct Placeless;

#[async_trait]
impl Decorator for Wrapped<Placeless> {
    fn inner(&self) -> &dyn Store {
        &*self.inner
    }

    async fn places(&self) -> Result<Versioned<Arc<Places>>, StoreError> {
        Err(StoreError::Unavailable { retry_after: Duration::from_secs(3), source: "away".into() })
    }
}

/// All reports of the last week.
fn all(siaga: &Siaga) -> Vec<Value> {
    properties(&siaga.result("/v1/reports?timeperiod=604800"))
}

#[test]
fn the_time_of_a_report_is_the_first_press_of_the_button_and_not_before_its_link() {
    let siaga = started(open().merge(("siaga.cards.open_for", "72h")));
    let created_at = siaga.now();
    let [old, new] = [siaga.card(), siaga.card()].map(|card| format!("/report/{card}"));
    // Ten hours before it was sent, by a clock that is a day ahead.
    let times = [("created_at", "2016-12-20T05:00:00Z"), ("sent_at", "2016-12-20T15:00:00Z")];
    let hours = Duration::from_hours;
    for (address, token, times, later, expected) in [
        ("/report", TOKEN, &times[..], 0, created_at.saturating_sub(hours(10))),
        ("/report", "00000000000000000000000000000001", &[], 0, created_at),
        (&new, "", &times, 0, created_at),
        (&old, "", &times, 50, created_at.saturating_add(hours(40))),
    ] {
        siaga.clock.set(created_at.saturating_add(hours(later)));
        let before = all(&siaga);
        location(&send(&siaga, address, &flood(&[&[("token", token)], times].concat()), None));
        let sent = all(&siaga).into_iter().find(|report| !before.contains(report)).unwrap();
        assert_eq!(sent["created_at"], json!(expected), "{address} {times:?}");
    }
}

#[test]
fn a_line_break_counts_and_is_stored_as_one_character() {
    let siaga = started(open());
    // 500 characters, with a line break as one.
    let longest = format!("{}{}", "a\r\n".repeat(240), "b".repeat(20));
    for (number, (text, stored)) in [
        (longest.clone(), Some(longest.replace("\r\n", "\n"))),
        (format!("{longest}c"), None),
        ("😀".repeat(500), Some("😀".repeat(500))),
        ("air\0 naik".to_owned(), Some("air naik".to_owned())),
    ]
    .into_iter()
    .enumerate()
    {
        let token = format!("{number:032x}");
        let sent = send(&siaga, "/report", &flood(&[("token", &token), ("text", &text)]), None);
        match stored {
            Some(stored) => {
                location(&sent);
                assert_eq!(newest(&siaga)["text"], stored);
            }
            None => assert!(sent.into_string().unwrap().contains("id=\"fault-text\"")),
        }
    }
}

#[test]
fn a_report_sent_again_with_the_same_token_can_add_its_photo() {
    let siaga = started(open());
    let before = count(&siaga);
    let link = format!("/report/{}", siaga.card());
    let form = siaga.get(&link).into_string().unwrap();
    let (_, token) = form.split_once("name=\"token\" value=\"").unwrap();
    let (of_link, _) = token.split_once('"').unwrap();
    for (address, token) in [("/report", TOKEN), (&link, of_link)] {
        let fields = flood(&[("token", token)]);
        let (status, first) = send_by_script(&siaga, address, &fields, None);
        assert_eq!((status, &first["photo"]), (200, &json!("none")));
        let again = |file: Option<&[u8]>| {
            let (status, again) = send_by_script(&siaga, address, &fields, file);
            assert_eq!((&again["created"], &again["cardId"]), (&json!(false), &first["cardId"]));
            (status, again["photo"].clone())
        };
        assert_eq!(again(None), (200, json!("none")));
        let (status, no_photo) = send_by_script(&siaga, address, &fields, Some(b"%PDF-1.7 is not a photo"));
        assert_eq!((status, no_photo["faults"]["photo"].is_string()), (400, true));
        assert_eq!(again(Some(&photo(80, 60, 1))), (200, json!("stored")));
        assert_eq!(again(Some(&photo(80, 60, 1))), (200, json!("stored")));
        shows_its_photo(&siaga);
    }
    assert_eq!(count(&siaga), before + 2);

    // The link is public, the token is not.
    let address = format!("/report/{}?lang=en", siaga.card());
    location(&send(&siaga, &address, &flood(&[]), None));
    for token in ["", TOKEN, &"0".repeat(64)] {
        let fields = flood(&[("token", token)]);
        let (status, refused) = send_by_script(&siaga, &address, &fields, Some(&photo(80, 60, 1)));
        assert_eq!((status, &refused["photo"]), (200, &json!("refused")), "{token}");
        let page = siaga.get(refused["thanks"].as_str().unwrap()).into_string().unwrap();
        assert!(page.contains("role=\"alert\">The photo was not accepted"), "{page}");
    }
}

#[test]
fn a_malformed_form_is_400_and_mentions_the_limit_of_part_headers_only_if_exceeded() {
    let siaga = started(open());
    let kind = ContentType::new("multipart", "form-data").with_params(("boundary", "x"));
    let part = "--x\r\nContent-Disposition: form-data; name=\"text";
    for (body, is_long) in [(format!("{part}{}", "a".repeat(10_000)), true), (part.to_owned(), false)] {
        let response = siaga.client.post("/report").header(kind.clone()).body(body).dispatch();
        assert_eq!(response.status(), Status::BadRequest);
        assert_eq!(response.into_string().unwrap().contains("4096 bytes"), is_long);
    }
}

#[test]
fn the_type_of_a_photo_is_decided_by_its_content() {
    let siaga = started(open());
    let jpeg = photo(80, 60, 1);
    for (number, head) in [
        "filename=\"photo.jpg\"\r\nContent-Type: image/jpg",
        "filename=\"blob\"\r\nContent-Type: application/octet-stream",
        "filename=\"photo.png\"\r\nContent-Type: image/png",
        "filename=\"\"",
        "x=\"\"",
    ]
    .into_iter()
    .enumerate()
    {
        let token = format!("{number:032x}");
        let fields = flood(&[("token", &*token)]);
        location(&form_with(&siaga.client, "/report", &fields, head, &jpeg).dispatch());
        shows_its_photo(&siaga);
    }
}

#[test]
fn a_place_outside_all_areas_is_asked_about_once_and_its_report_waits_for_review() {
    let siaga = started(open());
    let before = count(&siaga);
    for (number, (lat, lng)) in [("48.1", "11.5"), ("0", "0")].into_iter().enumerate() {
        let token = format!("{number:032x}");
        let munich = [("token", &*token), ("lat", lat), ("lng", lng)];
        let question = send(&siaga, "/report?lang=en", &flood(&munich), None).into_string().unwrap();
        assert!(question.contains("id=\"fault-outside\""), "{question}");
        assert!(!question.contains("class=\"choice\" hidden"), "the box to tick: {question}");
        let (status, question) = send_by_script(&siaga, "/report?lang=en", &flood(&munich), None);
        assert_eq!((status, question["faults"].as_object().unwrap().len()), (400, 1));
        assert!(question["faults"]["outside"].is_string());
        let sure = flood(&[&munich[..], &[("outside", "yes")]].concat());
        let (status, sent) = send_by_script(&siaga, "/report?lang=en", &sure, None);
        assert_eq!((status, &sent["created"], &sent["waits"]), (200, &json!(true), &json!(true)));
        let page = siaga.get(sent["thanks"].as_str().unwrap()).into_string().unwrap();
        assert!(page.contains("Open the map") && !page.contains("See it on the map"), "{page}");
    }
    assert_eq!(count(&siaga), before);
    // In a province, and in a city with its own boundary, though in no area.
    for (number, (lat, lng)) in [("-6.22", "106.79"), ("-5.8", "107.2")].into_iter().enumerate() {
        let token = format!("{:032x}", 10 + number);
        let fields = flood(&[("token", &*token), ("lat", lat), ("lng", lng)]);
        let (status, sent) = send_by_script(&siaga, "/report", &fields, None);
        assert_eq!((status, &sent["waits"]), (200, &json!(false)), "{lat} {lng}");
        assert_eq!(newest(&siaga)["tags"]["local_area_id"], Value::Null);
    }
}

#[test]
fn a_report_whose_place_cannot_be_located_is_503_and_nothing_is_stored() {
    let siaga = Siaga::with(open(), |builder| builder.store(OpenWrapped::new(OpenMemory, Placeless)));
    for place in [&[("lat", "-6.195"), ("lng", "106.805")][..], &[("lat", ""), ("area", "1")]] {
        let fields = flood(&[&[("token", TOKEN)], place].concat());
        let (status, refused) = send_by_script(&siaga, "/report", &fields, Some(&photo(8, 6, 1)));
        assert_eq!((status, &refused["faults"]), (503, &Value::Null));
        let refused = send(&siaga, "/report", &fields, None);
        assert_eq!(refused.status(), Status::ServiceUnavailable);
        assert_eq!(refused.headers().get_one("Retry-After"), Some("3"));
    }
    assert_eq!(siaga.get("/report").status(), Status::Ok);
    let found = siaga.get("/reporting/places?area=1").status();
    assert_eq!(found, Status::ServiceUnavailable, "not: no such area");
    assert!(all(&siaga).iter().all(|report| report["text"] != "Air setinggi lutut <b>"));
}

#[test]
fn the_thank_you_links_to_the_map_only_while_the_report_is_on_it() {
    let siaga = started(open());
    let thanks = |fields: &[(&str, &str)]| {
        let address = location(&send(&siaga, "/report?lang=en", fields, None));
        siaga.get(&address).into_string().unwrap()
    };
    let page = thanks(&flood(&[("token", TOKEN)]));
    assert!(page.contains("Your report is on the map.") && page.contains("See it on the map"), "{page}");
    let times = [("created_at", "2016-12-19T05:00:00Z"), ("sent_at", "2016-12-19T15:00:00Z")];
    let old = flood(&[&times[..], &[("token", "ffffffffffffffffffffffffffffffff")]].concat());
    let page = thanks(&old);
    assert!(page.contains("made too long ago") && page.contains("Open the map"), "{page}");
    assert!(!page.contains("is on the map.") && !page.contains("See it on the map"), "{page}");
}

#[test]
fn the_page_offers_to_send_a_delayed_photo_again_only_with_the_token() {
    let siaga = started(open());
    let (_, sent) = send_by_script(&siaga, "/report?lang=en", &flood(&[("token", TOKEN)]), None);
    let thanks = sent["thanks"].as_str().unwrap();
    let without = thanks.split("&token=").next().unwrap();
    for (address, status, is_offered) in [(thanks, Status::Ok, true), (without, Status::Forbidden, false)] {
        let address = format!("{address}&photo=later");
        let response = siaga.get(&address);
        assert_eq!(response.status(), status, "{address}");
        let page = response.into_string().unwrap();
        assert_eq!(page.contains("send it again here"), is_offered, "{page}");
        assert_eq!(page.contains("was not accepted"), !is_offered, "{page}");
    }
}
