use rocket::http::{Method, Status};
use serde_json::json;

use crate::suite::support::{Siaga, assert_invalid, each, figment, json_of, partner_report, properties};

#[test]
fn a_new_post_creates_its_report_and_a_stored_one_does_not() {
    let siaga = Siaga::start();
    let post = partner_report(json!({ "post_id": 1234 })).to_string();
    let send = || siaga.request(Method::Post, "/v1/feeds/partner", &post).into_string().unwrap();
    assert_eq!(send(), r#"{"post_id":1234,"created":true}"#);
    assert_eq!(
        send(),
        r#"{"post_id":1234,"created":false,"message":"1234 already exists in reports table"}"#
    );
    let newest = &properties(&siaga.result("/v1/reports"))[0];
    assert_eq!(
        *newest,
        json!({
            "pkey": "9", "created_at": "2016-12-19T16:00:00.011Z", "source": "partner", "status": "confirmed",
            "url": null, "image_url": "http://myimg", "disaster_type": "flood", "report_data": null,
            "tags": { "instance_region_code": "ID-JK", "local_area_id": "1" }, "title": "", "text": "A big flood",
            "is_training": false, "partner_code": null, "partner_icon": null,
        })
    );
}

#[test]
fn put_is_the_same_as_post_on_either_address() {
    let siaga = Siaga::start();
    for (method, address, created) in [
        (Method::Put, "/v1/feeds/partner", true),
        (Method::Put, "/v1/feeds", false),
        (Method::Post, "/v1/feeds/partner", false),
    ] {
        let response = json_of(siaga.request(method, address, partner_report(json!({})).to_string()));
        assert_eq!(response["created"], created, "{method} {address}");
    }
}

#[test]
fn a_wrong_post_is_400_naming_each_fault() {
    let siaga = Siaga::start();
    for (member, wrong, expected) in [
        ("post_id", json!("1"), "whole number"),
        ("post_id", json!(1.5), "whole number"),
        ("created_at", json!("yesterday"), "YYYY-MM-DD"),
        // The clock stands at 16:08:52 UTC, 23:08:52 in Jakarta.
        ("created_at", json!("2016-12-19T23:08:51Z"), "is 6 h 59 min in the future: is it local time"),
        ("title", json!(1), "text"),
        ("text", json!([]), "text"),
        ("image_url", json!("javascript:alert(1)"), "http or https address"),
        ("image_url", json!("https://user:pass@host/a.jpg"), "user name and password"),
        ("image_url", json!(format!("http://{}", "a".repeat(2_042))), "at most 2048 characters"),
        ("partner_city", json!("jakarta"), "one of [jabodetabek, bandung, surabaya]"),
        ("disaster_type", json!("wind"), "one of [flood]"),
        ("location", json!({ "lat": 0 }), "lat from -90 to 90"),
        ("location", json!({ "lat": 0, "lng": 0.0 }), "must not be 0, 0"),
        ("is_training", json!(1), "true or false"),
        ("partner_code", json!("x".repeat(256)), "1 to 255 characters"),
        ("partner_icon", json!("icon.png"), "http"),
    ] {
        let body = partner_report(json!({ member: wrong })).to_string();
        assert_invalid(siaga.request(Method::Post, "/v1/feeds/partner", body), "body", &[member], expected);
    }
    let all = ["post_id", "created_at", "partner_city", "disaster_type", "location"];
    assert_invalid(siaga.request(Method::Post, "/v1/feeds/partner", "{}"), "body", &all, "is required");
}

#[test]
fn the_feeds_are_listed() {
    let siaga = Siaga::start();
    let response = siaga.request(Method::Get, "/v1/feeds", "");
    assert_eq!(response.headers().get_one("Cache-Control"), Some("no-store"));
    assert_eq!(
        json_of(response),
        json!({ "statusCode": 200, "result": [
            { "feed": "partner", "cities": ["jabodetabek", "bandung", "surabaya"], "disaster_types": ["flood"] },
        ] })
    );
}

#[test]
fn the_cities_and_disasters_of_partners_are_configured() {
    let figment = figment()
        .merge(("siaga.feeds.partner.cities", ["manado"]))
        .merge(("siaga.feeds.partner.disaster_types", ["wind", "fire"]));
    let siaga = Siaga::with(figment, |builder| builder);
    let send = |city: &str, disaster: &str| {
        let body = partner_report(json!({ "partner_city": city, "disaster_type": disaster }));
        siaga.request(Method::Post, "/v1/feeds/partner", body.to_string())
    };
    assert_invalid(send("bandung", "wind"), "body", &["partner_city"], "one of [manado]");
    assert_invalid(send("manado", "flood"), "body", &["disaster_type"], "one of [wind, fire]");
    assert_eq!(send("manado", "fire").status(), Status::Ok);
}

#[test]
fn half_an_emoji_or_a_byte_order_mark_does_not_reject_a_report() {
    let siaga = Siaga::start();
    let body = partner_report(json!({})).to_string().replace("A big flood", r"banjir \ud83d");
    assert_eq!(
        siaga.request(Method::Post, "/v1/feeds/partner", format!("\u{feff}{body}")).status(),
        Status::Ok
    );
    assert_eq!(properties(&siaga.result("/v1/reports"))[0]["text"], "banjir \u{fffd}");
}

#[test]
fn a_time_may_lack_seconds_and_offset_minutes_and_one_slightly_ahead_becomes_the_arrival_time() {
    let siaga = Siaga::start();
    for (written, shown) in [
        ("2016-12-19T22:46+07", "2016-12-19T15:46:00.000Z"),
        ("2016-12-19T16:18:52Z", "2016-12-19T16:08:52.000Z"),
    ] {
        let body = partner_report(json!({ "post_id": written.len(), "created_at": written }));
        let sent = siaga.request(Method::Post, "/v1/feeds/partner", body.to_string());
        assert_eq!(json_of(sent)["created"], true, "{written}");
        let times = each(&siaga.result("/v1/reports"), "created_at");
        assert!(times.contains(&json!(shown)), "{written}: {times:?}");
    }
}
