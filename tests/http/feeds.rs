use rocket::http::{Method, Status};
use serde_json::{Value, json};

use crate::suite::support::{KEY, Siaga, assert_invalid, figment, json_of, key, properties, race};

/// The body of the contract's example.
fn post(post_id: Value) -> Value {
    json!({
        "post_id": post_id, "created_at": "2016-12-19T16:00:00.011Z", "image_url": "http://myimg",
        "partner_city": "jabodetabek", "disaster_type": "flood", "text": "A big flood",
        "location": { "lat": -6.195, "lng": 106.805 },
    })
}

#[test]
fn a_new_post_creates_its_report_and_a_stored_one_does_not() {
    let siaga = Siaga::start();
    let send =
        || siaga.ask(Method::Post, "/v1/feeds/partner", post(json!(1234)).to_string()).into_string().unwrap();
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
fn an_image_may_be_at_any_address_on_the_web_of_2048_characters() {
    let siaga = Siaga::start();
    let longest = format!("HTTPS://a/{}", "☔".repeat(2_038));
    for (number, address) in (1..).zip([longest.as_str(), "http://example.org/a b.jpg?c=d#e"]) {
        let mut body = post(json!(number));
        body["image_url"] = json!(address);
        assert_eq!(siaga.ask(Method::Post, "/v1/feeds/partner", body.to_string()).status(), Status::Ok);
        assert_eq!(properties(&siaga.result("/v1/reports"))[0]["image_url"], address);
    }
}

#[test]
fn put_is_the_same_as_post_on_either_address() {
    let siaga = Siaga::start();
    for (method, address, created) in [
        (Method::Put, "/v1/feeds/partner", true),
        (Method::Put, "/v1/feeds", false),
        (Method::Post, "/v1/feeds/partner", false),
    ] {
        let answer = json_of(siaga.ask(method, address, post(json!(1)).to_string()));
        assert_eq!(answer["created"], created, "{method} {address}");
    }
}

#[test]
fn of_200_concurrent_posts_over_10_ids_10_are_created() {
    let answers = race(200, Method::Post, "/v1/feeds/partner", |number| post(json!(number % 10)));
    assert!(answers.iter().all(|(status, _)| *status == 200));
    assert_eq!(answers.iter().filter(|(_, answer)| answer["created"] == true).count(), 10);
}

#[test]
fn a_post_from_the_future_is_400_and_one_of_a_clock_slightly_ahead_is_as_of_its_arrival() {
    let siaga = Siaga::start();
    let sent = |post_id: i64, time: &str| {
        let mut body = post(json!(post_id));
        body["created_at"] = json!(time);
        siaga.ask(Method::Post, "/v1/feeds/partner", body.to_string())
    };
    // The clock stands at 16:08:52 UTC, 23:08:52 in Jakarta.
    for (time, says) in [
        ("2016-12-19T23:08:51Z", "is 6 h 59 min in the future: is it local time written as UTC?"),
        ("2099-01-01T00:00:00Z", "is 29962 d 7 h in the future\""),
    ] {
        let refused = sent(1, time).into_string().unwrap();
        assert!(refused.contains(says) && refused.contains("created_at"), "{refused}");
    }
    let shown = |id: i64, time: &str| {
        assert_eq!(json_of(sent(id, time))["created"], true, "{time}");
        properties(&siaga.result("/v1/reports"))[0]["created_at"].clone()
    };
    assert_eq!(shown(2, "2016-12-19T16:18:52Z"), "2016-12-19T16:08:52.000Z");
    assert_eq!(shown(3, "2016-12-19T23:08:52+07:00"), "2016-12-19T16:08:52.000Z");
}

#[test]
fn a_wrong_post_is_400_naming_each_fault() {
    let siaga = Siaga::start();
    for (member, wrong, says) in [
        ("post_id", json!("1"), "whole number"),
        ("post_id", json!(1.5), "whole number"),
        ("post_id", Value::Null, "is required"),
        ("created_at", json!("yesterday"), "YYYY-MM-DD"),
        ("title", json!(1), "text"),
        ("text", json!([]), "text"),
        ("image_url", json!(1), "http or https address"),
        ("image_url", json!(""), "http or https address"),
        ("image_url", json!("myimg"), "http or https address"),
        ("image_url", json!("javascript:alert(1)"), "http or https address"),
        ("image_url", json!("data:text/html,<script>alert(1)</script>"), "http or https address"),
        ("image_url", json!("http://a\nb"), "without control characters"),
        ("image_url", json!("http://["), "http or https address"),
        ("image_url", json!("http://a@b:c@d/"), "without control characters, user name and password"),
        ("image_url", json!("https://user:pass@host/a.jpg"), "user name and password"),
        ("image_url", json!(format!("http://{}", "a".repeat(2_042))), "at most 2048 characters"),
        ("partner_city", json!("jakarta"), "one of [jabodetabek, bandung, surabaya]"),
        ("partner_city", Value::Null, "is required"),
        ("disaster_type", json!("wind"), "one of [flood]"),
        ("disaster_type", Value::Null, "is required"),
        ("location", json!({ "lat": 0 }), "lat from -90 to 90"),
        ("location", json!({ "lat": 0, "lng": 0.0 }), "must not be 0, 0"),
        ("is_training", json!(1), "true or false"),
        ("partner_code", json!("x".repeat(256)), "1 to 255 characters"),
        ("partner_icon", json!("icon.png"), "http"),
        ("partner_icon", json!(format!("http://example.org/{}", "x".repeat(2_048))), "2048"),
    ] {
        let mut body = post(json!(1));
        body[member] = wrong;
        assert_invalid(
            siaga.ask(Method::Post, "/v1/feeds/partner", body.to_string()),
            "body",
            &[member],
            says,
        );
    }
    let all = ["post_id", "created_at", "partner_city", "disaster_type", "location"];
    assert_invalid(siaga.ask(Method::Post, "/v1/feeds/partner", "{}"), "body", &all, "is required");
}

#[test]
fn the_partner_of_a_post_and_its_icon_are_served() {
    let siaga = Siaga::start();
    let with = |number: i64, code: &str, icon: Value| {
        let mut body = post(json!(number));
        (body["partner_code"], body["partner_icon"]) = (json!(code), icon);
        assert_eq!(siaga.ask(Method::Post, "/v1/feeds/partner", body.to_string()).status(), Status::Ok);
    };
    with(1, "PMI", json!("https://example.org/pmi.png"));
    with(2, "", Value::Null);
    let reports = siaga.result("/v1/reports?timeperiod=604800");
    let of = |key: &str| {
        let report = properties(&reports).into_iter().find(|report| report["pkey"] == key).unwrap();
        (report["partner_code"].clone(), report["partner_icon"].clone())
    };
    assert_eq!(of("9"), (json!("PMI"), json!("https://example.org/pmi.png")));
    assert_eq!(of("10"), (Value::Null, Value::Null));
}

#[test]
fn the_feeds_are_listed_for_those_who_may_send() {
    let siaga = Siaga::start();
    let response = siaga.ask(Method::Get, "/v1/feeds", "");
    assert_eq!(response.headers().get_one("Cache-Control"), Some("no-store"));
    assert_eq!(
        json_of(response),
        json!({ "statusCode": 200, "result": [
            { "feed": "partner", "cities": ["jabodetabek", "bandung", "surabaya"], "disaster_types": ["flood"] },
        ] })
    );
    assert_eq!(siaga.get("/v1/feeds").status(), Status::Forbidden);
    let other = siaga.client.get("/v1/feeds").header(key(KEY)).dispatch();
    assert_eq!(other.status(), Status::Forbidden);
}

#[test]
fn the_cities_and_disasters_of_partners_are_configured() {
    let figment = figment()
        .merge(("siaga.feeds.partner.cities", ["manado"]))
        .merge(("siaga.feeds.partner.disaster_types", ["wind", "fire"]));
    let siaga = Siaga::with(figment, |builder| builder);
    let send = |city: &str, disaster: &str| {
        let mut body = post(json!(1));
        (body["partner_city"], body["disaster_type"]) = (json!(city), json!(disaster));
        siaga.ask(Method::Post, "/v1/feeds/partner", body.to_string())
    };
    assert_invalid(send("bandung", "wind"), "body", &["partner_city"], "one of [manado]");
    assert_invalid(send("manado", "flood"), "body", &["disaster_type"], "one of [wind, fire]");
    assert_eq!(send("manado", "fire").status(), Status::Ok);
}

#[test]
fn half_an_emoji_and_a_byte_order_mark_do_not_cost_a_report() {
    let siaga = Siaga::start();
    let body = post(json!(1)).to_string().replace("A big flood", r"banjir \ud83d");
    assert_eq!(siaga.ask(Method::Post, "/v1/feeds/partner", format!("\u{feff}{body}")).status(), Status::Ok);
    assert_eq!(properties(&siaga.result("/v1/reports"))[0]["text"], "banjir \u{fffd}");
}

#[test]
fn a_time_of_full_minutes_may_lack_its_seconds_and_an_offset_its_minutes() {
    let siaga = Siaga::start();
    for (number, written) in ["2016-12-19T15:45Z", "2016-12-19T22:45:00+07"].into_iter().enumerate() {
        let mut body = post(json!(number));
        body["created_at"] = json!(written);
        let sent = siaga.ask(Method::Post, "/v1/feeds/partner", body.to_string());
        assert_eq!(sent.status(), Status::Ok, "{written}");
    }
    let reports = properties(&siaga.result("/v1/reports"));
    let new = reports.iter().filter(|report| report["created_at"] == "2016-12-19T15:45:00.000Z");
    assert_eq!(new.count(), 2);
}
