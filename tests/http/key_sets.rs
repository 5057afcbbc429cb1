//! Tokens that are verified by a set of public keys in a file, while it changes.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use rocket::http::Status;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::independent::signing::{claims, jwk, token};
use crate::independent::tokens::change;
use crate::suite::eventually::{LONG, eventually_blocking};
use crate::suite::support::{Siaga, figment_without_tokens};

/// A service and the file of its keys.
struct WithSet {
    siaga: Siaga,
    path: PathBuf,
    _folder: TempDir,
}

impl WithSet {
    fn new(algorithm: &str, keys: &[Value]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("jwks.json");
        fs::write(&path, json!({ "keys": keys }).to_string()).unwrap();
        let jwt = json!({ "algorithm": algorithm, "jwks": path });
        let siaga = Siaga::with(figment_without_tokens().merge(("siaga.auth.jwt", jwt)), |builder| builder);
        Self { siaga, path, _folder: folder }
    }

    fn write(&self, keys: &[Value]) {
        fs::write(&self.path, json!({ "keys": keys }).to_string()).unwrap();
    }

    /// The status of a change with a token whose header names a key so.
    fn status(&self, algorithm: &str, kid: &Value) -> Status {
        let mut header = json!({ "alg": algorithm });
        if !kid.is_null() {
            header["kid"] = kid.clone();
        }
        change(&self.siaga, &token(algorithm, &header, &claims(json!({}))))
    }

    /// Waits until a token with this `kid` is answered so.
    fn await_status(&self, algorithm: &str, kid: &str, expected: Status) {
        let status = || self.status(algorithm, &json!(kid));
        eventually_blocking(&format!("{kid} is answered {expected}"), LONG, status, |status| {
            *status == expected
        });
    }
}

fn with(mut key: Value, name: &str, value: Value) -> Value {
    key[name] = value;
    key
}

#[test]
fn the_kid_chooses_the_key_and_only_one_that_is_in_the_set() {
    for algorithm in ["RS256", "ES256", "EdDSA"] {
        let others = ["RS256", "ES256", "EdDSA"].into_iter().filter(|other| *other != algorithm);
        let mut keys: Vec<_> = others.map(|other| jwk(other, "elsewhere")).collect();
        keys.push(with(jwk(algorithm, "own"), "alg", json!(algorithm)));
        let set = WithSet::new(algorithm, &keys);
        assert_eq!(set.status(algorithm, &json!("own")), Status::Ok, "{algorithm}");
        assert_eq!(set.status(algorithm, &Value::Null), Status::Ok, "{algorithm}: there is only one");
        for kid in [
            json!(""),
            json!("elsewhere"),
            json!("unknown"),
            json!("Own"),
            json!("own "),
            json!("../../../../dev/null"),
            json!("/dev/null"),
            json!("own' OR '1'='1"),
            json!("own'; DROP TABLE api_keys; --"),
            json!("own\u{0}"),
            json!("x".repeat(9_000)),
            json!(0),
            json!(["own"]),
            json!({ "own": 1 }),
            json!(true),
        ] {
            assert_eq!(set.status(algorithm, &kid), Status::Forbidden, "{algorithm} {kid}");
        }
    }
}

#[test]
fn keys_for_something_else_are_ignored() {
    let own = jwk("ES256", "own");
    for unfit in [
        with(own.clone(), "use", json!("enc")),
        with(own.clone(), "key_ops", json!(["sign"])),
        with(own.clone(), "alg", json!("ES384")),
        with(own.clone(), "alg", json!("HS256")),
        with(own.clone(), "alg", json!("something new")),
        with(own.clone(), "crv", json!("P-384")),
        with(own.clone(), "crv", json!("P-999")),
        with(own.clone(), "x", json!("AAAA")),
        with(own.clone(), "x", json!("not base64!")),
        with(own.clone(), "kty", json!("RSA")),
        with(own.clone(), "kty", json!("new")),
        json!({ "kty": "oct", "kid": "own", "k": "c2VjcmV0" }),
        json!(17),
    ] {
        let set = WithSet::new("ES256", &[jwk("ES256", "other"), unfit.clone()]);
        assert_eq!(set.status("ES256", &json!("own")), Status::Forbidden, "{unfit}");
        assert_eq!(set.status("ES256", &json!("other")), Status::Ok, "{unfit}");
    }
    let used = with(with(own, "use", json!("sig")), "key_ops", json!(["verify"]));
    assert_eq!(WithSet::new("ES256", &[used]).status("ES256", &json!("own")), Status::Ok);
}

#[test]
fn a_token_without_a_kid_is_refused_while_there_are_several_keys() {
    let set = WithSet::new("EdDSA", &[jwk("EdDSA", "one"), jwk("EdDSA", "two")]);
    assert_eq!(set.status("EdDSA", &Value::Null), Status::Forbidden);
    assert_eq!(set.status("EdDSA", &json!("two")), Status::Ok);
}

#[test]
fn keys_are_rotated_while_the_service_runs_and_a_broken_file_changes_nothing() {
    let set = WithSet::new("ES256", &[jwk("ES256", "old")]);
    assert_eq!(set.status("ES256", &json!("new")), Status::Forbidden);
    set.write(&[jwk("ES256", "old"), jwk("ES256", "new")]);
    set.await_status("ES256", "new", Status::Ok);
    assert_eq!(set.status("ES256", &json!("old")), Status::Ok);
    set.write(&[jwk("ES256", "new")]);
    set.await_status("ES256", "old", Status::Forbidden);
    for broken in ["", "{\"keys\":[", "{}", "[]", "{\"keys\":{}}"] {
        fs::write(&set.path, broken).unwrap();
        // Until after it has been looked at.
        let until = Instant::now() + Duration::from_millis(1300);
        while Instant::now() < until {
            assert_eq!(set.status("ES256", &json!("new")), Status::Ok, "{broken}");
            thread::sleep(Duration::from_millis(50));
        }
    }
    fs::remove_file(&set.path).unwrap();
    assert_eq!(set.status("ES256", &json!("new")), Status::Ok);
    // Nothing is ever written to it, so that a read would never end. There is time for one.
    assert!(Command::new("mkfifo").arg(&set.path).status().unwrap().success());
    thread::sleep(Duration::from_millis(1300));
    assert_eq!(set.status("ES256", &json!("new")), Status::Ok);
    fs::remove_file(&set.path).unwrap();
    set.write(&[jwk("ES256", "newest")]);
    set.await_status("ES256", "newest", Status::Ok);
    set.write(&[]);
    set.await_status("ES256", "newest", Status::Forbidden);
}
