//! No request makes a 500.

use proptest::prelude::*;
use rocket::http::Method;
use serde_json::Value;

use crate::support::{KEY, Siaga, key};

fn json_values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(prop_oneof![Just("state".to_owned()), ".{0,8}"], inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
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
    const NAMES: [&str; 8] =
        ["city", "admin", "format", "geoformat", "minimum_state", "start", "end", "username"];
    prop::collection::vec((prop::sample::select(&NAMES[..]), encoded()), 0..5).prop_map(|pairs| {
        let pairs: Vec<_> = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
        pairs.join("&")
    })
}

#[test]
fn no_body_makes_a_500() {
    let siaga = Siaga::start();
    proptest!(|(body in json_values())| {
        let response = siaga.put("/v1/floods/5", body.to_string());
        prop_assert!(response.status().code < 500, "{} for {body}", response.status());
    });
    proptest!(|(body in prop::collection::vec(any::<u8>(), 0..64))| {
        let response = siaga.put("/v1/floods/5", body);
        prop_assert!(response.status().code < 500);
    });
}

#[test]
fn no_query_and_no_path_makes_a_500() {
    let siaga = Siaga::start();
    const METHODS: [Method; 5] = [Method::Get, Method::Put, Method::Delete, Method::Head, Method::Options];
    const PATHS: [&str; 5] =
        ["/v1/floods", "/v1/floods/states", "/v1/floods/archive", "/v1/floods/timeseries", "/v1/floods/"];
    proptest!(|(
        method in prop::sample::select(&METHODS[..]), path in prop::sample::select(&PATHS[..]),
        rest in encoded(), query in queries(),
    )| {
        let address = if path.ends_with('/') { format!("{path}{rest}?{query}") } else { format!("{path}?{query}") };
        prop_assume!(rocket::http::uri::Origin::parse(&address).is_ok());
        let response = siaga.client.req(method, address.as_str()).header(key(KEY)).dispatch();
        prop_assert!(response.status().code < 500, "{} for {method} {address}", response.status());
    });
}
