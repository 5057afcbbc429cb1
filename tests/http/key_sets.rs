//! Tokens that are verified by a set of public keys at an address.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use rocket::http::Status;
use serde_json::{Value, json};

use crate::independent::signing::{claims, jwk, token};
use crate::independent::tokens::change;
use crate::suite::eventually::{LONG, eventually_blocking};
use crate::suite::support::{Siaga, figment_without_tokens};

/// Serves a key set once (a service fetches it at most every ten minutes); returns its address.
fn served(keys: &[Value]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/jwks.json", listener.local_addr().unwrap());
    let set = json!({ "keys": keys });
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 1024]);
        let _ = write!(stream, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{set}");
    });
    address
}

/// A service that verifies tokens of one algorithm by a set.
struct WithSet(Siaga);

impl WithSet {
    /// Starts a service, and waits until it accepts a token with this `kid`.
    fn new(algorithm: &str, keys: &[Value], known: &str) -> Self {
        let jwt = json!({ "algorithm": algorithm, "jwks_url": served(keys) });
        let set =
            Self(Siaga::with(figment_without_tokens().merge(("siaga.auth.jwt", jwt)), |builder| builder));
        let status = || set.status(algorithm, &json!(known));
        eventually_blocking("the set is fetched", LONG, status, |status| *status == Status::Ok);
        set
    }

    /// The status of a change with a token of this `kid`.
    fn status(&self, algorithm: &str, kid: &Value) -> Status {
        let mut header = json!({ "alg": algorithm });
        if !kid.is_null() {
            header["kid"] = kid.clone();
        }
        change(&self.0, &token(algorithm, &header, &claims(json!({}))))
    }
}

fn with(mut key: Value, name: &str, value: Value) -> Value {
    key[name] = value;
    key
}

#[test]
fn the_kid_selects_a_key_of_the_set_only() {
    for algorithm in ["RS256", "ES256", "EdDSA"] {
        let others = ["RS256", "ES256", "EdDSA"].into_iter().filter(|other| *other != algorithm);
        let mut keys: Vec<_> = others.map(|other| jwk(other, "elsewhere")).collect();
        keys.push(with(jwk(algorithm, "own"), "alg", json!(algorithm)));
        let set = WithSet::new(algorithm, &keys, "own");
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
        let set = WithSet::new("ES256", &[jwk("ES256", "other"), unfit.clone()], "other");
        assert_eq!(set.status("ES256", &json!("own")), Status::Forbidden, "{unfit}");
    }
    let used = with(with(own, "use", json!("sig")), "key_ops", json!(["verify"]));
    WithSet::new("ES256", &[used], "own");
}

#[test]
fn a_token_without_a_kid_is_refused_while_there_are_several_keys() {
    let set = WithSet::new("EdDSA", &[jwk("EdDSA", "one"), jwk("EdDSA", "two")], "two");
    assert_eq!(set.status("EdDSA", &Value::Null), Status::Forbidden);
}
