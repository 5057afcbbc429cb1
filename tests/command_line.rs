//! The program as an operator runs it.

use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// Runs the program in an empty folder with these variables and nothing else of the service's.
fn siaga(arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    siaga_in(&tempfile::tempdir().unwrap(), arguments, variables)
}

fn siaga_in(folder: &TempDir, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_siaga"))
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .envs(variables.iter().copied())
        .output()
        .unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The one line on standard error of a run that ended with 1.
fn refusal(output: &Output) -> String {
    let error = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!((output.status.code(), error.lines().count()), (Some(1), 1), "{error}");
    error.trim_end().to_owned()
}

#[test]
fn check_prints_the_effective_configuration_with_secrets_masked() {
    let hash = "ab".repeat(32);
    let key = format!("[{{name=\"ci\",sha256=\"{hash}\",scopes=[\"floods:write\"]}}]");
    let output = siaga(
        &["check"],
        &[
            ("SIAGA_AUTH__API_KEYS", &key),
            ("SIAGA_AUTH__JWT__SECRET", "0123456789012345678901234567890123456789"),
            ("SIAGA_FORMATS__TOPOJSON__QUANTIZATION", "5000"),
            ("SIAGA_LIMITS__MAX_PERIOD", "90d"),
            ("SIAGA_METRICS__TOKEN", "hunter2"),
        ],
    );
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = out(&output);
    let config: toml::Table = text.parse().unwrap();
    let siaga = &config["default"]["siaga"];
    assert_eq!(siaga["formats"]["topojson"]["quantization"].as_integer(), Some(5000));
    assert_eq!(siaga["store"].as_str(), Some("memory"));
    assert_eq!(siaga["auth"]["api_keys"][0]["name"].as_str(), Some("ci"));
    assert_eq!(siaga["auth"]["jwt"]["algorithm"].as_str(), Some("HS256"));
    assert!(!text.contains(&hash) && !text.contains("0123456789") && !text.contains("hunter2"), "{text}");
}

#[test]
fn the_printed_configuration_is_one_the_program_takes() {
    let folder = tempfile::tempdir().unwrap();
    let printed = out(&siaga(&["check"], &[]));
    std::fs::write(folder.path().join("Rocket.toml"), &printed).unwrap();
    assert_eq!(out(&siaga_in(&folder, &["check"], &[])), printed);
}

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
        ("SIAGA_STORE", "oracle", "siaga.store ", "one of [memory, postgres]"),
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
        ("SIAGA_FORMATS__ENABLED", "[\"kml\"]", "siaga.formats.enabled: ", "one of [topojson, geojson, cap]"),
        ("SIAGA_FORMATS__DEFAULT", "kml", "siaga.formats.default ", "enabled [topojson, geojson, cap]"),
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
fn the_environment_wins_over_the_profile_and_the_profile_over_the_default() {
    let folder = tempfile::tempdir().unwrap();
    let toml = "[default.siaga]\ntime_zone = \"Asia/Makassar\"\ndataset = \"empty\"\n[production.siaga]\ndataset = \"demo\"\nstore = \"memory\"\n";
    std::fs::write(folder.path().join("Rocket.toml"), toml).unwrap();
    std::fs::create_dir(folder.path().join("elsewhere")).unwrap();
    let dataset = |variables: &[(&str, &str)]| {
        let config: toml::Table = out(&siaga_in(&folder, &["check"], variables)).parse().unwrap();
        let siaga = &config["default"]["siaga"];
        assert_eq!(siaga["time_zone"].as_str(), Some("Asia/Makassar"));
        siaga["dataset"].as_str().unwrap().to_owned()
    };
    assert_eq!(dataset(&[]), "empty");
    assert_eq!(dataset(&[("ROCKET_PROFILE", "production")]), "demo");
    assert_eq!(dataset(&[("ROCKET_PROFILE", "production"), ("SIAGA_DATASET", "elsewhere")]), "elsewhere");
}

#[test]
fn the_file_is_looked_for_where_the_environment_says() {
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = folder.path().join("elsewhere.toml");
    std::fs::write(&elsewhere, "[default.siaga]\ntime_zone = \"Asia/Makassar\"\n").unwrap();
    for (variables, zone) in
        [(&[][..], "Asia/Jakarta"), (&[("ROCKET_CONFIG", elsewhere.to_str().unwrap())], "Asia/Makassar")]
    {
        let printed = out(&siaga_in(&folder, &["check"], variables));
        assert!(printed.contains(&format!("time_zone = \"{zone}\"")), "{printed}");
    }
}

#[test]
fn a_plain_number_is_of_seconds_or_bytes_wherever_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    let limits = |variables: &[(&str, &str)], file: &str| {
        std::fs::write(folder.path().join("Rocket.toml"), file).unwrap();
        let config: toml::Table = out(&siaga_in(&folder, &["check"], variables)).parse().unwrap();
        let limits = &config["default"]["siaga"]["limits"];
        (limits["timeout"].as_str().unwrap().to_owned(), limits["body"].as_integer().unwrap())
    };
    let expected = ("1m 30s".to_owned(), 2048);
    assert_eq!(limits(&[("SIAGA_LIMITS__TIMEOUT", "90"), ("SIAGA_LIMITS__BODY", "2048")], ""), expected);
    assert_eq!(limits(&[("SIAGA_LIMITS__TIMEOUT", "90s"), ("SIAGA_LIMITS__BODY", "2KiB")], ""), expected);
    assert_eq!(limits(&[], "[default.siaga.limits]\ntimeout = 90\nbody = 2048"), expected);
    assert_eq!(limits(&[], "[default.siaga.limits]\ntimeout = \"90s\"\nbody = \"2KiB\""), expected);
}

