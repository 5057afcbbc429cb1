use rocket::http::{Method, Status};
use serde_json::{Value, json};

use crate::suite::support::{ADMIN_KEY, Siaga, assert_invalid, each, json_of, key, properties};

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

fn put<'c>(siaga: &'c Siaga, address: &'c str, body: &Value) -> rocket::local::blocking::LocalResponse<'c> {
    siaga.ask(Method::Put, address, body.to_string())
}

#[test]
fn a_card_that_exists_is_shown_in_the_envelope() {
    let siaga = Siaga::start();
    let response = siaga.ask(Method::Get, "/v1/cards/used-card", "");
    assert_eq!(response.headers().get_one("Cache-Control"), Some("no-store"));
    assert_eq!(response.headers().get_one("ETag"), None);
    assert_eq!(
        response.into_string().unwrap(),
        concat!(
            r#"{"statusCode":200,"result":{"pkey":"2","card_id":"used-card","username":"Ibu O'Neil","#,
            r#""network":"telegram","language":"id","received":true,"report_id":"1"}}"#
        )
    );
    let fresh = json_of(siaga.ask(Method::Get, "/v1/cards/fresh-card", ""));
    assert_eq!((&fresh["result"]["received"], &fresh["result"]["report_id"]), (&json!(false), &Value::Null));
    assert_eq!(siaga.ask(Method::Head, "/v1/cards/fresh-card", "").status(), Status::Ok);
}

#[test]
fn a_card_that_does_not_exist_is_404_with_found_and_result() {
    let siaga = Siaga::start();
    let response = siaga.ask(Method::Get, "/v1/cards/unknown", "");
    assert_eq!(response.status(), Status::NotFound);
    let body = json_of(response);
    assert_eq!(
        (&body["statusCode"], &body["found"], &body["result"]),
        (&json!(404), &json!(false), &Value::Null)
    );
    assert!(body.as_object().unwrap().contains_key("result"));
    assert_eq!(siaga.ask(Method::Head, "/v1/cards/unknown", "").status(), Status::NotFound);
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
        let address = format!("/v1/cards/{id}");
        for (method, body) in [(Method::Get, ""), (Method::Put, "{}")] {
            assert_eq!(siaga.ask(method, &address, body).status(), status, "{method} {id}");
        }
    }
}

