//! Refused values of keys.

use figment::Figment;
use figment::value::Value as Figure;
use serde_json::json;
use siaga::Builder;

use crate::minimal::{extracted, place, tables};
use crate::page;

#[test]
fn a_value_of_the_wrong_type_is_refused_with_the_full_path_of_its_key() {
    for row in page::of_the_service() {
        let is_list = ["auth.api_keys.", "auth.oidc.grants."].iter().any(|list| row.key.starts_with(list));
        let path = row.key.replace("<>", if is_list { "0" } else { "x" });
        let mut values = tables();
        *place(&mut values, &row.key) = json!([[["neither text nor number"]]]);
        let error = extracted(&values).map(drop).unwrap_err().to_string();
        assert!(error.starts_with(&format!("siaga.{path}")), "{path}: {error}");
        assert!(error.contains("must be"), "{path}: {error}");
    }
}

/// The error of a startup with a value for a key, read like an environment variable.
fn refused(key: &str, value: &str) -> String {
    let is_structured = value.starts_with(['[', '{']);
    let value = if is_structured { value.parse().unwrap() } else { Figure::from(value) };
    let figment = Figment::from(rocket::Config::default()).merge((format!("siaga.{key}"), value));
    let error = Builder::default().figment(figment).check().unwrap_err().to_string();
    assert_eq!(error.lines().count(), 1, "{error}");
    error
}

/// Asserts that each value is refused with the path of its key and a part of the message.
fn assert_refused(cases: &[(&str, &str, &str)]) {
    for (key, value, allowed) in cases {
        let error = refused(key, value);
        assert!(error.starts_with(&format!("siaga.{key}: ")) && error.contains(allowed), "{key}: {error}");
    }
}

