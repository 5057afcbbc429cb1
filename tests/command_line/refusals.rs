//! Keys that are wrong.

use crate::{refusal, siaga, siaga_in};

/// Asserts that a variable of this value stops what reads it, naming a path and what is allowed.
fn assert_stops(name: &str, value: &str, path: &str, allowed: &str) {
    let error = refusal(&siaga(&["check"], &[(name, value)]));
    assert!(error.starts_with(&format!("siaga: {path}")), "{name}: {error}");
    assert!(error.contains(allowed), "{name}: {error}");
    assert_eq!(refusal(&siaga(&["serve"], &[(name, value)])), error);
}

#[test]
fn a_wrong_key_of_images_stops_with_its_path_and_what_is_allowed() {
    for (name, value, path, allowed) in [
        ("SIAGA_IMAGES__URL", "images", "siaga.images.url: ", "such as file:///srv/siaga"),
        (
            "SIAGA_IMAGES__URL",
            "ftp://host/images",
            "siaga.images.url: ",
            "one of [file:///…, memory:///, s3://bucket/prefix",
        ),
        (
            "SIAGA_IMAGES__URL",
            "https://example.org/",
            "siaga.images.url: ",
            "one of [file:///…, memory:///, s3://bucket/prefix",
        ),
        ("SIAGA_IMAGES__URL", "s3://id:hush@bucket/x", "siaga.images.url: ", "without credentials"),
        ("SIAGA_IMAGES__PUBLIC_URL", "images", "siaga.images.public_url: ", "https://example.org/v1"),
        ("SIAGA_IMAGES__SIGNING_KEY", "", "siaga.images.signing_key: ", "must not be empty"),
        ("SIAGA_IMAGES__MAX_BYTES", "0", "siaga.images.max_bytes: ", "more than 0"),
        ("SIAGA_IMAGES__MAX_BYTES", "big", "siaga.images.max_bytes: ", "byte unit"),
        ("SIAGA_IMAGES__MAX_UPLOADS", "0", "siaga.images.max_uploads: ", "from 1 to"),
        ("SIAGA_IMAGES__MAX_SIDE", "0", "siaga.images.max_side: ", "from 1 to 65535"),
        ("SIAGA_IMAGES__MAX_SIDE", "65536", "siaga.images.max_side: ", "from 1 to 65535"),
        ("SIAGA_IMAGES__OPTIONS__AWS_REGION", "x", "siaga.images.options.aws_region: ", "no such option"),
    ] {
        assert_stops(name, value, path, allowed);
    }
}

