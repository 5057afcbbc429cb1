//! Issued tokens and verification keys.

use crate::{out, refusal, siaga};

const SECRET: &str = "SIAGA_AUTH__JWT__SECRET";
const PUBLIC_KEY: &str = "SIAGA_AUTH__JWT__PUBLIC_KEY";
const JWKS_URL: &str = "SIAGA_AUTH__JWT__JWKS_URL";
const P256: &str = include_str!("../http/keys/p256.pem");
const SET: &str = "https://id.example/jwks.json";

#[test]
fn a_token_is_printed_alone_and_needs_a_secret() {
    let arguments = ["token", "--sub", "ops", "--scope", "floods:write cards:read", "--ttl", "1h"];
    let output = siaga(&arguments, &[(SECRET, "0042")]);
    let text = out(&output);
    assert_eq!((text.lines().count(), text.trim().split('.').count()), (1, 3), "{output:?}");
    let error = refusal(&siaga(&arguments, &[]));
    assert!(error.contains("siaga.auth.jwt.secret"), "{error}");
}

#[test]
fn tokens_need_exactly_one_verification_key_that_fits_the_algorithm() {
    let (rsa, weak, p384) = (
        include_str!("../http/keys/rsa.pem"),
        include_str!("../http/keys/rsa1024.pem"),
        include_str!("../http/keys/p384.pem"),
    );
    let certificate = P256.replace("PUBLIC KEY", "CERTIFICATE");
    for (algorithm, given, path, allowed) in [
        ("RS256", &[(SECRET, "s")][..], "algorithm: ", "must be HS256 with siaga.auth.jwt.secret"),
        ("ES256", &[(SECRET, "s"), (PUBLIC_KEY, P256)], "public_key: ", "only one of"),
        ("HS256", &[(SECRET, "s"), (JWKS_URL, SET)], "jwks_url: ", "only one of"),
        ("ES256", &[(PUBLIC_KEY, P256), (JWKS_URL, SET)], "jwks_url: ", "only one of"),
        ("RS256", &[(PUBLIC_KEY, P256)], "public_key: ", "must be an RSA key of 2048 to 8192 bits"),
        ("RS256", &[(PUBLIC_KEY, weak)], "public_key: ", "must be an RSA key of 2048 to 8192 bits"),
        ("ES256", &[(PUBLIC_KEY, p384)], "public_key: ", "must be a key on the curve P-256"),
        ("EdDSA", &[(PUBLIC_KEY, rsa)], "public_key: ", "must be a key of Ed25519"),
        ("ES256", &[(PUBLIC_KEY, &certificate)], "public_key: ", "-----BEGIN PUBLIC KEY-----"),
        ("ES256", &[(PUBLIC_KEY, "nowhere.pem")], "public_key: ", "the path of one"),
    ] {
        let variables = [&[("SIAGA_AUTH__JWT__ALGORITHM", algorithm)], given].concat();
        let error = refusal(&siaga(&["check"], &variables));
        assert!(error.starts_with(&format!("siaga: siaga.auth.jwt.{path}")), "{algorithm}: {error}");
        assert!(error.contains(allowed), "{algorithm}: {error}");
    }
}

#[test]
fn a_public_key_alone_cannot_issue_tokens() {
    let variables = [("SIAGA_AUTH__JWT__ALGORITHM", "ES256"), (PUBLIC_KEY, P256)];
    assert_eq!(siaga(&["check"], &variables).status.code(), Some(0));
    let error = refusal(&siaga(&["token", "--sub", "ops", "--scope", "admin"], &variables));
    assert!(error.starts_with("siaga: siaga.auth.jwt.secret: needed to sign a token"), "{error}");
}