#[test]
fn the_address_of_the_database_in_the_environment_wins_and_its_store_needs_a_key_for_uploads() {
    let folder = tempfile::tempdir().unwrap();
    let file = "[default.siaga]\nstore = \"postgres\"\n\
                [default.databases.siaga]\nurl = \"postgres://siaga@127.0.0.1:1/file\"\n";
    std::fs::write(folder.path().join("Rocket.toml"), file).unwrap();
    let key = ("SIAGA_IMAGES__SIGNING_KEY", "a key");
    let address = ("DATABASE_URL", "postgres://siaga@127.0.0.1:1/environment");
    for (variables, begins) in [
        (&[key][..], "siaga: the database 127.0.0.1:1/file: "),
        (&[key, address], "siaga: the database 127.0.0.1:1/environment: "),
        (&[address], "siaga: siaga.images.signing_key: must be given: "),
    ] {
        let error = refusal(&siaga_in(&folder, &[], variables));
        assert!(error.starts_with(begins), "{error}");
    }
}

#[test]
fn variables_a_container_platform_injects_are_ignored() {
    let injected = [
        ("SIAGA_PORT", "tcp://10.0.0.1:8000"),
        ("SIAGA_PORT_8000_TCP", "tcp://10.0.0.1:8000"),
        ("SIAGA_PORT_8000_TCP_PORT", "8000"),
        ("SIAGA_SERVICE_HOST", "10.0.0.1"),
        ("SIAGA_SERVICE_PORT", "8000"),
    ];
    assert_eq!(siaga(&["check"], &injected).status.code(), Some(0));
}

#[test]
fn a_token_is_printed_alone_and_needs_a_secret() {
    let arguments = ["token", "--sub", "ops", "--scope", "floods:write cards:read", "--ttl", "1h"];
    let output = siaga(&arguments, &[("SIAGA_AUTH__JWT__SECRET", "0042")]);
    let text = out(&output);
    assert_eq!((text.lines().count(), text.trim().split('.').count()), (1, 3), "{output:?}");
    let error = refusal(&siaga(&arguments, &[]));
    assert!(error.contains("siaga.auth.jwt.secret"), "{error}");
}

const P256: &str = include_str!("http/keys/p256.pem");

