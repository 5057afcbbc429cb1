//! Sources of the configuration.

use crate::{configured, effective, out, refusal, siaga, siaga_in};

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
            ("SIAGA_METRICS__TOKEN", "hunter2"),
        ],
    );
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = out(&output);
    let config: toml::Table = text.parse().unwrap();
    let siaga = &config["default"]["siaga"];
    assert_eq!(siaga["formats"]["topojson"]["quantization"].as_integer(), Some(5000));
    assert_eq!(siaga["auth"]["api_keys"][0]["name"].as_str(), Some("ci"));
    assert!(!text.contains(&hash) && !text.contains("0123456789") && !text.contains("hunter2"), "{text}");
}

#[test]
fn the_printed_configuration_can_be_loaded_again() {
    // Without the first line, which names the file.
    let values = |output| out(&output).split_once('\n').unwrap().1.to_owned();
    let printed = values(siaga(&["check"], &[]));
    let folder = configured(&printed);
    assert_eq!(values(siaga_in(&folder, &["check"], &[])), printed);
}

#[test]
fn the_environment_wins_over_the_profile_and_the_profile_over_the_default() {
    let toml = "[default.siaga]\ntime_zone = \"Asia/Makassar\"\ndataset = \"empty\"\n[production.siaga]\ndataset = \"demo\"\nstore = \"memory\"\n";
    let folder = configured(toml);
    let dataset = |variables: &[(&str, &str)]| {
        let siaga = effective(&folder, variables);
        assert_eq!(siaga["time_zone"].as_str(), Some("Asia/Makassar"));
        siaga["dataset"].as_str().unwrap().to_owned()
    };
    assert_eq!(dataset(&[]), "empty");
    assert_eq!(dataset(&[("ROCKET_PROFILE", "production")]), "demo");
    assert_eq!(dataset(&[("ROCKET_PROFILE", "production"), ("SIAGA_DATASET", "empty")]), "empty");
}

#[test]
fn rocket_config_selects_a_file_that_must_exist() {
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = folder.path().join("elsewhere.toml");
    std::fs::write(&elsewhere, "[default.siaga]\ntime_zone = \"Asia/Makassar\"\n").unwrap();
    for (variables, zone) in
        [(&[][..], "Asia/Jakarta"), (&[("ROCKET_CONFIG", elsewhere.to_str().unwrap())], "Asia/Makassar")]
    {
        let printed = out(&siaga_in(&folder, &["check"], variables));
        assert!(printed.contains(&format!("time_zone = \"{zone}\"")), "{printed}");
    }
    let error = refusal(&siaga(&["check"], &[("ROCKET_CONFIG", "nowhere.toml")]));
    assert!(error.contains("nowhere.toml: there is no such file"), "{error}");
}

#[test]
fn a_plain_number_means_seconds_or_bytes_in_every_source_of_configuration() {
    let limits = |variables: &[(&str, &str)], file: &str| {
        let limits = &effective(&configured(file), variables)["limits"];
        (limits["timeout"].as_str().unwrap().to_owned(), limits["body"].as_integer().unwrap())
    };
    let expected = ("90s".to_owned(), 2048);
    assert_eq!(limits(&[("SIAGA_LIMITS__TIMEOUT", "90"), ("SIAGA_LIMITS__BODY", "2048")], ""), expected);
    assert_eq!(limits(&[("SIAGA_LIMITS__TIMEOUT", "90s"), ("SIAGA_LIMITS__BODY", "2KiB")], ""), expected);
    assert_eq!(limits(&[], "[default.siaga.limits]\ntimeout = 90\nbody = 2048"), expected);
    assert_eq!(limits(&[], "[default.siaga.limits]\ntimeout = \"90s\"\nbody = \"2KiB\""), expected);
}

#[test]
fn the_database_url_of_the_environment_wins_and_one_line_reports_that_the_database_is_unreachable() {
    let file = "[default.siaga]\nstore = \"postgres\"\n\
                [default.databases.siaga]\nurl = \"postgres://siaga@127.0.0.1:1/file\"\n";
    let folder = configured(file);
    let log = [("SIAGA_LOG__FORMAT", "json"), ("SIAGA_LOG__LEVEL", "info"), ("ROCKET_LOG_LEVEL", "debug")];
    let address = ("DATABASE_URL", "postgres://siaga@127.0.0.1:1/environment");
    for (variables, name) in [(log.to_vec(), "file"), ([&log[..], &[address]].concat(), "environment")] {
        let error = refusal(&siaga_in(&folder, &[], &variables));
        assert!(error.starts_with(&format!("siaga: the database 127.0.0.1:1/{name}: ")), "{error}");
    }
}

#[test]
fn variables_a_container_platform_injects_are_ignored_but_a_plain_port_is_refused() {
    let injected = [
        ("SIAGA_PORT", "tcp://10.0.0.1:8000"),
        ("SIAGA_PORT_8000_TCP_PORT", "8000"),
        ("SIAGA_SERVICE_HOST", "10.0.0.1"),
    ];
    assert_eq!(siaga(&["check"], &injected).status.code(), Some(0));
    let error = refusal(&siaga(&["check"], &[("SIAGA_PORT", "23001")]));
    assert!(error.contains("siaga.port: this key is one of Rocket's: write ROCKET_PORT="), "{error}");
}

