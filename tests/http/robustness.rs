//! No request causes a 500.

use proptest::prelude::*;
use rocket::http::Method;
use serde_json::{Value, json};

use crate::suite::support::{ADMIN_KEY, Siaga, key, partner_report};

fn json_values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        prop::sample::select(&["flood", "drain", "bandung", "2016-12-19T16:00:00Z"][..])
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(".{0,8}", inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Writes with a valid body of which some members, at any depth, are replaced.
fn writes() -> impl Strategy<Value = (Method, &'static str, Value)> {
    let location = json!({ "lat": -6.195, "lng": 106.805 });
    let time = "2016-12-19T16:00:00Z";
    let examples = vec![
        (Method::Put, "/v1/floods/5", json!({ "state": 2 })),
        (
            Method::Post,
            "/v1/cards",
            json!({ "username": "u", "network": "n", "language": "id", "network_data": {} }),
        ),
        (
            Method::Put,
            "/v1/cards/:cardId",
            json!({
                "text": "t", "disaster_type": "flood", "created_at": time, "location": location, "image_id": "i",
                "card_data": { "report_type": "flood", "flood_depth": 1, "volcanicSigns": [1], "fireRadius": location },
            }),
        ),
        (Method::Post, "/v1/feeds/partner", partner_report(json!({ "title": "t" }))),
        (
            Method::Put,
            "/v1/floodgauges",
            json!({
                "gaugeid": "g", "gaugenameid": "n", "location": location,
                "observations": [{ "observed_at": time, "level": 1, "alert": 4, "label": "l" }],
            }),
        ),
    ];
    let changes = prop::collection::vec((any::<prop::sample::Index>(), json_values()), 0..4);
    (prop::sample::select(examples), changes).prop_map(|((method, address, mut body), changes)| {
        for (index, value) in changes {
            let pointers = pointers(&body, "");
            let pointer: &String = index.get(&pointers);
            *body.pointer_mut(pointer).unwrap() = value;
        }
        (method, address, body)
    })
}

/// JSON pointers to a value and everything inside it.
fn pointers(value: &Value, at: &str) -> Vec<String> {
    let escaped = |name: &String| name.replace('~', "~0").replace('/', "~1");
    let inner: Vec<String> = match value {
        Value::Object(members) => {
            let below = |(name, value)| pointers(value, &format!("{at}/{}", escaped(name)));
            members.iter().flat_map(below).collect()
        }
        Value::Array(items) => {
            let below = |(index, item)| pointers(item, &format!("{at}/{index}"));
            items.iter().enumerate().flat_map(below).collect()
        }
        _ => Vec::new(),
    };
    std::iter::once(at.to_owned()).chain(inner).collect()
}

/// Percent-encoded bytes, many of them not UTF-8.
fn encoded() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..12)
            .prop_map(|bytes| bytes.iter().map(|byte| format!("%{byte:02X}")).collect::<String>()),
        "[A-Za-z0-9+=%_.-]{0,30}",
        Just("1".repeat(5_000)),
    ]
}

fn queries() -> impl Strategy<Value = String> {
    const NAMES: [&str; 11] = [
        "city",
        "admin",
        "format",
        "geoformat",
        "minimum_state",
        "start",
        "end",
        "username",
        "disaster",
        "timeperiod",
        "type",
    ];
    prop::collection::vec((prop::sample::select(&NAMES[..]), encoded()), 0..5).prop_map(|pairs| {
        let pairs: Vec<_> = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
        pairs.join("&")
    })
}

#[test]
fn no_body_makes_a_500() {
    let siaga = Siaga::start();
    proptest!(ProptestConfig::with_cases(2_000), |((method, address, body) in writes())| {
        // A report may be valid by chance and then uses its card.
        let card = if address.ends_with(":cardId") { siaga.card() } else { String::new() };
        let response = siaga.request(method, &address.replace(":cardId", &card), body.to_string()).status();
        prop_assert!(response.code < 500, "{response} for {method} {address} {body}");
    });
    proptest!(|((method, address, _) in writes(), body in prop::collection::vec(any::<u8>(), 0..64))| {
        let response = siaga.request(method, &address.replace(":cardId", "fresh-card"), body).status();
        prop_assert!(response.code < 500);
    });
}

#[test]
fn no_query_and_no_path_makes_a_500() {
    let siaga = Siaga::start();
    const METHODS: [Method; 5] = [Method::Get, Method::Put, Method::Delete, Method::Head, Method::Options];
    let paths = siaga.client.rocket().routes().map(|route| route.uri.path().split('<').next().unwrap());
    let mut paths: Vec<String> = paths.filter(|path| path.starts_with("/v1/")).map(str::to_owned).collect();
    // A stream has no end.
    paths.retain(|path| path != "/v1/changes/stream");
    assert!(paths.len() > 25, "{paths:?}");
    proptest!(|(
        method in prop::sample::select(&METHODS[..]), path in prop::sample::select(paths),
        rest in encoded(), query in queries(),
    )| {
        let address = if path.ends_with('/') { format!("{path}{rest}?{query}") } else { format!("{path}?{query}") };
        prop_assume!(rocket::http::uri::Origin::parse(&address).is_ok());
        let response = siaga.client.req(method, address.as_str()).header(key(ADMIN_KEY)).dispatch();
        prop_assert!(response.status().code < 500, "{} for {method} {address}", response.status());
    });
}
