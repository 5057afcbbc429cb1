//! Tokens verified by a public key, and forgeries.

use base64::prelude::{BASE64_STANDARD, Engine};
use rocket::http::Status;
use serde_json::{Value, json};

use crate::independent::authentication;
use crate::independent::signing::{
    ED25519_PEM, P256_PEM, PUBLIC, RSA_PEM, base64, claims, jwk, token, token_by_secret,
};
use crate::suite::support::{SECRET, Siaga, figment_without_tokens};

/// A service that only accepts tokens of this algorithm and key.
fn with_key(algorithm: &str, pem: &str) -> Siaga {
    let jwt = json!({ "algorithm": algorithm, "public_key": pem });
    Siaga::with(figment_without_tokens().merge(("siaga.auth.jwt", jwt)), |builder| builder)
}

pub(crate) fn change(siaga: &Siaga, token: &str) -> Status {
    authentication::change(siaga, &[("Authorization", &format!("Bearer {token}"))])
}

fn header(algorithm: &str, more: Value) -> Value {
    let mut header = json!({ "alg": algorithm, "typ": "JWT" });
    header.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    header
}

fn valid_token(algorithm: &str) -> String {
    token(algorithm, &header(algorithm, json!({})), &claims(json!({})))
}

/// The bytes between the lines of a PEM.
fn der(pem: &str) -> Vec<u8> {
    let text: String = pem.lines().filter(|line| !line.starts_with("---")).collect();
    BASE64_STANDARD.decode(text).unwrap()
}

#[test]
fn a_token_is_accepted_by_the_public_key_of_each_algorithm() {
    for (algorithm, pem) in PUBLIC {
        let siaga = with_key(algorithm, pem);
        assert_eq!(change(&siaga, &valid_token(algorithm)), Status::Ok, "{algorithm}");
        let named = token(algorithm, &header(algorithm, json!({ "kid": "any" })), &claims(json!({})));
        assert_eq!(change(&siaga, &named), Status::Ok, "{algorithm}");
    }
}

#[test]
fn a_public_key_can_be_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("issuer.pem");
    std::fs::write(&path, P256_PEM).unwrap();
    assert_eq!(change(&with_key("ES256", path.to_str().unwrap()), &valid_token("ES256")), Status::Ok);
}

#[test]
fn the_algorithm_in_a_token_is_ignored() {
    for (algorithm, pem) in PUBLIC {
        let siaga = with_key(algorithm, pem);
        let claims = claims(json!({}));
        // The public key, which everybody has, used as the HS256 secret.
        for secret in [pem.as_bytes(), pem.trim().as_bytes(), &der(pem), base64(der(pem)).as_bytes(), b""] {
            for said in ["HS256", algorithm] {
                let forged = token_by_secret(secret, &header(said, json!({})), &claims);
                assert_eq!(change(&siaga, &forged), Status::Forbidden, "{algorithm} as {said}");
            }
        }
        for said in ["none", "nOnE", "", "HS256", "PS256", "ES384", "rs256"] {
            let swapped = token(algorithm, &header(said, json!({})), &claims);
            assert_eq!(change(&siaga, &swapped), Status::Forbidden, "{algorithm} as {said}");
        }
        for (other, _) in PUBLIC.into_iter().filter(|(other, _)| *other != algorithm) {
            assert_eq!(change(&siaga, &valid_token(other)), Status::Forbidden, "{other} for {algorithm}");
            let swapped = token(other, &header(algorithm, json!({})), &claims);
            assert_eq!(change(&siaga, &swapped), Status::Forbidden, "{other} as {algorithm}");
        }
        let nameless = token(algorithm, &json!({ "typ": "JWT" }), &claims);
        assert_eq!(change(&siaga, &nameless), Status::Forbidden, "{algorithm}");
    }
    let by_secret = Siaga::start();
    for (algorithm, _) in PUBLIC {
        assert_eq!(change(&by_secret, &valid_token(algorithm)), Status::Forbidden, "{algorithm} for HS256");
        let swapped = token_by_secret(SECRET.as_bytes(), &header(algorithm, json!({})), &claims(json!({})));
        assert_eq!(change(&by_secret, &swapped), Status::Forbidden, "HS256 as {algorithm}");
    }
}

#[test]
fn a_key_inside_a_token_is_not_used() {
    let siaga = with_key("ES256", P256_PEM);
    for brought in [
        json!({ "jwk": jwk("EdDSA", "own") }),
        json!({ "jku": "http://127.0.0.1:1/jwks.json" }),
        json!({ "x5u": "http://127.0.0.1:1/chain.pem" }),
        json!({ "x5c": [base64(der(ED25519_PEM))] }),
    ] {
        // Signed by the embedded key, it is rejected; signed by the configured key, the embedded one is ignored.
        let forged = token("EdDSA", &header("EdDSA", brought.clone()), &claims(json!({})));
        assert_eq!(change(&siaga, &forged), Status::Forbidden, "{brought}");
        let swapped = token("EdDSA", &header("ES256", brought.clone()), &claims(json!({})));
        assert_eq!(change(&siaga, &swapped), Status::Forbidden, "{brought}");
        let good = token("ES256", &header("ES256", brought.clone()), &claims(json!({})));
        assert_eq!(change(&siaga, &good), Status::Ok, "{brought}");
    }
    for critical in [json!(["exp"]), json!([])] {
        let token = token("ES256", &header("ES256", json!({ "crit": critical })), &claims(json!({})));
        assert_eq!(change(&siaga, &token), Status::Forbidden, "{critical}");
    }
}

#[test]
fn a_signature_that_was_touched_is_refused() {
    for (algorithm, pem) in PUBLIC {
        let siaga = with_key(algorithm, pem);
        let good = valid_token(algorithm);
        let (signed, signature) = good.rsplit_once('.').unwrap();
        let (header, payload) = signed.split_once('.').unwrap();
        let escalated = base64(claims(json!({ "scope": "admin" })).to_string());
        let first = if signature.starts_with('A') { "B" } else { "A" };
        for touched in [
            signed.to_owned(),
            format!("{signed}."),
            format!("{signed}.{first}{}", &signature[1..]),
            format!("{signed}.{signature}AAAA"),
            format!("{signed}.{signature}=="),
            format!("{signed}.{}", base64([0u8; 64])),
            format!("{header}.{escalated}.{signature}"),
            format!(".{payload}.{signature}"),
            format!("{header}..{signature}"),
        ] {
            assert_eq!(change(&siaga, &touched), Status::Forbidden, "{algorithm} {touched:.120}");
        }
        // The unused bits of the last base64 digit must be zero.
        let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        let last = digits.iter().position(|&digit| Some(&digit) == signature.as_bytes().last()).unwrap();
        let other = char::from(digits[last | 1]);
        let touched = format!("{signed}.{}{other}", &signature[..signature.len() - 1]);
        assert_eq!(change(&siaga, &touched), Status::Forbidden, "{algorithm}");
        assert_eq!(change(&siaga, &good), Status::Ok, "{algorithm}");
    }
}

#[test]
fn a_huge_token_is_rejected_before_it_is_parsed() {
    let siaga = with_key("RS256", RSA_PEM);
    let long = |bytes: usize| {
        let filled = claims(json!({ "filling": "x".repeat(bytes) }));
        token("RS256", &header("RS256", json!({})), &filled)
    };
    assert_eq!(change(&siaga, &long(8_000)), Status::Ok);
    assert_eq!(change(&siaga, &long(13_000)), Status::Forbidden);
}
