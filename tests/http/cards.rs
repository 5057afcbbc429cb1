use rocket::http::{Method, Status};
use serde_json::{Value, json};

use crate::suite::support::{Siaga, assert_invalid, each, json_of, properties};

const FRESH: &str = "/v1/cards/fresh-card";

/// The body of the contract's example.
fn report() -> Value {
    json!({
        "text": "test card", "disaster_type": "flood",
        "card_data": { "report_type": "flood", "flood_depth": 101 },
        "created_at": "2016-12-19T16:00:00.011Z", "location": { "lat": -6.195, "lng": 106.805 },
    })
}

/// The example with some members replaced; null ones are left out.
fn report_with(changes: Value) -> Value {
    let mut body = report();
    let members = body.as_object_mut().unwrap();
    members.extend(changes.as_object().unwrap().clone());
    members.retain(|_, value| !value.is_null());
    body
}

fn put<'c>(siaga: &'c Siaga, body: &Value) -> rocket::local::blocking::LocalResponse<'c> {
    siaga.request(Method::Put, FRESH, body.to_string())
}

/// Sends a report, expects 200 and returns its published properties.
fn published(siaga: &Siaga, body: &Value) -> Value {
    assert_eq!(put(siaga, body).status(), Status::Ok, "{body}");
    properties(&siaga.result("/v1/reports/9")).remove(0)
}

#[test]
fn a_card_that_exists_is_shown_in_the_envelope() {
    let siaga = Siaga::start();
    let response = siaga.request(Method::Get, "/v1/cards/used-card", "");
    assert_eq!(response.headers().get_one("Cache-Control"), Some("no-store"));
    assert_eq!(response.headers().get_one("ETag"), None);
    let card = json!({ "pkey": "2", "card_id": "used-card", "username": "Ibu O'Neil", "network": "telegram",
                       "language": "id", "received": true, "report_id": "1" });
    assert_eq!(json_of(response), json!({ "statusCode": 200, "result": card }));
    let fresh = json_of(siaga.request(Method::Get, FRESH, ""));
    assert_eq!((&fresh["result"]["received"], &fresh["result"]["report_id"]), (&json!(false), &Value::Null));
    assert_eq!(siaga.request(Method::Head, FRESH, "").status(), Status::Ok);
}

#[test]
fn a_card_that_does_not_exist_is_404_with_found_and_result() {
    let siaga = Siaga::start();
    let response = siaga.request(Method::Get, "/v1/cards/unknown", "");
    assert_eq!(response.status(), Status::NotFound);
    let body = json_of(response);
    assert_eq!((&body["statusCode"], &body["found"]), (&json!(404), &json!(false)));
    assert_eq!(body.get("result"), Some(&Value::Null));
    assert_eq!(siaga.request(Method::Head, "/v1/cards/unknown", "").status(), Status::NotFound);
}

#[test]
fn a_card_id_has_7_to_14_characters() {
    let siaga = Siaga::start();
    for (id, status) in [
        ("abcdef", Status::BadRequest),
        ("abcdefg", Status::NotFound),
        ("abcdefghijklmn", Status::NotFound),
        ("abcdefghijklmno", Status::BadRequest),
        ("%C3%A9%C3%A9%C3%A9%C3%A9%C3%A9%C3%A9%C3%A9", Status::NotFound),
        ("abc%00defg", Status::BadRequest),
    ] {
        for (method, rest) in [(Method::Get, ""), (Method::Put, ""), (Method::Get, "/images")] {
            let address = format!("/v1/cards/{id}{rest}");
            let response = siaga.request(method, &address, "{}");
            assert_eq!(response.status(), status, "{method} {id}{rest}");
        }
    }
}

