use std::time::Duration;

use figment::Figment;
use rocket::http::{Header, Status};
use serde_json::{Value, json};
use siaga::auth::KeyDigest;

use crate::fixture;
use crate::independent::signing::{base64, claims, now, token_by_secret};
use crate::suite::support::{ADMIN_KEY, KEY, OTHER_KEY, SECRET, Siaga, figment, json_of, key};

fn token(change: Value) -> String {
    token_by_secret(SECRET.as_bytes(), &json!({ "alg": "HS256", "typ": "JWT" }), &claims(change))
}

fn change_with_token(siaga: &Siaga, token: &str) -> Status {
    change(siaga, &[("Authorization", &format!("Bearer {token}"))])
}

pub(crate) fn change(siaga: &Siaga, headers: &[(&str, &str)]) -> Status {
    let mut request = siaga.client.put("/v1/floods/5").body(r#"{"state":2}"#);
    for (name, value) in headers {
        request.add_header(Header::new((*name).to_owned(), (*value).to_owned()));
    }
    let response = request.dispatch();
    let status = response.status();
    let body = json_of(response);
    if status == Status::Forbidden {
        assert_eq!((&body["statusCode"], &body["error"]), (&json!(403), &json!("Forbidden")));
        let message = body["message"].as_str().unwrap();
        assert!(message.contains("a valid credential"), "{message}");
    }
    status
}

#[test]
fn a_key_or_a_token_that_allows_it_is_accepted_in_either_header() {
    let siaga = Siaga::start();
    let token = token(json!({}));
    let bearer = format!("Bearer {token}");
    for headers in [
        &[("X-Api-Key", KEY)][..],
        &[("x-api-key", ADMIN_KEY)],
        &[("X-Api-Key", &token)],
        &[("Authorization", &bearer)],
        &[("authorization", &bearer.replace("Bearer", "bearer"))],
        &[("Authorization", &bearer), ("X-Api-Key", &token)],
    ] {
        assert_eq!(change(&siaga, headers), Status::Ok, "{headers:?}");
    }
}

#[test]
fn every_fault_of_a_credential_is_the_same_403() {
    let siaga = Siaga::start();
    let good = token(json!({}));
    let bearer = |token: &str| format!("Bearer {token}");
    let (header, rest) = good.split_once('.').unwrap();
    let (_, signature) = rest.split_once('.').unwrap();
    let unsigned =
        format!("{}.{}.", base64(r#"{"alg":"none","typ":"JWT"}"#), base64(claims(json!({})).to_string()));
    let forged = format!("{header}.{}.{signature}", base64(claims(json!({ "scope": "admin" })).to_string()));
    for (headers, why) in [
        (vec![], "no credential"),
        (vec![("X-Api-Key", "wrong".to_owned())], "an unknown key"),
        (vec![("X-Api-Key", OTHER_KEY.to_owned())], "a key without the scope"),
        (vec![("X-Api-Key", KeyDigest::new(KEY).to_hex())], "the hash of a key"),
        (vec![("X-Api-Key", KEY.to_owned()), ("X-Api-Key", KEY.to_owned())], "two keys"),
        (vec![("X-Api-Key", KEY.to_owned()), ("Authorization", bearer(&good))], "different credentials"),
        (vec![("Authorization", bearer(KEY))], "a key as token"),
        (vec![("Authorization", "Basic dTpw".to_owned())], "another scheme"),
        (vec![("Authorization", bearer(&unsigned))], "algorithm none"),
        (vec![("Authorization", bearer(&forged))], "changed claims"),
    ] {
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        assert_eq!(change(&siaga, &headers), Status::Forbidden, "{why}");
    }
    for claims in [
        json!({ "exp": null }),
        json!({ "sub": "a\u{0}b" }),
        json!({ "scope": "floods:writer Floods:Write" }),
        json!({ "scope": { "floods:write": true } }),
    ] {
        assert_eq!(change_with_token(&siaga, &token(claims.clone())), Status::Forbidden, "{claims}");
    }
    let area = siaga.result("/v1/floods/states")[0].clone();
    assert_eq!(area["last_updated"], "2016-12-19T13:41:35.000Z", "nothing changed");
}

#[test]
fn a_token_is_accepted_within_the_configured_leeway() {
    for (leeway, times, expected) in [
        ("30s", json!({ "exp": now() - 29 }), Status::Ok),
        ("30s", json!({ "exp": now() - 31 }), Status::Forbidden),
        ("30s", json!({ "exp": now() as f64 + 0.5 }), Status::Ok),
        ("30s", json!({ "nbf": now() + 30 }), Status::Ok),
        ("30s", json!({ "nbf": now() + 31 }), Status::Forbidden),
        ("5m", json!({ "exp": now() - 299 }), Status::Ok),
        ("0s", json!({ "exp": now() - 1 }), Status::Forbidden),
    ] {
        let siaga = Siaga::with_setting("siaga.auth.jwt.leeway", leeway);
        assert_eq!(change_with_token(&siaga, &token(times.clone())), expected, "{leeway}: {times}");
    }
    let siaga = Siaga::start();
    assert_eq!(change_with_token(&siaga, &token(json!({ "exp": now() - 29 }))), Status::Ok, "the default");
    siaga.clock.set(fixture::now().saturating_add(Duration::from_secs(91)));
    assert_eq!(
        change_with_token(&siaga, &token(json!({}))),
        Status::Forbidden,
        "by the clock of the service"
    );
}

#[test]
fn issuer_and_audience_are_checked_once_configured() {
    let figment = figment()
        .merge(("siaga.auth.jwt.issuer", "https://id.example.org"))
        .merge(("siaga.auth.jwt.audience", "siaga"));
    let strict = Siaga::with(figment, |builder| builder);
    let lax = Siaga::start();
    for (claims, expected) in [
        (json!({ "iss": "https://id.example.org", "aud": "siaga" }), Status::Ok),
        (json!({ "iss": "https://id.example.org", "aud": ["x", "siaga"] }), Status::Ok),
        (json!({ "iss": "https://id.example.org" }), Status::Forbidden),
        (json!({ "aud": "siaga" }), Status::Forbidden),
        (json!({ "iss": "https://id.example.org/", "aud": "siaga" }), Status::Forbidden),
        (json!({ "iss": "https://id.example.org", "aud": "siaga2" }), Status::Forbidden),
    ] {
        assert_eq!(change_with_token(&strict, &token(claims.clone())), expected, "{claims}");
        assert_eq!(change_with_token(&lax, &token(claims.clone())), Status::Ok, "{claims}");
    }
}

#[test]
fn without_configured_credentials_nobody_may_write() {
    let figment = Figment::from(rocket::Config::debug_default())
        .merge(("log_level", "off"))
        .merge(("siaga.store", "fixture"))
        .merge(("siaga.images.signing_key", "a key for uploads"));
    let siaga = Siaga::with(figment, |builder| builder);
    let bearer = format!("Bearer {}", token(json!({})));
    for headers in [&[][..], &[("X-Api-Key", KEY)], &[("Authorization", &bearer)]] {
        assert_eq!(change(&siaga, headers), Status::Forbidden);
    }
}

#[test]
fn an_open_route_rejects_a_bad_credential_and_accepts_a_good_one_of_any_scope() {
    let siaga = Siaga::start();
    for route in ["/v1/floods", "/v1/floods/states", "/v1/floods/archive", "/v1/floods/timeseries"] {
        let address = format!("{route}?start=2016-12-14T00:00:00Z&end=2016-12-14T00:00:00Z");
        for (text, expected) in [("wrong", Status::Forbidden), (OTHER_KEY, Status::Ok)] {
            let response = siaga.client.get(address.as_str()).header(key(text)).dispatch();
            assert_eq!(response.status(), expected, "{route} {text}");
        }
    }
}

#[test]
fn an_empty_header_and_a_bearer_without_a_token_count_as_no_credential() {
    let siaga = Siaga::start();
    for (name, value) in [
        ("X-Api-Key", ""),
        ("Authorization", ""),
        ("Authorization", "Bearer"),
        ("Authorization", "Bearer "),
        ("Authorization", "Bearer null"),
        ("Authorization", "Bearer undefined"),
    ] {
        let read = siaga.client.get("/v1/floods/states").header(Header::new(name, value)).dispatch();
        assert_eq!(read.status(), Status::Ok, "{name}: {value:?}");
        assert_eq!(change(&siaga, &[(name, value)]), Status::Forbidden, "{name}: {value:?}");
        let bearer = format!("Bearer {}", token(json!({})));
        let other = if name == "X-Api-Key" { ("Authorization", &*bearer) } else { ("X-Api-Key", KEY) };
        let both = change(&siaga, &[(name, value), other]);
        assert_eq!(both, Status::Ok, "{name}: {value:?} beside a credential");
    }
    for (name, value) in [("X-Api-Key", "null"), ("Authorization", "Bearer nil"), ("Authorization", "Basic")]
    {
        let read = siaga.client.get("/v1/floods/states").header(Header::new(name, value)).dispatch();
        assert_eq!(read.status(), Status::Forbidden, "{name}: {value:?}");
    }
}

#[test]
fn the_credential_is_checked_before_the_rest_of_the_request() {
    let siaga = Siaga::start();
    let response = siaga.client.put("/v1/floods/x?username=%FF").body("rubbish").dispatch();
    assert_eq!(response.status(), Status::Forbidden);
    assert_eq!(siaga.client.delete("/v1/floods/3").dispatch().status(), Status::Forbidden);
}
