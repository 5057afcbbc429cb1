//! Wrong keys. The values that each key refuses are tested in `tests/configuration/refusals.rs`.

use crate::{refusal, siaga, siaga_in};

#[test]
fn check_and_startup_fail_with_one_line_without_secrets_for_a_wrong_key() {
    for (name, value, begins) in [
        ("SIAGA_STROE", "memory", "siaga: siaga.stroe: unknown key"),
        (
            "SIAGA_IMAGES__OPTIONS__AWS_REGION",
            "x",
            "siaga: siaga.images.options.aws_region: this storage has no such option",
        ),
        ("SIAGA_AUTH__JWT", "{secret=\"hunter2", "siaga: siaga.auth.jwt: must be"),
        ("ROCKET_PORT", "abc", "siaga: port: "),
        ("ROCKET_TLS", "{certs=\"no.crt\",key=\"no.key\"}", "siaga: tls.certs: no.crt: No such file"),
    ] {
        let error = refusal(&siaga(&["check"], &[(name, value)]));
        assert!(error.starts_with(begins) && !error.contains("hunter2"), "{name}: {error}");
        assert_eq!(refusal(&siaga(&["serve"], &[(name, value)])), error);
    }
}

#[test]
fn a_missing_template_stops_only_the_commands_that_write_formats() {
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
    // These fail later, at the missing database.
    let database = [("SIAGA_STORE", "postgres"), ("DATABASE_URL", "postgres://siaga@127.0.0.1:1/none")];
    for arguments in [&["key", "list"][..], &["migrate"]] {
        let error = refusal(&siaga_in(&folder, arguments, &database));
        assert!(error.starts_with("siaga: the database 127.0.0.1:1/none: "), "{arguments:?}: {error}");
    }
    // A wrong key fails without reading files.
    write(&toml.replace("text/plain", "plain"));
    for arguments in [&["key", "list"][..], &["check"]] {
        let error = refusal(&siaga_in(&folder, arguments, &database));
        assert!(error.starts_with("siaga: siaga.formats.template.x.media_type: "), "{arguments:?}: {error}");
    }
}