#[test]
fn an_invalid_value_is_refused_with_its_path_and_the_allowed_values() {
    assert_refused(&[
        ("stroe", "memory", "unknown key; did you mean store? allowed are store, "),
        ("postgres.migrate", "perhaps", "true or false"),
        ("shutdown.delay", "-1", "such as 10s"),
        ("log.level", "loud", "one of [off, error, warn, info, debug, trace]"),
        ("log.format", "xml", "one of [text, json]"),
        ("metrics.token", "", "must not be empty"),
        ("webhooks.push", r#"{url="https://a.example/",event="report"}"#, "another name than push"),
        ("base_url", "example.org", "https://example.org/v1"),
        ("time_zone", "Asia/Batavia", "such as Asia/Jakarta"),
        ("licence.url", "ftp://example.org/", "such as https://example.org/licence"),
        ("limits.body", "big", "byte unit"),
        ("limits.body", "0", "more than 0"),
        ("limits.timeout", "0s", "more than 0"),
        ("limits.max_period", "0s", "more than 0"),
        ("limits.chunk", "0", "more than 0"),
        ("limits.chunk", "17MiB", "at most 16MiB"),
        ("cache.size", "100KiB", "0 or at least 1MiB"),
        ("quota.per_second", "-1", "from 0, which allows any number, to"),
        ("quota.per_day", "many", "from 0, which allows any number, to"),
        ("quota.burst", "0", "from 1 to"),
        ("quota.credential.burst", "0", "from 1 to"),
        ("quota.trusted_proxies", "10.0.0.1", "must be a list"),
        ("site.logo", "README.md", "must be a PNG or SVG file"),
        ("site.icon", "README.md", "must be a PNG file of 512 × 512 pixels"),
        ("push.services", r#"["Push.example"]"#, "in lower case"),
        ("https.redirect_from", "0", "from 1 to 65535"),
        ("https.redirect_from", "8080", "begins with https://"),
    ]);
}

#[test]
fn an_invalid_value_of_images_areas_or_formats_is_refused_with_its_path_and_the_allowed_values() {
    let formats = "one of [topojson, geojson, cap, atom, rss, html]";
    let schemes = "one of [file:///…, memory:///, s3://bucket/prefix";
    assert_refused(&[
        ("images.url", "images", "such as file:///srv/siaga"),
        ("images.url", "ftp://host/images", schemes),
        ("images.url", "s3://id:hush@bucket/x", "without credentials"),
        ("images.public_url", "images", "https://example.org/v1"),
        ("images.signing_key", "", "must not be empty"),
        ("images.max_bytes", "0", "more than 0"),
        ("images.max_uploads", "0", "from 1 to"),
        ("images.max_side", "65536", "from 1 to 65535"),
        ("images.options.aws_region", "x", "no such option"),
        ("formats.enabled", "[\"kml\"]", formats),
        ("formats.cap.sender", "a b", "must not be empty or contain blanks"),
        ("formats.cap.expires_after", "300000y", "1s to 366d"),
        ("formats.cap.web", "not an address", "https://example.org/"),
    ]);
}

#[test]
fn an_invalid_value_of_credentials_is_refused_with_its_path_and_the_allowed_values() {
    assert_refused(&[("auth.jwt.secret", "", "must not be empty"), ("auth.jwt.algorithm", "none", "HS256")]);
    let zeros = "0".repeat(64);
    for (key, path, allowed) in [
        (format!("{{name=\"a\",sha256=\"{zeros}\",scopes=[],per_day=0}}"), "per_day", "must be a nonzero"),
        (format!("{{name=\"a\",sha256=\"{zeros}\",scopes=[\"root\"]}}"), "scopes.0", "floods:write"),
        ("{name=\"a\",sha256=\"b\",scopes=[]}".to_owned(), "sha256", "64 hexadecimal digits"),
        ("{name=\"a\",expires=\"soon\"}".to_owned(), "expires", "such as 2027-01-31T00:00:00Z"),
    ] {
        let error = refused("auth.api_keys", &format!("[{key}]"));
        let path = format!("siaga.auth.api_keys.0.{path}: ");
        assert!(error.starts_with(&path) && error.contains(allowed), "{key}: {error}");
    }
}

#[test]
fn an_invalid_setting_of_logins_is_refused_with_its_path_and_the_allowed_values() {
    let grants = |grants: &str| format!("grants={grants}");
    let good = "[{group=\"a\",scopes=[\"admin\"]}]";
    for (setting, path, allowed) in [
        ("issuer=\"http://id.example\"".to_owned(), "issuer", "begins with https://"),
        ("issuer=\"https://id.example/?a=b\"".to_owned(), "issuer", "no query"),
        ("client_id=\"\"".to_owned(), "client_id", "1 to 255 characters"),
        ("client_secret=\"\"".to_owned(), "client_secret", "must not be empty"),
        ("client_secret_file=\"/dev/null\"".to_owned(), "client_secret", "only one of"),
        ("scopes=[\"profile\"]".to_owned(), "scopes", "openid"),
        ("scopes=[\"openid\",\"a b\"]".to_owned(), "scopes", "words"),
        ("name_claim=\"\"".to_owned(), "name_claim", "1 to 255 characters"),
        ("session=\"13h\"".to_owned(), "session", "from 1m to 12h"),
        ("session=\"0s\"".to_owned(), "session", "from 1m to 12h"),
        ("ca_file=\"/no/such/file\"".to_owned(), "ca_file", "/no/such/file: "),
        ("ca_file=\"/dev/null\"".to_owned(), "ca_file", "no certificate"),
        (grants("[]"), "grants", "must not be empty"),
        (grants("[{group=\"\",scopes=[\"admin\"]}]"), "grants.0.group", "1 to 255 characters"),
        (grants("[{group=\"a\",scopes=[]}]"), "grants.0.scopes", "must not be empty"),
        (grants("[{group=\"a\",scopes=[\"root\"]}]"), "grants.0.scopes.0", "floods:write"),
        (grants("[{group=\"a\",scopes=[\"admin\"],areas={}}]"), "grants.0.areas", ""),
    ] {
        let (name, _) = setting.split_once('=').unwrap();
        let others = [
            ("issuer", "issuer=\"https://id.example\""),
            ("client_id", "client_id=\"siaga\""),
            ("client_secret", "client_secret=\"a secret\""),
            ("grants", &grants(good)),
        ];
        let others = others.iter().filter(|(other, _)| *other != name).map(|(_, text)| *text);
        let error = refused("auth.oidc", &format!("{{{setting},{}}}", others.collect::<Vec<_>>().join(",")));
        assert!(error.starts_with(&format!("siaga.auth.oidc.{path}: ")), "{setting}: {error}");
        assert!(error.contains(allowed), "{setting}: {error}");
    }
    let figment = Figment::from(rocket::Config::default()).merge(("siaga.desk.keys", false));
    let error = Builder::default().figment(figment).check().unwrap_err().to_string();
    assert!(error.starts_with("siaga.desk.keys: must be true without siaga.auth.oidc"), "{error}");
}

#[test]
fn a_value_that_contradicts_others_is_refused_with_the_path_of_the_key_to_change() {
    let keys = |keys: [(&str, &str); 2]| {
        let entry = |(name, key)| {
            let sum = siaga::auth::KeyDigest::new(key).to_hex();
            format!("{{name=\"{name}\",sha256=\"{sum}\",scopes=[\"admin\"]}}")
        };
        format!("[{}]", keys.map(entry).join(","))
    };
    let [empty, same_name, same_key] =
        [[("a", "x"), ("b", "")], [("a", "x"), ("a", "y")], [("a", "x"), ("b", "x")]].map(keys);
    let agency = "{sender=\"a b\",sender_name=\"a\"}";
    let proxies = "[\"10.0.0.0/8\",\"proxy\"]";
    for (key, value, path, allowed) in [
        ("store", "oracle", "siaga.store ", "one of [memory, file, postgres]"),
        ("store", "postgres", "databases.siaga.url: ", "DATABASE_URL"),
        ("dataset", "no/such/folder", "siaga.dataset must be ", "demo, empty or a folder"),
        (
            "areas.supported.floods.city",
            "[\"jbd\"]",
            "siaga.areas.supported is no longer read",
            "areas.cities",
        ),
        ("formats.topojsn.quantization", "5", "siaga.formats.topojsn: unknown key", "mean topojson?"),
        ("formats.default", "kml", "siaga.formats.default ", "enabled [topojson, geojson, cap, atom,"),
        ("formats.enabled", "[\"cap\"]", "siaga.formats.", "topojson"),
        ("formats.cap.agencies.jbd", agency, "siaga.formats.cap.agencies.jbd.sender: ", "must not be empty"),
        ("feeds.partner.disaster_types", "[\"storm\"]", "siaga.feeds.partner.disaster_types.0: ", "[flood"),
        ("quota.trusted_proxies", proxies, "siaga.quota.trusted_proxies.1: ", "such as 10.0.0.0/8"),
        ("auth.api_keys", &empty, "siaga.auth.api_keys.1.sha256: ", "SHA-256 of an empty text"),
        ("auth.api_keys", &same_name, "siaga.auth.api_keys.1.name: ", "name of api_keys.0, \"a\""),
        ("auth.api_keys", &same_key, "siaga.auth.api_keys.1.sha256: ", "digest of api_keys.0, \"a\""),
        ("auth.jwt.leeway", "1m", "siaga.auth.jwt.secret: missing", ""),
        ("auth.jwt.algorithm", "RS256", "siaga.auth.jwt.public_key: missing", "siaga.auth.jwt.jwks_url"),
        ("auth.jwt.public_key", "key.pem", "siaga.auth.jwt.algorithm: ", "[RS256, ES256, EdDSA]"),
        ("auth.jwt.jwks", "keys.json", "siaga.auth.jwt.jwks is no longer read; remove it", "jwt.jwks_url"),
        ("auth.jwt.jwks_url", "https://id.example/k", "siaga.auth.jwt.algorithm: ", "[RS256, ES256, EdDSA]"),
    ] {
        let error = refused(key, value);
        assert!(error.starts_with(path) && error.contains(allowed), "{key}: {error}");
    }
}

#[test]
fn the_rules_of_gauges_are_taken_as_text_too_and_wrong_ones_are_refused() {
    for (key, value) in [("spike", "12.5"), ("flat", "24"), ("every", "10m"), ("keep", "400d"), ("keep", "0")]
    {
        let figment = Figment::from(rocket::Config::default()).merge((format!("siaga.gauges.{key}"), value));
        Builder::default().figment(figment).check().unwrap();
    }
    assert_refused(&[
        ("gauges.spike", "fast", "must be a number"),
        ("gauges.spike", "0", "above 0"),
        ("gauges.flat", "1.5", "must be a number"),
        ("gauges.flat", "169", "from 1 to 168"),
        ("gauges.every", "30s", "from 1m to 24h"),
        ("gauges.keep", "7d", "at least 32d"),
    ]);
}