#[test]
fn what_tokens_are_verified_by_must_be_one_thing_that_fits_the_algorithm() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("p256.pem", P256);
    write("broken.json", "{\"keys\":");
    write("empty.json", "{\"keys\":[]}");
    write("foreign.json", "{\"keys\":[{\"kty\":\"oct\",\"k\":\"c2VjcmV0\"},{\"kty\":\"new\"}]}");
    let (rsa, weak, p384) = (
        include_str!("http/keys/rsa.pem"),
        include_str!("http/keys/rsa1024.pem"),
        include_str!("http/keys/p384.pem"),
    );
    let private = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIA==\n-----END PRIVATE KEY-----";
    let certificate = P256.replace("PUBLIC KEY", "CERTIFICATE");
    for (algorithm, given, path, allowed) in [
        ("RS256", &[("SECRET", "s")][..], "algorithm: ", "must be HS256 with siaga.auth.jwt.secret"),
        ("ES256", &[("SECRET", "s"), ("PUBLIC_KEY", P256)], "public_key: ", "only one of"),
        ("HS256", &[("SECRET", "s"), ("JWKS", "empty.json")], "jwks: ", "only one of"),
        ("ES256", &[("PUBLIC_KEY", P256), ("JWKS", "empty.json")], "jwks: ", "only one of"),
        ("RS256", &[("PUBLIC_KEY", P256)], "public_key: ", "must be an RSA key of 2048 to 8192 bits"),
        ("RS256", &[("PUBLIC_KEY", weak)], "public_key: ", "must be an RSA key of 2048 to 8192 bits"),
        ("ES256", &[("PUBLIC_KEY", rsa)], "public_key: ", "must be a key on the curve P-256"),
        ("ES256", &[("PUBLIC_KEY", p384)], "public_key: ", "must be a key on the curve P-256"),
        ("EdDSA", &[("PUBLIC_KEY", rsa)], "public_key: ", "must be a key of Ed25519"),
        ("EdDSA", &[("PUBLIC_KEY", private)], "public_key: ", "-----BEGIN PUBLIC KEY-----"),
        ("ES256", &[("PUBLIC_KEY", &certificate)], "public_key: ", "-----BEGIN PUBLIC KEY-----"),
        ("ES256", &[("PUBLIC_KEY", "nowhere.pem")], "public_key: ", "the path of one"),
        ("RS256", &[("PUBLIC_KEY", "p256.pem")], "public_key: ", "must be an RSA key"),
        ("ES256", &[("JWKS", "nowhere.json")], "jwks: ", "nowhere.json cannot be read"),
        ("ES256", &[("JWKS", "broken.json")], "jwks: ", "broken.json is no JSON Web Key Set"),
        ("ES256", &[("JWKS", "empty.json")], "jwks: ", "has no key for ES256"),
        ("ES256", &[("JWKS", "foreign.json")], "jwks: ", "has no key for ES256"),
    ] {
        let given: Vec<_> =
            given.iter().map(|(name, value)| (format!("SIAGA_AUTH__JWT__{name}"), *value)).collect();
        let mut variables: Vec<_> = given.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        variables.push(("SIAGA_AUTH__JWT__ALGORITHM", algorithm));
        let error = refusal(&siaga_in(&folder, &["check"], &variables));
        assert!(error.starts_with(&format!("siaga: siaga.auth.jwt.{path}")), "{algorithm}: {error}");
        assert!(error.contains(allowed), "{algorithm}: {error}");
    }
}

#[test]
fn with_a_public_key_alone_no_token_can_be_made() {
    let variables = [("SIAGA_AUTH__JWT__ALGORITHM", "ES256"), ("SIAGA_AUTH__JWT__PUBLIC_KEY", P256)];
    assert_eq!(siaga(&["check"], &variables).status.code(), Some(0));
    let error = refusal(&siaga(&["token", "--sub", "ops", "--scope", "admin"], &variables));
    assert!(error.starts_with("siaga: siaga.auth.jwt.secret: needed to sign a token"), "{error}");
}

