//! How the program ends when it cannot go on.

use crate::{faults, refusal, siaga, siaga_in};

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
fn wrong_usage_of_an_address_does_not_print_its_password() {
    let url = "postgres://siaga:hush@127.0.0.1:1/d";
    for arguments in [
        &["import", "--from-cognicity", url][..],
        &["import", "--from-cognicity", url, "--from-cognicity", url, "copy"],
        &["import", "--from-cognicity", url, "--replace", "copy"],
    ] {
        let output = siaga(arguments, &[]);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(!String::from_utf8(output.stderr).unwrap().contains("hush"), "{arguments:?}");
    }
    let error = refusal(&siaga(&["import", "--from-cognicity", url, "copy"], &[]));
    assert!(error.contains("run siaga-take-over --from URL FOLDER, then siaga import FOLDER"), "{error}");
    assert!(!error.contains("hush"), "{error}");
}

#[test]
fn a_command_that_is_gone_names_what_has_replaced_it() {
    for arguments in [&["floods"][..], &["floods", "undo", "5", "--by", "Ibu Sri"]] {
        let error = refusal(&siaga(arguments, &[]));
        assert!(
            error.contains("use the desk, or POST /floods/changes with a key of siaga key create"),
            "{error}"
        );
    }
}

#[test]
fn a_data_set_that_cannot_be_read_stops_the_start_and_the_check() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("city")).unwrap();
    let run = |command| siaga_in(&folder, command, &[("SIAGA_DATASET", "city")]);
    for (file, content, begins) in [
        ("Areas.GeoJSON", "{}", "siaga: city holds no data set: looked for areas.geojson, "),
        ("areas.geojson", "{\n\"type\":", "siaga: city/areas.geojson, line 2: "),
    ] {
        std::fs::write(folder.path().join("city").join(file), content).unwrap();
        let error = refusal(&run(&[]));
        assert!(error.starts_with(begins), "{error}");
        assert!(error.ends_with("; found Areas.GeoJSON") || file == "areas.geojson", "{error}");
        let found = faults(&run(&["check"]));
        assert!(found[0].starts_with(begins), "{found:?}");
    }
}

#[test]
fn a_taken_port_ends_the_program_with_one_line() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let output = siaga(&[], &[("ROCKET_PORT", &port), ("SIAGA_DATASET", "empty")]);
    let error = refusal(&output);
    assert!(error.starts_with(&format!("siaga: cannot listen on 127.0.0.1:{port}: ")), "{error}");
    assert!(error.contains("change the port (ROCKET_PORT"), "{error}");
}

#[test]
fn an_address_of_another_machine_ends_the_program_with_the_key_to_change() {
    // An address kept for documentation, which no machine has.
    let variables = [("ROCKET_ADDRESS", "203.0.113.7"), ("ROCKET_PORT", "8000"), ("SIAGA_DATASET", "empty")];
    let error = refusal(&siaga(&[], &variables));
    assert!(error.starts_with("siaga: cannot listen on 203.0.113.7:8000: "), "{error}");
    assert!(error.contains("change it (ROCKET_ADDRESS"), "{error}");
}

#[test]
fn a_store_that_keeps_nothing_has_nothing_to_look_after() {
    for command in [
        &["migrate"][..],
        &["import", "."],
        &["export", "."],
        &["status"],
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