#[test]
fn an_accepted_report_returns_created_true_and_is_published() {
    let siaga = Siaga::start();
    let response = put(&siaga, &report());
    assert_eq!(response.into_string().unwrap(), r#"{"statusCode":200,"cardId":"fresh-card","created":true}"#);
    let published = json!({
        "pkey": "9", "created_at": "2016-12-19T16:00:00.011Z", "source": "grasp", "status": "confirmed",
        "url": "fresh-card", "image_url": null, "disaster_type": "flood",
        "report_data": { "report_type": "flood", "flood_depth": 101 },
        "tags": { "instance_region_code": "ID-JK", "local_area_id": "1" }, "title": "", "text": "test card",
        "is_training": false, "partner_code": null, "partner_icon": null,
    });
    assert_eq!(properties(&siaga.result("/v1/reports"))[0], published);
    let card = json_of(siaga.request(Method::Get, FRESH, ""));
    assert_eq!((&card["result"]["received"], &card["result"]["report_id"]), (&json!(true), &json!("9")));
}

#[test]
fn an_unknown_card_is_404_and_a_used_one_409_before_the_body_is_validated() {
    let siaga = Siaga::start();
    let report = report().to_string();
    for (method, rest, id, body, status, message) in [
        (Method::Put, "", "unknown", &*report, 404, "card unknown does not exist"),
        (Method::Put, "", "unknown", "rubbish", 404, "card unknown does not exist"),
        (Method::Put, "", "used-card", &report, 409, "card used-card has received its report already"),
        (Method::Put, "", "used-card", "rubbish", 409, "card used-card has received its report already"),
        (Method::Get, "/images", "unknown", "", 404, "card unknown does not exist"),
        (Method::Get, "/images", "fresh-card", "", 409, "card fresh-card has not received its report yet"),
    ] {
        let address = format!("/v1/cards/{id}{rest}");
        let response = siaga.request(method, &address, body);
        assert_eq!(response.status().code, status, "{method} {address} {body}");
        let reply = json_of(response);
        let described = (&reply["statusCode"], &reply["cardId"], &reply["message"]);
        assert_eq!(described, (&json!(status), &json!(id), &json!(message)));
    }
}

#[test]
fn omitted_and_alternative_members_of_a_report_are_published_as_documented() {
    let of_type = |name: &str| json!({ "disaster_type": null, "card_data": { "report_type": name } });
    let long_ago = "2009-12-09T11:32:52.011Z";
    let nowhere = json!({ "instance_region_code": null, "local_area_id": null });
    for (case, changes, property, expected) in [
        ("a type of earthquakes", of_type("road"), "disaster_type", json!("earthquake")),
        ("a type of its disaster", of_type("haze"), "disaster_type", json!("haze")),
        ("a type of preparedness", of_type("drain"), "disaster_type", json!("prep")),
        ("long ago", json!({ "created_at": long_ago }), "created_at", json!(long_ago)),
        ("the partner of forms", json!({ "partnerCode": "PMI" }), "partner_code", json!("PMI")),
        ("the partner of feeds", json!({ "partner_code": "PMI" }), "partner_code", json!("PMI")),
        ("an empty partner", json!({ "partnerCode": "" }), "partner_code", Value::Null),
        ("outside everything", json!({ "location": { "lat": 1, "lng": 2 } }), "tags", nowhere),
    ] {
        let report = published(&Siaga::start(), &report_with(changes));
        assert_eq!(report[property], expected, "{case}");
    }
}

/// The published card data of a report.
fn shown(siaga: &Siaga, data: &Value) -> Value {
    let address = format!("/v1/cards/{}", siaga.card());
    let body = report_with(json!({ "disaster_type": null, "card_data": data }));
    assert_eq!(siaga.request(Method::Put, &address, body.to_string()).status(), Status::Ok, "{data}");
    properties(&siaga.result("/v1/reports"))[0]["report_data"].clone()
}

#[test]
fn values_sent_by_the_forms_of_clients_are_returned_in_the_types_that_clients_read() {
    let siaga = Siaga::start();
    for (report_type, sent, expected) in [
        ("volcano", r#""volcanicSigns":3"#, r#""volcanicSigns":[3]"#),
        ("volcano", r#""volcanicSigns":[0,4.0]"#, r#""volcanicSigns":[0,4]"#),
        ("volcano", r#""volcanicSigns":[]"#, r#""volcanicSigns":[]"#),
        ("volcano", r#""evacuationNumber":3.0"#, r#""evacuationNumber":3"#),
        ("volcano", r#""evacuationNumber":null,"other":null"#, r#""other":null"#),
        ("flood", r#""flood_depth":70.4"#, r#""flood_depth":70"#),
        ("flood", r#""flood_depth":70.5"#, r#""flood_depth":71"#),
        ("flood", r#""flood_depth":1e2"#, r#""flood_depth":100"#),
    ] {
        let members = |report_of_type: &str| format!(r#"{{"report_type":"{report_type}",{report_of_type}}}"#);
        let sent: Value = serde_json::from_str(&members(sent)).unwrap();
        // Compared as text, because 3 == 3.0 in JSON values.
        assert_eq!(shown(&siaga, &sent).to_string(), members(expected));
    }
}

#[test]
fn the_radius_of_a_fire_is_shown_as_a_place_on_the_circle() {
    let place = json!({ "lat": -6.25, "lng": 106.5 });
    let siaga = Siaga::start();
    let fire = |mut data: Value| {
        data["report_type"] = json!("fire");
        shown(&siaga, &data)["fireRadius"].clone()
    };
    assert_eq!(fire(json!({ "fireRadius": place })), place);
    assert_eq!(fire(json!({ "fireRadius": 0, "fireLocation": place })), place);
    // A degree of latitude is 111.195 km; without the fire's place the report's counts.
    let circle = fire(json!({ "fireRadius": 11119.5, "fireLocation": place }));
    assert_eq!(circle, json!({ "lat": -6.15, "lng": 106.5 }));
    assert_eq!(fire(json!({ "fireRadius": 11119.5 })), json!({ "lat": -6.095, "lng": 106.805 }));
    assert_eq!(fire(json!({ "fireRadius": 1e300 }))["lat"], 90.0);
}

#[test]
fn a_report_from_the_future_is_400_and_one_slightly_ahead_gets_its_arrival_time() {
    let siaga = Siaga::start();
    let sent = |time: &str| put(&siaga, &report_with(json!({ "created_at": time })));
    let expected = "is 6 h 59 min in the future: is it local time written as UTC?";
    // The clock stands at 16:08:52 UTC, 23:08:52 in Jakarta.
    assert_invalid(sent("2016-12-19T23:08:51Z"), "body", &["created_at"], expected);
    assert_invalid(sent("2016-12-19T16:18:52.001Z"), "body", &["created_at"], "is 10 min in the future");
    assert_eq!(sent("2016-12-19T16:18:52Z").status(), Status::Ok);
    assert_eq!(each(&siaga.result("/v1/reports"), "created_at")[0], "2016-12-19T16:08:52.000Z");
}

#[test]
fn a_wrong_report_is_400_naming_each_fault_by_its_path() {
    let siaga = Siaga::start();
    let nul = json!({ "report_type": "flood", "flood_depth": 1, "x": "a\u{0}" });
    for (changes, keys, expected) in [
        (json!({ "card_data": null }), &["card_data"][..], "is required"),
        (json!({ "card_data": [] }), &["card_data"], "must be an object"),
        (json!({ "card_data": nul }), &["card_data"], "NUL"),
        (json!({ "disaster_type": "storm" }), &["disaster_type"], "one of [flood, "),
        (json!({ "created_at": null }), &["created_at"], "is required"),
        (json!({ "created_at": "2016-12-19T16:00:00" }), &["created_at"], "offset"),
        (json!({ "created_at": 1 }), &["created_at"], "text"),
        (json!({ "location": null }), &["location"], "is required"),
        (json!({ "location": { "lat": 91, "lng": 0 } }), &["location"], "lat from -90 to 90"),
        (json!({ "location": [106.8, -6.2] }), &["location"], "object"),
        (json!({ "location": { "lat": 0, "lng": 0 } }), &["location"], "must not be 0, 0"),
        (json!({ "text": 5 }), &["text"], "text"),
        (json!({ "text": "a\u{0}b" }), &["text"], "NUL"),
        (json!({ "image_id": {} }), &["image_id"], "text"),
        (json!({ "is_training": "true" }), &["is_training"], "true or false"),
        (json!({ "partnerCode": 5 }), &["partnerCode"], "or empty"),
    ] {
        assert_invalid(put(&siaga, &report_with(changes)), "body", keys, expected);
    }
    let all = put(&siaga, &json!({ "card_data": { "impact": 9 }, "text": 1 }));
    let keys = ["card_data.impact", "card_data.report_type", "created_at", "location", "text"];
    assert_invalid(all, "body", &keys, "; ");
    let malformed = json_of(siaga.request(Method::Put, FRESH, "{bad"));
    assert_eq!((&malformed["statusCode"], &malformed["cardId"]), (&json!(400), &json!("fresh-card")));
    let card = json_of(siaga.request(Method::Get, FRESH, ""));
    assert_eq!(card["result"]["received"], false, "a wrong report does not use up the card");
}

#[test]
fn a_card_is_made_with_an_id_that_can_be_used() {
    let siaga = Siaga::start();
    let body = json!({ "username": "a 'quoted' name", "network": "telegram", "language": "en", "network_data": { "chat": 7 } });
    let response = json_of(siaga.request(Method::Post, "/v1/cards", body.to_string()));
    assert_eq!(response["created"], true);
    let id = response["cardId"].as_str().unwrap();
    assert!((7..=14).contains(&id.len()));
    let address = format!("/v1/cards/{id}");
    let card = json_of(siaga.request(Method::Get, &address, ""));
    assert_eq!(card["result"]["username"], "a 'quoted' name");
    assert_eq!(siaga.request(Method::Put, &address, report().to_string()).status(), Status::Ok);
}

#[test]
fn a_card_needs_a_username_a_network_and_a_language() {
    let siaga = Siaga::start();
    let make = |body: Value| siaga.request(Method::Post, "/v1/cards", body.to_string());
    assert_invalid(make(json!({})), "body", &["username", "network", "language"], "is required");
    let body = json!({ "username": "", "network": 5, "language": "x".repeat(256), "network_data": [] });
    let keys = ["username", "network", "language", "network_data"];
    assert_invalid(make(body), "body", &keys, "1 to 255 characters");
}

/// Nested arrays and objects.
fn nested(levels: usize) -> Value {
    (0..levels)
        .fold(json!(1), |inner, level| if level % 2 == 0 { json!([inner]) } else { json!({ "a": inner }) })
}

#[test]
fn json_stored_as_sent_is_at_most_16_levels_deep() {
    let siaga = Siaga::start();
    let report = |levels: usize| {
        let data = json!({ "report_type": "flood", "flood_depth": 1, "more": nested(levels - 1) });
        report_with(json!({ "card_data": data }))
    };
    let holder = |levels: usize| {
        let data = json!({ "more": nested(levels - 1) });
        json!({ "username": "u", "network": "n", "language": "id", "network_data": data }).to_string()
    };
    let expected = "nested at most 16 levels deep";
    assert_invalid(put(&siaga, &report(17)), "body", &["card_data"], expected);
    assert_invalid(siaga.request(Method::Post, "/v1/cards", holder(17)), "body", &["network_data"], expected);
    assert_eq!(siaga.request(Method::Post, "/v1/cards", holder(16)).status(), Status::Ok);
    assert_eq!(published(&siaga, &report(16))["report_data"]["more"], nested(15));
}

#[test]
fn the_types_of_preparedness_are_configured() {
    let siaga = Siaga::with_setting("siaga.cards.prep_types", ["sandbags"]);
    let report_of_type =
        |name: &str| report_with(json!({ "disaster_type": "prep", "card_data": { "report_type": name } }));
    assert_invalid(
        put(&siaga, &report_of_type("drain")),
        "body",
        &["card_data.report_type"],
        "one of [sandbags]",
    );
    assert_eq!(put(&siaga, &report_of_type("sandbags")).status(), Status::Ok);
}

#[test]
fn identifiers_of_migrated_cards_may_be_longer() {
    const CARD: &str = "/v1/cards/0f6a1c1e-3f0d-4c5e-9a61-5b8f2f0c7d11";
    assert_invalid(
        Siaga::start().request(Method::Get, CARD, ""),
        "params",
        &["cardId"],
        "7 to 14 characters",
    );
    let longer = Siaga::with_setting("siaga.cards.max_id_length", 36);
    assert_eq!(longer.request(Method::Get, CARD, "").status(), Status::NotFound);
    let limit = Siaga::with_setting("siaga.cards.max_id_length", 20);
    assert_invalid(limit.request(Method::Get, CARD, ""), "params", &["cardId"], "7 to 20 characters");
}

#[test]
fn configured_disasters_can_be_reported_and_filtered() {
    const LIST: &str = "/v1/reports?disaster=typhoon&timeperiod=604800";
    assert_eq!(Siaga::start().get(LIST).status(), Status::BadRequest);
    let siaga = Siaga::with_setting("siaga.disasters.also", ["typhoon"]);
    let typhoon = json!({ "disaster_type": "typhoon", "card_data": { "report_type": "typhoon" } });
    published(&siaga, &report_with(typhoon));
    assert_eq!(each(&siaga.result(LIST), "disaster_type"), ["typhoon"]);
    let summary = siaga.result("/v1/stats/reportsSummary?timeperiod=604800");
    assert_eq!(summary["by disaster"]["typhoon"], 1);
}
