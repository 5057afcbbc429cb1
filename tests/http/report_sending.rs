//! What becomes of a form that is sent: when and where its report is, its text and its photo, and what the person is told.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use rocket::http::{ContentType, Status};
use serde_json::{Value, json};
use siaga::model::Places;
use siaga::stores::memory::OpenMemory;
use siaga::stores::{Decorator, Store, StoreError, Versioned};

use crate::suite::eventually::{LONG, eventually_blocking};
use crate::suite::form::{TOKEN, card, count, flood, location, newest, open, send, send_by_script, started};
use crate::suite::photos::photo;
use crate::suite::support::{Siaga, properties};
use crate::suite::wrapped::{OpenWrapped, Wrapped};

/// What a store does whose places cannot be read.
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

/// The text of a page that says thank you.
fn thanks(siaga: &Siaga, address: &str) -> String {
    siaga.get(address).into_string().unwrap()
}

#[test]
fn a_report_is_from_the_first_press_of_the_button_whatever_the_phones_clock_and_is_never_refused_for_its_time()
 {
    let siaga = started(open());
    let hours = |number: u64| Duration::from_hours(number);
    let mut number = 0;
    let mut made = |times: &[(&str, &str)]| {
        number += 1;
        let token = format!("{number:032x}");
        let text = format!("report {number}");
        let fields = flood(&[&[("token", &*token), ("text", &*text)], times].concat());
        location(&send(&siaga, "/report", &fields, None));
        let report = all(&siaga).into_iter().find(|report| report["text"] == *text).unwrap();
        report["created_at"].as_str().unwrap().to_owned()
    };
    let now = siaga.now();
    // Ten hours before it was sent, by a clock that is a day ahead.
    let ahead = [("created_at", "2016-12-20T05:00:00Z"), ("sent_at", "2016-12-20T15:00:00Z")];
    assert_eq!(made(&ahead), now.before(hours(10)).to_string());
    let days = [("created_at", "2016-12-14T15:00:00Z"), ("sent_at", "2016-12-19T15:00:00Z")];
    assert_eq!(made(&days), now.before(hours(120)).to_string(), "five days without a network");
    let months = [("created_at", "2016-10-01T00:00:00Z"), ("sent_at", "2016-12-19T15:00:00Z")];
    assert_eq!(made(&months), now.before(hours(168)).to_string());
    let future = [("created_at", "2099-01-01T00:00:00Z"), ("sent_at", "2016-12-19T15:00:00Z")];
    assert_eq!(made(&future), now.to_string());
    assert_eq!(made(&[]), now.to_string());
}

#[test]
fn a_report_by_a_link_is_never_from_before_the_link() {
    let siaga = started(open().merge(("siaga.cards.open_for", "72h")));
    let (old, new) = (card(&siaga, "id"), card(&siaga, "id"));
    let made = siaga.now();
    let ten_hours = [("created_at", "2016-12-20T05:00:00Z"), ("sent_at", "2016-12-20T15:00:00Z")];
    location(&send(&siaga, &format!("/report/{new}"), &flood(&ten_hours), None));
    assert_eq!((&newest(&siaga)["url"], &newest(&siaga)["created_at"]), (&json!(new), &json!(made)));
    siaga.clock.set(made.after(Duration::from_hours(50)));
    location(&send(&siaga, &format!("/report/{old}"), &flood(&ten_hours), None));
    let of = all(&siaga).into_iter().find(|report| report["url"] == *old).unwrap();
    assert_eq!(of["created_at"], json!(made.after(Duration::from_hours(40))));
}

#[test]
fn a_line_break_counts_once_and_is_stored_as_one_character() {
    let siaga = started(open());
    let lines = |count: usize| "a\r\n".repeat(count);
    let fields = |token: &'static str, text: &str| {
        let text: &'static str = text.to_owned().leak();
        flood(&[("token", token), ("text", text)])
    };
    // The last line break is at the end of the text.
    let longest = format!("{}{}", lines(240), "b".repeat(20));
    location(&send(&siaga, "/report", &fields(TOKEN, &longest), None));
    assert_eq!(newest(&siaga)["text"], longest.replace("\r\n", "\n"));
    let longer = format!("{longest}c");
    let refused = send(&siaga, "/report", &fields("00000000000000000000000000000001", &longer), None);
    assert!(refused.into_string().unwrap().contains("id=\"fault-text\""));
    let emoji = "😀".repeat(500);
    location(&send(&siaga, "/report", &fields("00000000000000000000000000000002", &emoji), None));
    let nul = fields("00000000000000000000000000000003", "air\0 naik");
    location(&send(&siaga, "/report", &nul, None));
    assert_eq!(newest(&siaga)["text"], "air naik");
}