#[test]
fn a_wrong_key_stops_with_its_path_and_what_is_allowed() {
    for (name, value, path, allowed) in [
        ("SIAGA_STROE", "memory", "siaga.stroe: unknown key", "store"),
        ("SIAGA_STORE", "oracle", "siaga.store ", "one of [memory, file, postgres]"),
        ("SIAGA_STORE", "postgres", "databases.siaga.url: ", "DATABASE_URL"),
        ("SIAGA_POSTGRES__MIGRATE", "perhaps", "siaga.postgres.migrate: ", "bool"),
        ("SIAGA_POSTGRES__WAIT", "soon", "siaga.postgres.wait: ", "such as 10s"),
        ("SIAGA_LOG__LEVEL", "loud", "siaga.log.level: ", "one of [off, error, warn, info, debug, trace]"),
        ("SIAGA_LOG__FORMAT", "xml", "siaga.log.format: ", "one of [text, json]"),
        ("SIAGA_LOG__ACCESS", "perhaps", "siaga.log.access: ", "bool"),
        ("SIAGA_LOG__FILE", "log", "siaga.log.file: unknown key", "format, level, access"),
        ("SIAGA_METRICS__ENABLED", "perhaps", "siaga.metrics.enabled: ", "bool"),
        ("SIAGA_METRICS__TOKEN", "", "siaga.metrics.token: ", "must not be empty"),
        ("SIAGA_SHUTDOWN__GRACE", "soon", "siaga.shutdown.grace: ", "such as 10s"),
        ("SIAGA_SHUTDOWN__DELAY", "-1", "siaga.shutdown.delay: ", "such as 10s"),
        ("SIAGA_DATASET", "no/such/folder", "siaga.dataset must be ", "demo, empty or a folder"),
        ("SIAGA_BASE_URL", "example.org", "siaga.base_url: ", "https://example.org/v1"),
        ("SIAGA_TIME_ZONE", "Asia/Batavia", "siaga.time_zone: ", "such as Asia/Jakarta"),
        ("SIAGA_LIMITS__BODY", "big", "siaga.limits.body: ", "byte unit"),
        ("SIAGA_LIMITS__BODY", "0", "siaga.limits.body: ", "more than 0"),
        ("SIAGA_LIMITS__TIMEOUT", "0s", "siaga.limits.timeout: ", "more than 0"),
        ("SIAGA_LIMITS__CHUNK", "0", "siaga.limits.chunk: ", "more than 0"),
        ("SIAGA_LIMITS__CHUNK", "17MiB", "siaga.limits.chunk: ", "at most 16MiB"),
        ("SIAGA_CACHE__SIZE", "much", "siaga.cache.size: ", "byte unit"),
        ("SIAGA_CACHE__SIZE", "100KiB", "siaga.cache.size: ", "0 or at least 1MiB"),
        ("ROCKET_PORT", "abc", "port: ", "u16"),
        ("SIAGA_LIMITS__MAX_PERIOD", "-5", "siaga.limits.max_period: ", "such as 10s"),
        ("SIAGA_LIMITS__MAX_PERIOD", "0s", "siaga.limits.max_period: ", "more than 0"),
        ("SIAGA_LIMITS__TIMEOUT", "soon", "siaga.limits.timeout: ", "such as 10s"),
        ("SIAGA_LIMITS__CHUNK", "big", "siaga.limits.chunk: ", "byte unit"),
        ("SIAGA_LICENCE__URL", "licence", "siaga.licence.url: ", "such as https://example.org/licence"),
        (
            "SIAGA_LICENCE__URL",
            "ftp://example.org/",
            "siaga.licence.url: ",
            "such as https://example.org/licence",
        ),
    ] {
        assert_stops(name, value, path, allowed);
    }
}

#[test]
fn a_wrong_key_of_areas_formats_or_feeds_stops_with_its_path_and_what_is_allowed() {
    for (name, value, path, allowed) in [
        (
            "SIAGA_AREAS__SUPPORTED__FLOODS__CITY",
            "[\"xyz\"]",
            "siaga.areas.supported.floods.city: ",
            "siaga.areas.cities",
        ),
        (
            "SIAGA_AREAS__SUPPORTED__REPORTS__ADMIN",
            "[\"xyz\"]",
            "siaga.areas.supported.reports.admin: ",
            "siaga.areas.provinces",
        ),
        (
            "SIAGA_AREAS__SUPPORTED__BOUNDARIES__CITY",
            "[\"jbd\"]",
            "siaga.areas.supported.boundaries.city: ",
            "must be empty",
        ),
        ("SIAGA_AREAS__CITIES", "[\"jbd\"]", "siaga.areas.supported.floods.city: ", "siaga.areas.cities"),
        ("SIAGA_AREAS__PROVINCES", "[]", "siaga.areas.supported.floods.admin: ", "siaga.areas.provinces"),
        ("SIAGA_FORMATS__TOPOJSN__QUANTIZATION", "5", "siaga.formats.topojsn: unknown key", "topojson"),
        ("SIAGA_FORMATS__TOPOJSON__QUANTIZATION", "1", "siaga.formats.topojson.quantization: ", "from 2 to"),
        (
            "SIAGA_FORMATS__TOPOJSON__QUANTIZATION",
            "many",
            "siaga.formats.topojson.quantization: ",
            "from 2 to",
        ),
        ("SIAGA_FORMATS__CAP__EXPIRES_AFTER", "soon", "siaga.formats.cap.expires_after: ", "such as 10s"),
        (
            "SIAGA_FORMATS__CAP__SENDER",
            "a b",
            "siaga.formats.cap.sender: ",
            "must not be empty or contain blanks",
        ),
        (
            "SIAGA_FORMATS__ENABLED",
            "[\"kml\"]",
            "siaga.formats.enabled: ",
            "one of [topojson, geojson, cap, atom, rss, html]",
        ),
        (
            "SIAGA_FORMATS__DEFAULT",
            "kml",
            "siaga.formats.default ",
            "enabled [topojson, geojson, cap, atom, rss, html]",
        ),
        ("SIAGA_FORMATS__CAP__EXPIRES_AFTER", "300000y", "siaga.formats.cap.expires_after: ", "1s to 366d"),
        ("SIAGA_FORMATS__CAP__WEB", "not an address", "siaga.formats.cap.web: ", "https://example.org/"),
        ("SIAGA_FORMATS__ENABLED", "[\"cap\"]", "siaga.formats.", "topojson"),
        (
            "SIAGA_FORMATS__CAP__AGENCIES__JBD",
            "{sender=\"a b\",sender_name=\"a\"}",
            "siaga.formats.cap.agencies.jbd.sender: ",
            "must not be empty or contain blanks",
        ),
        (
            "SIAGA_FORMATS__RESOURCES__FLOODS",
            "[\"kml\"]",
            "siaga.formats.resources.floods: ",
            "one of [topojson",
        ),
        (
            "SIAGA_FEEDS__PARTNER__DISASTER_TYPES",
            "[\"storm\"]",
            "siaga.feeds.partner.disaster_types.0: ",
            "one of [flood",
        ),
    ] {
        assert_stops(name, value, path, allowed);
    }
}