#[test]
fn wrong_usage_exits_with_2() {
    let create = ["key", "create", "--name", "a", "--scope", "admin"];
    for arguments in [
        &["fly"][..],
        &["--fast"],
        &["token"],
        &["token", "--sub", "a", "--scope", "root"],
        &["key"],
        &["key", "revoke"],
        &create[..4],
        &["key", "create", "--name", "", "--scope", "admin"],
        &["key", "create", "--name", "a", "--scope", "root"],
        &[&create[..], &["--expires", "soon"]].concat(),
        &[&create[..], &["--per-day", "0"]].concat(),
        &[&create[..], &["--owner", "a\nb"]].concat(),
    ] {
        assert_eq!(siaga(arguments, &[]).status.code(), Some(2), "{arguments:?}");
    }
    assert_eq!(siaga(&["--help"], &[]).status.code(), Some(0));
}

#[test]
fn a_broken_data_file_stops_the_start_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("areas.geojson"), "{\n\"type\":").unwrap();
    let error = refusal(&siaga_in(&folder, &[], &[("SIAGA_DATASET", ".")]));
    assert!(error.contains("areas.geojson, line 2: "), "{error}");
    assert!(!Path::new("areas.geojson").exists());
}

#[test]
fn a_taken_port_ends_the_program_with_one_line() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let output = siaga(&[], &[("ROCKET_PORT", &port), ("SIAGA_DATASET", "empty")]);
    assert!(refusal(&output).starts_with("siaga: "), "{output:?}");
}

#[test]
fn a_broken_configuration_file_is_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("Rocket.toml"), "[default.siaga\nstore = 1").unwrap();
    let error = refusal(&siaga_in(&folder, &["check"], &[]));
    assert!(error.contains("TOML parse error at line 1"), "{error}");
    std::fs::write(folder.path().join("Rocket.toml"), "[default.siaga]\nsecret = \"hush\nstore = 1").unwrap();
    let error = refusal(&siaga_in(&folder, &["check"], &[]));
    assert!(error.contains("line 2") && !error.contains("hush"), "{error}");
}

#[test]
fn texts_that_look_like_numbers_stay_texts() {
    let variables =
        [("SIAGA_DATASET", "2024"), ("SIAGA_AUTH__JWT__SECRET", "0042"), ("SIAGA_AUTH__JWT__ISSUER", "7")];
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("2024")).unwrap();
    let config: toml::Table = out(&siaga_in(&folder, &["check"], &variables)).parse().unwrap();
    assert_eq!(config["default"]["siaga"]["dataset"].as_str(), Some("2024"));
    assert_eq!(config["default"]["siaga"]["auth"]["jwt"]["issuer"].as_str(), Some("7"));
}

#[test]
fn a_store_that_keeps_nothing_has_nothing_to_look_after() {
    for command in [
        &["migrate"][..],
        &["import", "."],
        &["export", "."],
        &["key", "list"],
        &["key", "revoke", "a"],
        &["key", "create", "--name", "a", "--scope", "admin"],
    ] {
        let error = refusal(&siaga(command, &[]));
        assert!(error.starts_with("siaga: siaga.store is \"memory\", which keeps nothing"), "{error}");
    }
}

#[test]
fn a_start_that_fails_ends_with_1_and_one_line_whatever_the_log() {
    let refused = [("SIAGA_STORE", "postgres"), ("DATABASE_URL", "postgres://siaga@127.0.0.1:1/siaga")];
    for format in ["text", "json"] {
        let variables = [
            refused[0],
            refused[1],
            ("SIAGA_IMAGES__SIGNING_KEY", "a key"),
            ("SIAGA_LOG__FORMAT", format),
            ("SIAGA_LOG__LEVEL", "info"),
            ("ROCKET_LOG_LEVEL", "debug"),
        ];
        let error = refusal(&siaga(&[], &variables));
        assert!(error.starts_with("siaga: the database 127.0.0.1:1/siaga: "), "{error}");
    }
}