#[test]
fn a_report_that_is_sent_again_by_the_same_token_gets_a_place_for_its_photo() {
    let siaga = started(open());
    let before = count(&siaga);
    let link = card(&siaga, "en");
    let form = siaga.get(&format!("/report/{link}")).into_string().unwrap();
    let (_, token) = form.split_once("name=\"token\" value=\"").unwrap();
    let of_link = token.split_once('"').unwrap().0.to_owned();
    for (address, token) in [("/report".to_owned(), TOKEN), (format!("/report/{link}"), &*of_link)] {
        let fields = flood(&[("token", token)]);
        let (status, first) = send_by_script(&siaga, &address, &fields, None);
        assert_eq!((status, &first["photo"]), (200, &json!("none")));
        let again = |file: Option<&[u8]>| {
            let (status, again) = send_by_script(&siaga, &address, &fields, file);
            assert_eq!((&again["created"], &again["cardId"]), (&json!(false), &first["cardId"]));
            (status, again["photo"].clone())
        };
        assert_eq!(again(None), (200, json!("none")));
        let (status, no_photo) = send_by_script(&siaga, &address, &fields, Some(b"%PDF-1.7 is not a photo"));
        assert_eq!((status, no_photo["faults"]["photo"].is_string()), (400, true));
        assert_eq!(again(Some(&photo(80, 60, 1))), (200, json!("stored")));
        assert_eq!(again(Some(&photo(80, 60, 1))), (200, json!("stored")));
        let shown = || newest(&siaga)["image_url"].clone();
        eventually_blocking("the photo is shown", LONG, shown, |url| !url.is_null());
    }
    assert_eq!(count(&siaga), before + 2);

    // Readers of reports know the link, and not the token.
    let link = card(&siaga, "en");
    let address = format!("/report/{link}?lang=en");
    location(&send(&siaga, &address, &flood(&[]), None));
    for token in ["", TOKEN, &"0".repeat(64)] {
        let fields = flood(&[("token", token)]);
        let (status, refused) = send_by_script(&siaga, &address, &fields, Some(&photo(80, 60, 1)));
        assert_eq!((status, &refused["photo"]), (200, &json!("refused")), "{token}");
        let page = thanks(&siaga, refused["thanks"].as_str().unwrap());
        assert!(page.contains("role=\"alert\">The photo was not accepted"), "{page}");
    }
}

#[test]
fn the_content_of_a_photo_decides_whatever_its_name_and_type() {
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
        let mut body = Vec::new();
        for (name, text) in flood(&[("token", &*token)]) {
            body.extend(
                format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{text}\r\n").bytes(),
            );
        }
        body.extend(format!("--b\r\nContent-Disposition: form-data; name=\"photo\"; {head}\r\n\r\n").bytes());
        body.extend(&jpeg);
        body.extend(b"\r\n--b--\r\n");
        let kind = ContentType::new("multipart", "form-data").with_params(("boundary", "b"));
        location(&siaga.client.post("/report").header(kind).body(body).dispatch());
        let shown = || newest(&siaga)["image_url"].clone();
        eventually_blocking("the photo is shown", LONG, shown, |url| !url.is_null());
    }
}

#[test]
fn a_place_outside_all_areas_is_asked_about_once_and_its_report_waits_for_review() {
    let siaga = started(open());
    let before = count(&siaga);
    for (number, (lat, lng)) in [("48.1", "11.5"), ("0", "0")].into_iter().enumerate() {
        let token = format!("{number:032x}");
        let munich = [("token", &*token), ("lat", lat), ("lng", lng)];
        let asked = send(&siaga, "/report?lang=en", &flood(&munich), None);
        assert_eq!(asked.status(), Status::BadRequest);
        let asked = asked.into_string().unwrap();
        assert!(
            asked.contains("id=\"fault-outside\"") && asked.contains("Air setinggi lutut &lt;b&gt;"),
            "{asked}"
        );
        assert!(!asked.contains("class=\"choice\" hidden"), "the box to tick: {asked}");
        let (status, asked) = send_by_script(&siaga, "/report?lang=en", &flood(&munich), None);
        assert_eq!((status, asked["faults"].as_object().unwrap().len()), (400, 1));
        assert!(asked["faults"]["outside"].is_string());
        let sure = flood(&[&munich[..], &[("outside", "yes")]].concat());
        let (status, sent) = send_by_script(&siaga, "/report?lang=en", &sure, None);
        assert_eq!((status, &sent["created"], &sent["waits"]), (200, &json!(true), &json!(true)));
        let page = thanks(&siaga, sent["thanks"].as_str().unwrap());
        assert!(page.contains("Somebody looks at it before it appears on the map."), "{page}");
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
fn a_report_whose_place_cannot_be_judged_is_503_and_nothing_is_stored() {
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
    assert_eq!(
        siaga.get("/reporting/places?q=rw").status(),
        Status::ServiceUnavailable,
        "not: nothing found"
    );
    assert!(all(&siaga).iter().all(|report| report["text"] != "Air setinggi lutut <b>"));
}

#[test]
fn the_thank_you_says_that_a_report_is_on_the_map_only_while_it_is() {
    let siaga = started(open());
    let page = thanks(&siaga, &location(&send(&siaga, "/report?lang=en", &flood(&[("token", TOKEN)]), None)));
    assert!(page.contains("Your report is on the map.") && page.contains("See it on the map"), "{page}");
    let times = [("created_at", "2016-12-19T05:00:00Z"), ("sent_at", "2016-12-19T15:00:00Z")];
    let other = "f".repeat(32);
    let old = flood(&[&times[..], &[("token", &*other)]].concat());
    let page = thanks(&siaga, &location(&send(&siaga, "/report?lang=en", &old, None)));
    assert!(page.contains("made too long ago") && page.contains("Open the map"), "{page}");
    assert!(!page.contains("is on the map.") && !page.contains("See it on the map"), "{page}");
}

#[test]
fn a_photo_without_a_place_can_be_sent_again_only_where_the_page_offers_it() {
    let siaga = started(open());
    let (_, sent) = send_by_script(&siaga, "/report?lang=en", &flood(&[("token", TOKEN)]), None);
    let thanks = sent["thanks"].as_str().unwrap();
    let page = |address: String| {
        let response = siaga.get(&address);
        (response.status(), response.into_string().unwrap())
    };
    let (status, offered) = page(format!("{thanks}&photo=later"));
    assert_eq!(status, Status::Ok);
    assert!(offered.contains("send it again here") && offered.contains("name=\"photo\""), "{offered}");
    let without = thanks.split("&token=").next().unwrap();
    let (status, refused) = page(format!("{without}&photo=later"));
    assert_eq!(status, Status::Forbidden);
    assert!(refused.contains("was not accepted") && !refused.contains("send it again here"), "{refused}");
}
