//! Exit codes and messages of failures.

use crate::{faults, refusal, siaga, siaga_in};

#[test]
fn wrong_usage_exits_with_2() {
    let create = ["key", "create", "--name", "a", "--scope", "admin"];
    for arguments in [
        &["fly"][..],
        &["token", "--sub", "a", "--scope", "root"],
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
fn a_removed_command_names_its_replacement() {
    for (arguments, instead) in [
        (&["floods", "undo", "5", "--by", "Ibu Sri"][..], "use the desk, or POST /floods/changes"),
        (&["alerts", "check", "feed.xml"], "run cap-check FILE"),
    ] {
        let error = refusal(&siaga(arguments, &[]));
        assert!(error.contains(instead), "{error}");
    }
}

#[test]
fn startup_and_check_fail_with_an_unreadable_data_set() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("city")).unwrap();
    let file = folder.path().join("city/areas.geojson");
    std::fs::write(file, "{\n\"type\":").unwrap();
    let run = |command| siaga_in(&folder, command, &[("SIAGA_DATASET", "city")]);
    for error in [&refusal(&run(&[])), &faults(&run(&["check"]))[0]] {
        assert!(error.starts_with("siaga: city/areas.geojson, line 2: "), "{error}");
    }
}

#[test]
fn startup_on_an_unavailable_address_fails_with_the_key_to_change() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    // The second address is reserved for documentation (RFC 5737).
    for (address, key) in [("127.0.0.1", "change the port (ROCKET_PORT"), ("203.0.113.7", "(ROCKET_ADDRESS")]
    {
        let variables = [("ROCKET_ADDRESS", address), ("ROCKET_PORT", &port), ("SIAGA_DATASET", "empty")];
        let error = refusal(&siaga(&[], &variables));
        assert!(error.starts_with(&format!("siaga: cannot listen on {address}:{port}: ")), "{error}");
        assert!(error.contains(key), "{error}");
    }
}

#[test]
fn maintenance_commands_refuse_a_store_that_does_not_persist_data() {
    let create = ["key", "create", "--name", "a", "--scope", "admin"];
    for command in [&["migrate"][..], &["import", "."], &["export", "."], &["status"], &create] {
        let error = refusal(&siaga(command, &[]));
        assert!(error.starts_with("siaga: siaga.store is \"memory\", which keeps nothing"), "{error}");
    }
}