#[test]
fn success_of_a_report_is_created_true_and_the_report_is_published() {
    let siaga = Siaga::start();
    let response = put(&siaga, "/v1/cards/fresh-card", &report());
    assert_eq!(response.into_string().unwrap(), r#"{"statusCode":200,"cardId":"fresh-card","created":true}"#);
    let newest = &properties(&siaga.result("/v1/reports"))[0];
    assert_eq!(
        *newest,
        json!({
            "pkey": "9", "created_at": "2016-12-19T16:00:00.011Z", "source": "grasp", "status": "confirmed",
            "url": "fresh-card", "image_url": null, "disaster_type": "flood",
            "report_data": { "report_type": "flood", "flood_depth": 101 },
            "tags": { "instance_region_code": "ID-JK", "local_area_id": "1" }, "title": "", "text": "test card",
            "is_training": false, "partner_code": null, "partner_icon": null,
        })
    );
    let card = json_of(siaga.ask(Method::Get, "/v1/cards/fresh-card", ""));
    assert_eq!((&card["result"]["received"], &card["result"]["report_id"]), (&json!(true), &json!("9")));
}

#[test]
fn no_such_card_is_404_and_a_received_report_409_before_the_body_is_judged() {
    let siaga = Siaga::start();
    for body in [report().to_string(), "{}".to_owned(), "rubbish".to_owned()] {
        for (id, status, message) in [
            ("unknown", Status::NotFound, "card unknown does not exist"),
            ("used-card", Status::Conflict, "card used-card has received its report already"),
        ] {
            let address = format!("/v1/cards/{id}");
            let response = siaga.ask(Method::Put, &address, &body);
            assert_eq!(response.status(), status, "{id} {body}");
            let answer = json_of(response);
            assert_eq!(
                (&answer["statusCode"], &answer["cardId"], &answer["message"]),
                (&json!(status.code), &json!(id), &json!(message))
            );
        }
    }
}

#[test]
fn a_report_without_a_disaster_is_of_the_one_that_its_type_means() {
    for (report_type, disaster) in [("road", "earthquake"), ("haze", "haze"), ("drain", "prep")] {
        let siaga = Siaga::start();
        let data = json!({ "report_type": report_type });
        let body = report_with(json!({ "disaster_type": null, "card_data": data }));
        assert_eq!(put(&siaga, "/v1/cards/fresh-card", &body).status(), Status::Ok, "{report_type}");
        assert_eq!(each(&siaga.result("/v1/reports/9"), "disaster_type"), [disaster], "{report_type}");
    }
}

/// What the interface shows of the card data of a report.
fn shown(siaga: &Siaga, data: &Value) -> Value {
    let address = format!("/v1/cards/{}", siaga.card());
    let body = report_with(json!({ "disaster_type": null, "card_data": data }));
    let response = put(siaga, &address, &body);
    assert_eq!(response.status(), Status::Ok, "{data}: {:?}", response.into_string());
    properties(&siaga.result("/v1/reports"))[0]["report_data"].clone()
}

#[test]
fn what_the_forms_of_clients_send_is_shown_as_the_types_clients_read() {
    let siaga = Siaga::start();
    for (report_type, sent, expected) in [
        ("volcano", r#""volcanicSigns":3"#, r#""volcanicSigns":[3]"#),
        ("volcano", r#""volcanicSigns":[0,4.0]"#, r#""volcanicSigns":[0,4]"#),
        ("volcano", r#""volcanicSigns":[]"#, r#""volcanicSigns":[]"#),
        ("volcano", r#""evacuationNumber":3.0"#, r#""evacuationNumber":3"#),
        ("volcano", r#""evacuationNumber":null,"other":null"#, r#""other":null"#),
        ("flood", r#""flood_depth":0"#, r#""flood_depth":0"#),
        ("flood", r#""flood_depth":70.4"#, r#""flood_depth":70"#),
        ("flood", r#""flood_depth":70.5"#, r#""flood_depth":71"#),
        ("flood", r#""flood_depth":1e2"#, r#""flood_depth":100"#),
        ("flood", r#""flood_depth":10000"#, r#""flood_depth":10000"#),
    ] {
        let members = |of: &str| format!(r#"{{"report_type":"{report_type}",{of}}}"#);
        let sent: Value = serde_json::from_str(&members(sent)).unwrap();
        // As texts, in which 3 is not 3.0.
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
fn a_report_from_the_future_is_400_and_one_of_a_clock_slightly_ahead_is_as_of_its_arrival() {
    let siaga = Siaga::start();
    let sent = |time: &str| put(&siaga, "/v1/cards/fresh-card", &report_with(json!({ "created_at": time })));
    let says = "is 6 h 59 min in the future: is it local time written as UTC?";
    // The clock stands at 16:08:52 UTC, 23:08:52 in Jakarta.
    assert_invalid(sent("2016-12-19T23:08:51Z"), "body", &["created_at"], says);
    assert_invalid(sent("2016-12-19T16:18:52.001Z"), "body", &["created_at"], "is 10 min in the future");
    assert_eq!(sent("2016-12-19T16:18:52Z").status(), Status::Ok);
    assert_eq!(each(&siaga.result("/v1/reports"), "created_at")[0], "2016-12-19T16:08:52.000Z");
}

#[test]
fn the_past_of_a_report_counts_however_long_ago_it_is() {
    let siaga = Siaga::start();
    let body = report_with(json!({ "created_at": "2009-12-09T11:32:52.011Z" }));
    assert_eq!(put(&siaga, "/v1/cards/fresh-card", &body).status(), Status::Ok);
    assert_eq!(each(&siaga.result("/v1/reports/9"), "created_at"), ["2009-12-09T11:32:52.011Z"]);
}

#[test]
fn a_wrong_report_is_400_naming_each_fault_by_its_path() {
    let siaga = Siaga::start();
    for (changes, keys, says) in [
        (json!({ "card_data": null }), &["card_data"][..], "is required"),
        (json!({ "card_data": [] }), &["card_data"], "must be an object"),
        (
            json!({ "card_data": { "report_type": "flood", "flood_depth": 1, "x": "a\u{0}" } }),
            &["card_data"],
            "NUL",
        ),
        (json!({ "disaster_type": "storm" }), &["disaster_type"], "one of [flood, "),
        (json!({ "disaster_type": 5 }), &["disaster_type"], "one of [flood, "),
        (json!({ "created_at": null }), &["created_at"], "is required"),
        (json!({ "created_at": "2016-12-19T16:00:00" }), &["created_at"], "offset"),
        (json!({ "created_at": "2016-12-19T16:00:00 0700" }), &["created_at"], "with an offset of Z"),
        (json!({ "created_at": 1 }), &["created_at"], "text"),
        (json!({ "location": null }), &["location"], "is required"),
        (json!({ "location": { "lat": 91, "lng": 0 } }), &["location"], "lat from -90 to 90"),
        (json!({ "location": { "lat": "1", "lng": 0 } }), &["location"], "lng from -180 to 180"),
        (json!({ "location": [106.8, -6.2] }), &["location"], "object"),
        (json!({ "location": { "lat": 0, "lng": 0 } }), &["location"], "must not be 0, 0"),
        (json!({ "text": 5 }), &["text"], "text"),
        (json!({ "text": "a\u{0}b" }), &["text"], "NUL"),
        (json!({ "image_id": {} }), &["image_id"], "text"),
        (json!({ "is_training": "true" }), &["is_training"], "true or false"),
        (json!({ "partnerCode": 5 }), &["partnerCode"], "or empty"),
    ] {
        let body = report_with(changes);
        assert_invalid(put(&siaga, "/v1/cards/fresh-card", &body), "body", keys, says);
    }
    let all = put(&siaga, "/v1/cards/fresh-card", &json!({ "card_data": { "impact": 9 }, "text": 1 }));
    let keys = ["card_data.impact", "card_data.report_type", "created_at", "location", "text"];
    assert_invalid(all, "body", &keys, "; ");
    let malformed = json_of(siaga.ask(Method::Put, "/v1/cards/fresh-card", "{bad"));
    assert_eq!((&malformed["statusCode"], &malformed["cardId"]), (&json!(400), &json!("fresh-card")));
    let card = json_of(siaga.ask(Method::Get, "/v1/cards/fresh-card", ""));
    assert_eq!(card["result"]["received"], false, "a wrong report does not use up the card");
}

#[test]
fn the_partner_of_a_card_is_named_as_its_form_does_and_an_empty_one_is_none() {
    for (changes, expected) in [
        (json!({ "partnerCode": "PMI" }), json!("PMI")),
        (json!({ "partner_code": "PMI" }), json!("PMI")),
        (json!({ "partnerCode": "" }), Value::Null),
        (json!({}), Value::Null),
    ] {
        let siaga = Siaga::start();
        assert_eq!(put(&siaga, "/v1/cards/fresh-card", &report_with(changes)).status(), Status::Ok);
        let report = &properties(&siaga.result("/v1/reports/9"))[0];
        assert_eq!((&report["partner_code"], &report["partner_icon"]), (&expected, &Value::Null));
        assert_eq!(report["is_training"], false);
    }
}

#[test]
fn a_report_outside_everything_has_null_tags() {
    let siaga = Siaga::start();
    let body = report_with(json!({ "location": { "lat": 1, "lng": 2 } }));
    assert_eq!(put(&siaga, "/v1/cards/fresh-card", &body).status(), Status::Ok);
    let tags = &properties(&siaga.result("/v1/reports"))[0]["tags"];
    assert_eq!(*tags, json!({ "instance_region_code": null, "local_area_id": null }));
}

#[test]
fn a_card_is_made_with_an_id_that_can_be_used() {
    let siaga = Siaga::start();
    let body = json!({ "username": "a 'quoted' name", "network": "telegram", "language": "en", "network_data": { "chat": 7 } });
    let answer = json_of(siaga.ask(Method::Post, "/v1/cards", body.to_string()));
    assert_eq!(answer["created"], true);
    let id = answer["cardId"].as_str().unwrap();
    assert!((7..=14).contains(&id.len()));
    let address = format!("/v1/cards/{id}");
    let card = json_of(siaga.ask(Method::Get, &address, ""));
    assert_eq!(
        (&card["result"]["username"], &card["result"]["received"]),
        (&json!("a 'quoted' name"), &json!(false))
    );
    assert_eq!(put(&siaga, &address, &report()).status(), Status::Ok);
}

#[test]
fn a_card_needs_a_username_a_network_and_a_language() {
    let siaga = Siaga::start();
    let make =
        |body: Value| siaga.client.post("/v1/cards").header(key(ADMIN_KEY)).body(body.to_string()).dispatch();
    assert_invalid(make(json!({})), "body", &["username", "network", "language"], "is required");
    let body = json!({ "username": "", "network": 5, "language": "x".repeat(256), "network_data": [] });
    assert_invalid(
        make(body),
        "body",
        &["username", "network", "language", "network_data"],
        "1 to 255 characters",
    );
}

/// Arrays and objects in one another.
fn nested(levels: usize) -> Value {
    (0..levels)
        .fold(json!(1), |inner, level| if level % 2 == 0 { json!([inner]) } else { json!({ "a": inner }) })
}

#[test]
fn what_is_kept_as_it_is_sent_is_nested_at_most_16_levels_deep() {
    let siaga = Siaga::start();
    let report = |levels: usize| {
        let data = json!({ "report_type": "flood", "flood_depth": 1, "more": nested(levels - 1) });
        report_with(json!({ "card_data": data }))
    };
    let holder = |levels: usize| {
        let data = json!({ "more": nested(levels - 1) });
        json!({ "username": "u", "network": "n", "language": "id", "network_data": data }).to_string()
    };
    let says = "nested at most 16 levels deep";
    for levels in [17, 100] {
        let refused = put(&siaga, "/v1/cards/fresh-card", &report(levels));
        assert_invalid(refused, "body", &["card_data"], says);
        assert_invalid(siaga.ask(Method::Post, "/v1/cards", holder(levels)), "body", &["network_data"], says);
    }
    assert_eq!(siaga.ask(Method::Post, "/v1/cards", holder(16)).status(), Status::Ok);
    assert_eq!(put(&siaga, "/v1/cards/fresh-card", &report(16)).status(), Status::Ok);
    let kept = &properties(&siaga.result("/v1/reports"))[0]["report_data"]["more"];
    assert_eq!(*kept, nested(15));
}

#[test]
fn the_types_of_preparedness_are_configured() {
    let siaga = Siaga::with_setting("siaga.cards.prep_types", ["sandbags"]);
    let of =
        |name: &str| report_with(json!({ "disaster_type": "prep", "card_data": { "report_type": name } }));
    let says = "one of [sandbags]";
    assert_invalid(
        put(&siaga, "/v1/cards/fresh-card", &of("drain")),
        "body",
        &["card_data.report_type"],
        says,
    );
    assert_eq!(put(&siaga, "/v1/cards/fresh-card", &of("sandbags")).status(), Status::Ok);
}

#[test]
fn cards_of_an_installation_that_is_taken_over_may_have_longer_identifiers() {
    const CARD: &str = "/v1/cards/0f6a1c1e-3f0d-4c5e-9a61-5b8f2f0c7d11";
    let message = |siaga: &Siaga| {
        let response = siaga.ask(Method::Get, CARD, "");
        (response.status(), json_of(response)["message"].to_string())
    };
    let (status, says) = message(&Siaga::start());
    assert_eq!(status, Status::BadRequest);
    assert!(says.contains("7 to 14 characters"), "{says}");
    let longer = Siaga::with_setting("siaga.cards.max_id_length", 36);
    assert_eq!(message(&longer).0, Status::NotFound);
    let limit = Siaga::with_setting("siaga.cards.max_id_length", 20);
    let (status, says) = message(&limit);
    assert_eq!(status, Status::BadRequest);
    assert!(says.contains("7 to 20 characters"), "{says}");
}

#[test]
fn disasters_that_only_the_installation_knows_are_reported_and_asked_for() {
    let typhoon =
        report_with(json!({ "disaster_type": "typhoon", "card_data": { "report_type": "typhoon" } }));
    let unknown = Siaga::start();
    assert_invalid(
        put(&unknown, "/v1/cards/fresh-card", &typhoon),
        "body",
        &["disaster_type", "card_data.report_type"],
        "one of [flood, earthquake, fire, haze, wind, volcano, prep]",
    );
    assert_eq!(unknown.ask(Method::Get, "/v1/reports?disaster=typhoon", "").status(), Status::BadRequest);
    let siaga = Siaga::with_setting("siaga.disasters.also", ["typhoon"]);
    assert_eq!(put(&siaga, "/v1/cards/fresh-card", &typhoon).status(), Status::Ok);
    let listed = json_of(siaga.ask(Method::Get, "/v1/reports?disaster=typhoon&timeperiod=604800", ""));
    assert_eq!(each(&listed["result"], "disaster_type"), ["typhoon"]);
    let summary = json_of(siaga.ask(Method::Get, "/v1/stats/reportsSummary?timeperiod=604800", ""));
    assert_eq!(summary["result"]["by disaster"]["typhoon"], 1);
}