#[test]
fn a_wrong_key_of_credentials_stops_with_its_path_and_what_is_allowed() {
    for (name, value, path, allowed) in [
        ("SIAGA_AUTH__JWT__SECRET", "", "siaga.auth.jwt.secret: ", "must not be empty"),
        (
            "SIAGA_AUTH__API_KEYS",
            "[{name=\"a\",sha256=\"0000000000000000000000000000000000000000000000000000000000000000\",scopes=[],per_day=0}]",
            "siaga.auth.api_keys.0.per_day: ",
            "must be a nonzero",
        ),
        (
            "SIAGA_AUTH__API_KEYS",
            "[{name=\"a\",sha256=\"b\",scopes=[]}]",
            "siaga.auth.api_keys.0.sha256: ",
            "64 hexadecimal digits",
        ),
        (
            "SIAGA_AUTH__API_KEYS",
            "[{name=\"a\",expires=\"soon\"}]",
            "siaga.auth.api_keys.0.expires: ",
            "such as 2027-01-31T00:00:00Z",
        ),
        (
            "SIAGA_AUTH__API_KEYS",
            "[{name=\"a\",per_second=-1}]",
            "siaga.auth.api_keys.0.per_second: ",
            "nonzero",
        ),
        ("SIAGA_AUTH__JWT__LEEWAY", "soon", "siaga.auth.jwt.leeway: ", "such as 10s"),
        ("SIAGA_AUTH__JWT__ALGORITHM", "none", "siaga.auth.jwt.algorithm: ", "HS256"),
        ("SIAGA_AUTH__JWT__LEEWAY", "1m", "siaga.auth.jwt.secret: missing", ""),
        ("SIAGA_AUTH__JWT__ALGORITHM", "RS256", "siaga.auth.jwt.public_key: missing", "siaga.auth.jwt.jwks"),
        ("SIAGA_AUTH__JWT__PUBLIC_KEY", "key.pem", "siaga.auth.jwt.algorithm: ", "[RS256, ES256, EdDSA]"),
        ("SIAGA_AUTH__JWT__JWKS", "keys.json", "siaga.auth.jwt.algorithm: ", "[RS256, ES256, EdDSA]"),
    ] {
        assert_stops(name, value, path, allowed);
    }
    let keys = |keys: [(&str, &str); 2]| {
        let entry = |(name, key)| {
            let sum = siaga::auth::KeyDigest::of(key).to_hex();
            format!("{{name=\"{name}\",sha256=\"{sum}\",scopes=[\"admin\"]}}")
        };
        format!("[{}]", keys.map(entry).join(","))
    };
    for (value, path, says) in [
        (keys([("a", "x"), ("b", "")]), "siaga.auth.api_keys.1.sha256: ", "SHA-256 of an empty text"),
        (keys([("a", "x"), ("a", "y")]), "siaga.auth.api_keys.1.name: ", "name of api_keys.0, \"a\""),
        (keys([("a", "x"), ("b", "x")]), "siaga.auth.api_keys.1.sha256: ", "digest of api_keys.0, \"a\""),
    ] {
        assert_stops("SIAGA_AUTH__API_KEYS", &value, path, says);
    }
    let misplaced = refusal(&siaga(&["check"], &[("SIAGA_AUTH__JWT", "{secret=\"hunter2")]));
    assert!(
        misplaced.starts_with("siaga: siaga.auth.jwt: must be") && !misplaced.contains("hunter2"),
        "{misplaced}"
    );
    let unknown_scope =
        "[{name=\"a\",sha256=\"b\",scopes=[\"root\"]}]".replace("\"b\"", &format!("\"{}\"", "0".repeat(64)));
    let error = refusal(&siaga(&["check"], &[("SIAGA_AUTH__API_KEYS", &unknown_scope)]));
    assert!(error.contains("api_keys.0.scopes.0") && error.contains("floods:write"), "{error}");
}