#[test]
fn a_misplaced_table_of_the_service_is_refused_with_its_correct_name() {
    for (file, table, instead) in [
        ("[default.siga]\nstore = \"postgres\"", "[default.siga]", "[default.siaga]"),
        ("[global.siagas.log]\nlevel = \"info\"", "[global.siagas]", "[global.siaga]"),
        ("[siaga.log]\nlevel = \"info\"", "[siaga]", "[default.siaga]"),
    ] {
        let error = refusal(&siaga_in(&configured(file), &["check"], &[]));
        let expected = format!("siaga: {table}: nothing reads this table: write {instead} instead");
        assert!(error.starts_with(&expected) && error.ends_with("(Rocket.toml)"), "{error}");
    }
}

#[test]
fn the_table_of_a_replica_is_refused_by_a_start_and_by_check() {
    let url = "url = \"postgres://siaga:hush@127.0.0.1:1/siaga\"";
    let in_file = configured(&format!("[default.databases.siaga_read]\n{url}"));
    let (elsewhere, databases) = (tempfile::tempdir().unwrap(), format!("{{siaga_read={{{url}}}}}"));
    let in_variable = [("SIAGA_STORE", "memory"), ("ROCKET_DATABASES", &databases)];
    for (output, place) in [
        (siaga_in(&in_file, &[], &[("SIAGA_STORE", "postgres")]), "(Rocket.toml)"),
        (siaga_in(&in_file, &["check"], &[]), "(Rocket.toml)"),
        (siaga_in(&elsewhere, &[], &in_variable), ")"),
    ] {
        let error = refusal(&output);
        assert!(error.starts_with("siaga: databases.siaga_read is no longer read; remove it: "), "{error}");
        assert!(error.ends_with(place) && !error.contains("hush"), "{error}");
    }
}

#[test]
fn a_table_of_the_service_in_the_selected_profile_and_tables_of_other_programs_are_accepted() {
    let file = "[siaga]\nport = 1\n[siaga.siaga]\ndataset = \"empty\"\n[default.ceiling]\nstate = 2\n[default.post]\n";
    let variables = [("ROCKET_PROFILE", "siaga"), ("ROCKET_CEILING", "{state=2}")];
    let output = siaga_in(&configured(file), &["check"], &variables);
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{output:?}");
}

#[test]
fn a_broken_configuration_file_is_refused_in_one_line() {
    let folder = configured("[default.siaga\nstore = 1");
    for command in [&["check"][..], &["serve"], &["migrate"], &["key", "list"], &["openapi"]] {
        let error = refusal(&siaga_in(&folder, command, &[]));
        assert!(error.starts_with("siaga: TOML parse error at line 1"), "{command:?}: {error}");
        assert!(error.contains("invalid table header") && error.ends_with("(Rocket.toml)"), "{error}");
    }
    let folder = configured("[default.siaga]\nsecret = \"hush\nstore = 1");
    let error = refusal(&siaga_in(&folder, &["check"], &[]));
    assert!(error.contains("line 2") && !error.contains("hush"), "{error}");
}

#[test]
fn strings_that_look_like_numbers_stay_strings() {
    let variables = [("SIAGA_AUTH__JWT__SECRET", "0042"), ("SIAGA_AUTH__JWT__ISSUER", "7")];
    let siaga = effective(&tempfile::tempdir().unwrap(), &variables);
    assert_eq!(siaga["auth"]["jwt"]["issuer"].as_str(), Some("7"));
}

#[test]
fn the_printed_openapi_document_reflects_the_configuration() {
    let address = "https://data.example/api/v1";
    let printed = out(&siaga(&["openapi"], &[("SIAGA_BASE_URL", address)]));
    let document: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!((&document["openapi"], &document["servers"][0]["url"]), (&"3.1.1".into(), &address.into()));
    assert!(document["paths"]["/floods/{localAreaId}"]["put"].is_object());
}

#[test]
fn the_public_address_has_the_configured_port_unless_it_is_configured_itself() {
    let base_url = |variables: &[(&str, &str)]| {
        let siaga = effective(&tempfile::tempdir().unwrap(), variables);
        siaga["base_url"].as_str().unwrap().to_owned()
    };
    assert_eq!(base_url(&[]), "http://127.0.0.1:8000/v1");
    assert_eq!(base_url(&[("ROCKET_PORT", "8141")]), "http://127.0.0.1:8141/v1");
    assert_eq!(base_url(&[("ROCKET_PORT", "0")]), "http://127.0.0.1:8000/v1");
    let own = ("SIAGA_BASE_URL", "https://data.example/v1");
    assert_eq!(base_url(&[("ROCKET_PORT", "8141"), own]), own.1);
}
