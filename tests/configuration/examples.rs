//! The examples of the page form one valid configuration, except for mutually exclusive keys.

use figment::Figment;
use figment::providers::Serialized;
use serde_json::{Value, json};
use siaga::Builder;

use crate::minimal::{extracted, place, tables};
use crate::page::{self, expanded};

/// Ways to verify tokens; a configuration has one of them.
const VERIFIERS: [&str; 3] = ["auth.jwt.secret", "auth.jwt.public_key", "auth.jwt.jwks_url"];

/// The examples in TOML; the others are links.
fn written() -> impl Iterator<Item = (String, &'static str)> {
    let code = |(pattern, text): (&str, &'static str)| {
        let value = text.strip_prefix('`').and_then(|text| text.strip_suffix('`'))?;
        Some(expanded(pattern).into_iter().map(move |key| (key, value)))
    };
    page::examples().filter_map(code).flatten()
}

/// The examples as values of the service and of Rocket, with one verifier.
fn values(verifier: &str) -> (Value, Value) {
    let chosen = |key: &str| match key {
        // The example's algorithm does not use a secret.
        "auth.jwt.algorithm" => verifier != "auth.jwt.secret",
        _ => key == verifier || !VERIFIERS.contains(&key),
    };
    let (mut service, mut rocket) = (tables(), json!({}));
    service["auth"]["jwt"] = json!({});
    for (key, text) in written().filter(|(key, _)| chosen(key)) {
        let value: toml::Table = format!("value = {text}").parse().unwrap();
        let is_rockets = key.starts_with("databases.") || ["ident", "ip_header"].contains(&&*key);
        let root = if is_rockets { &mut rocket } else { &mut service };
        *place(root, &key) = serde_json::to_value(&value["value"]).unwrap();
    }
    (service, rocket)
}

#[test]
fn the_examples_of_the_page_form_a_valid_configuration() {
    for verifier in VERIFIERS {
        let (service, rocket) = values(verifier);
        let read = extracted(&service);
        assert!(read.is_ok(), "{}", read.unwrap_err());
        // The named files do not exist here, so only Rocket's keys are checked as at startup.
        let rockets = Figment::from(rocket::Config::default())
            .merge(Serialized::defaults(rocket))
            .merge(("siaga.store", "postgres"))
            .merge(("siaga.images.signing_key", "of the test"));
        let checked = Builder::default().figment(rockets).check();
        assert!(checked.is_ok(), "{}", checked.unwrap_err());
    }
}
