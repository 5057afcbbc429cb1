//! API keys in the store: creation, expiry and revocation.

use std::sync::Arc;
use std::time::Duration;

use rocket::http::Status;
use serde_json::json;
use siaga::auth::{ApiKey, KeyDigest, Scope};
use siaga::stores::{KeyEntry, Store, StoredKey};

use crate::fixture::now;
use crate::suite::eventually::{LONG, eventually_blocking};
use crate::suite::support::{KEY, Siaga, json_of, key};

fn entry(name: &str, text: &str) -> ApiKey {
    let sha256 = KeyDigest::new(text).to_hex();
    serde_json::from_value(json!({ "name": name, "sha256": sha256, "scopes": ["floods:write"] })).unwrap()
}

fn store(siaga: &Siaga) -> Arc<dyn Store> {
    Arc::clone(siaga.client.rocket().state::<Arc<dyn Store>>().unwrap())
}

fn create(siaga: &Siaga, key: ApiKey) {
    siaga.wait(store(siaga).create_key(KeyEntry { key, owner: None })).unwrap();
}

fn change(siaga: &Siaga, text: &str) -> Status {
    siaga.client.put("/v1/floods/5").header(key(text)).body(r#"{"state":2}"#).dispatch().status()
}

/// Waits until a change with a key has this status.
fn await_status(siaga: &Siaga, text: &str, expected: Status) {
    eventually_blocking(text, LONG, || change(siaga, text), |status| *status == expected);
}

#[test]
fn a_key_is_accepted_soon_after_its_creation_until_soon_after_its_revocation() {
    let siaga = Siaga::start();
    assert_eq!(change(&siaga, "stored"), Status::Forbidden);
    create(&siaga, entry("new", "stored"));
    await_status(&siaga, "stored", Status::Ok);
    assert_eq!(change(&siaga, KEY), Status::Ok, "beside those of the configuration");
    assert_eq!(change(&siaga, &KeyDigest::new("stored").to_hex()), Status::Forbidden, "the hash is no key");
    siaga.wait(store(&siaga).revoke_key("new")).unwrap();
    await_status(&siaga, "stored", Status::Forbidden);
    let response = siaga.client.get("/v1/floods").header(key("stored")).dispatch();
    assert_eq!(response.status(), Status::Forbidden, "on open routes, too");
    assert!(json_of(response)["message"].as_str().unwrap().starts_with("this needs a valid credential"));
}

#[test]
fn a_stored_key_is_accepted_until_it_expires_and_for_its_scopes() {
    let siaga = Siaga::start();
    let expires = Some(now().saturating_add(Duration::from_secs(1)).to_utc());
    create(&siaga, ApiKey { expires, ..entry("short", "stored") });
    create(&siaga, ApiKey { scopes: vec![Scope::GaugesWrite], ..entry("gauges only", "elsewhere") });
    await_status(&siaga, "stored", Status::Ok);
    let status = || siaga.client.get("/v1/floods").header(key("elsewhere")).dispatch().status();
    eventually_blocking("the other is known", LONG, status, |status| *status == Status::Ok);
    assert_eq!(change(&siaga, "elsewhere"), Status::Forbidden);
    siaga.clock.set(now().saturating_add(Duration::from_secs(1)));
    assert_eq!(change(&siaga, "stored"), Status::Forbidden);
}

#[test]
fn the_last_use_of_a_key_is_noted_soon_after_it() {
    let siaga = Siaga::start();
    create(&siaga, entry("used", "stored"));
    create(&siaga, entry("unused", "never sent"));
    await_status(&siaga, "stored", Status::Ok);
    let last_uses = || {
        let keys: Vec<StoredKey> = siaga.wait(store(&siaga).keys()).unwrap().value;
        keys.iter().map(|stored| stored.last_used).collect::<Vec<_>>()
    };
    eventually_blocking("the use is noted", LONG, last_uses, |uses| *uses == [None, Some(now())]);
}