#[test]
fn a_wrong_key_of_quotas_or_https_stops_with_its_path_and_what_is_allowed() {
    for (name, value, path, allowed) in [
        ("SIAGA_QUOTA__PER_SECOND", "-1", "siaga.quota.per_second: ", "from 0, which allows any number, to"),
        ("SIAGA_QUOTA__PER_DAY", "many", "siaga.quota.per_day: ", "from 0, which allows any number, to"),
        ("SIAGA_QUOTA__FUSE_PER_SECOND", "1.5", "siaga.quota.fuse_per_second: ", "from 0, which"),
        ("SIAGA_QUOTA__BURST", "0", "siaga.quota.burst: ", "from 1 to"),
        ("SIAGA_QUOTA__CREDENTIAL__BURST", "0", "siaga.quota.credential.burst: ", "from 1 to"),
        ("SIAGA_QUOTA__PER_HOUR", "1", "siaga.quota.per_hour: unknown key", "per_day"),
        (
            "SIAGA_QUOTA__TRUSTED_PROXIES",
            "[\"10.0.0.0/8\",\"proxy\"]",
            "siaga.quota.trusted_proxies.1: ",
            "such as 10.0.0.0/8",
        ),
        ("SIAGA_QUOTA__TRUSTED_PROXIES", "10.0.0.1", "siaga.quota.trusted_proxies: ", "sequence"),
        ("SIAGA_HTTPS__REDIRECT_FROM", "0", "siaga.https.redirect_from: ", "from 1 to 65535"),
        ("SIAGA_HTTPS__REDIRECT_FROM", "65536", "siaga.https.redirect_from: ", "from 1 to 65535"),
        ("SIAGA_HTTPS__REDIRECT_FROM", "8080", "siaga.https.redirect_from: ", "begins with https://"),
        ("ROCKET_TLS", "{certs=\"no.crt\",key=\"no.key\"}", "tls.certs: ", "no.crt: No such file"),
        ("SIAGA_HTTPS__HSTS", "long", "siaga.https.hsts: ", "such as 10s"),
    ] {
        assert_stops(name, value, path, allowed);
    }
}

#[test]
fn a_template_that_is_missing_stops_what_writes_formats_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let toml = "[default.siaga.formats.template.x]\nfile = \"x.txt\"\nmedia_type = \"text/plain\"\nlayers = [\"floods\"]\n";
    let write = |toml: &str| std::fs::write(folder.path().join("Rocket.toml"), toml).unwrap();
    write(toml);
    for arguments in [&["check"][..], &["serve"], &["openapi"]] {
        let error = refusal(&siaga_in(&folder, arguments, &[]));
        assert!(error.starts_with("siaga: siaga.formats.template.x.file: "), "{arguments:?}: {error}");
    }
    let token = ["token", "--sub", "ops", "--scope", "admin"];
    let secret = ("SIAGA_AUTH__JWT__SECRET", "0042");
    assert_eq!(siaga_in(&folder, &token, &[secret]).status.code(), Some(0));
    // What they need is a database, which is not there.
    let database = [("SIAGA_STORE", "postgres"), ("DATABASE_URL", "postgres://siaga@127.0.0.1:1/none")];
    for arguments in [&["key", "list"][..], &["key", "revoke", "x"], &["migrate"], &["export", "out"]] {
        let error = refusal(&siaga_in(&folder, arguments, &database));
        assert!(error.starts_with("siaga: the database 127.0.0.1:1/none: "), "{arguments:?}: {error}");
    }
    // A wrong key is not a matter of files.
    write(&toml.replace("text/plain", "plain"));
    for arguments in [&["key", "list"][..], &["check"]] {
        let error = refusal(&siaga_in(&folder, arguments, &database));
        assert!(error.starts_with("siaga: siaga.formats.template.x.media_type: "), "{arguments:?}: {error}");
    }
}
