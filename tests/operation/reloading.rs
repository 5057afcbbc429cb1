//! Reloading the configuration while the program runs.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::running::Running;

const LAST: &str = "Siaga ";

fn keys(keys: &[&str]) -> String {
    let entry = |key: &&str| {
        let sum = siaga::auth::KeyDigest::new(key).to_hex();
        format!("{{ name = \"{key}\", sha256 = \"{sum}\", scopes = [\"admin\"] }}")
    };
    format!("api_keys = [{}]\n", keys.iter().map(entry).collect::<Vec<_>>().join(", "))
}

fn file(accepted: &[&str], log: &str, rest: &str) -> String {
    format!("[default.siaga]\n{rest}\n[default.siaga.auth]\n{}\n[default.siaga.log]\n{log}\n", keys(accepted))
}

/// Writes a configuration and sends SIGHUP.
fn reload(service: &Running, configuration: &str) {
    fs::write(service.folder().join("Rocket.toml"), configuration).unwrap();
    service.signal("HUP");
}

/// Performs an action and waits until it is logged. Returns the log.
fn logged(service: &Running, act: impl FnOnce()) -> String {
    let before = service.errors().lines().count();
    act();
    service
        .until("the log", |service| Some(service.errors()).filter(|errors| errors.lines().count() > before))
}

fn accepts(service: &Running, key: &str) -> bool {
    let response = service.request("GET", "/v1/feeds", &format!("X-Api-Key: {key}\r\n\r\n"));
    response.starts_with("HTTP/1.1 200")
}

#[test]
fn sighup_reloads_keys_and_log_settings() {
    let service = Running::start_with(&[], LAST, &file(&["old"], "", ""));
    assert!(accepts(&service, "old") && !accepts(&service, "new"));
    let next =
        file(&["new"], "level = \"info\"\nformat = \"json\"\naccess = true", "time_zone = \"Asia/Makassar\"");
    fs::write(service.folder().join("Rocket.toml"), next).unwrap();
    assert!(accepts(&service, "old"), "nothing changes before SIGHUP");
    service.signal("HUP");
    let errors = service.until("the keys", |service| {
        Some(service.errors()).filter(|errors| errors.contains("restart the server"))
    });
    assert!(accepts(&service, "new") && !accepts(&service, "old"));
    let warnings: Vec<&str> = errors.lines().filter(|line| line.contains("restart the server")).collect();
    assert!(
        warnings.len() == 1 && warnings[0].starts_with('{') && warnings[0].contains("siaga.time_zone"),
        "{errors}"
    );
    assert!(!warnings[0].contains("siaga.auth") && !warnings[0].contains("siaga.log"), "{errors}");
    service.until("a line of a request", |service| service.errors().contains("/v1/feeds").then_some(()));
}

#[test]
fn a_wrong_empty_or_missing_configuration_changes_nothing_at_sighup() {
    let service = Running::start_with(&[], LAST, &file(&["old"], "", ""));
    let wrong = "the configuration stays as it was: ";
    let empty = "Rocket.toml: the file is empty or missing";
    for (configuration, fault) in [
        (Some(file(&["new"], "level = \"loud\"", "")), wrong),
        (Some(file(&["new"], "", "stroe = \"memory\"")), wrong),
        (Some("[default.siaga\n".to_owned()), wrong),
        (Some("# to be written\n".to_owned()), empty),
        (None, empty),
    ] {
        let before = service.errors().lines().count();
        let errors = logged(&service, || {
            if let Some(configuration) = configuration {
                reload(&service, &configuration);
            } else {
                fs::remove_file(service.folder().join("Rocket.toml")).unwrap();
                service.signal("HUP");
            }
        });
        assert_eq!(errors.lines().count(), before + 1, "{errors}");
        let last = errors.lines().last().unwrap();
        assert!(last.contains("ERROR") && last.contains(fault), "{errors}");
        assert!(accepts(&service, "old") && !accepts(&service, "new"));
    }
    reload(&service, &file(&["new"], "", ""));
    service.until("the new key", |service| accepts(service, "new").then_some(()));
}

/// A template that prints the number of features, in its own folder.
fn template() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let template = folder.path().join("x.txt");
    fs::write(&template, "{{ features|length }} areas").unwrap();
    (folder, template)
}

/// The configuration of the format `x` with a template.
fn declared(template: &Path, layers: &str) -> String {
    let template = template.to_str().unwrap();
    format!(
        "[default.siaga.formats]\nenabled = [\"topojson\", \"x\"]\n[default.siaga.formats.template.x]\n\
         file = {template:?}\nmedia_type = \"text/plain\"\nlayers = {layers}"
    )
}

#[test]
fn sighup_reloads_a_changed_template_and_drops_responses_of_the_old_one() {
    let (_folder, template) = template();
    let body = |response: String| response.split_once("\r\n\r\n").unwrap().1.to_owned();
    let configuration = file(&["key"], "level = \"info\"", &declared(&template, "[\"floods\"]"));
    let service = Running::start_with(&[], LAST, &configuration);
    let body_of = |rest: &str| service.request("GET", "/v1/floods?geoformat=x", &format!("{rest}\r\n"));
    let before = body_of("");
    let tag = before.lines().find(|line| line.to_ascii_lowercase().starts_with("etag: ")).unwrap();
    let known = format!("If-None-Match: {}\r\n", &tag["etag: ".len()..]);
    assert!(body_of(&known).starts_with("HTTP/1.1 304"), "it is cached");
    let logged = |times: usize| {
        service.until("the log", |service| {
            (service.errors().matches("the template was read again").count() == times).then_some(())
        });
    };
    fs::write(&template, "{{ now and features|length }} kelurahan").unwrap();
    assert_eq!(body(body_of("")), body(before.clone()), "nothing changes before SIGHUP");
    service.signal("HUP");
    logged(1);
    let after = body_of(&known);
    assert!(after.starts_with("HTTP/1.1 200"), "{after}");
    assert_eq!(body(after), body(before.clone()).replace("areas", "kelurahan"));
    fs::write(&template, "{{ features|length }} areas").unwrap();
    service.signal("HUP");
    logged(2);
    assert_eq!(body(body_of("")), body(before));
}

#[test]
fn a_faulty_template_does_not_block_the_reload_of_keys() {
    let (_folder, template) = template();
    let declared = |layers: &str| declared(&template, layers);
    let service = Running::start_with(&[], LAST, &file(&["old"], "", &declared("[\"floods\"]")));
    let body_of = || service.request("GET", "/v1/floods?geoformat=x", "\r\n");
    let before = body_of();
    assert!(before.starts_with("HTTP/1.1 200") && before.ends_with(" areas"), "{before}");
    fs::write(&template, "{{ nothing }").unwrap();
    reload(&service, &file(&["new"], "", &declared("[\"floods\"]")));
    service.until("the new key", |service| accepts(service, "new").then_some(()));
    assert!(!accepts(&service, "old") && body_of().ends_with(" areas"));
    let place = format!("siaga.formats.template.x.file: {}", template.display());
    let fault = format!("the template stays as it was: {place}, line 1: ");
    assert!(service.errors().contains(&fault), "{}", service.errors());
    fs::remove_file(&template).unwrap();
    reload(&service, &file(&["newest"], "", &declared("[\"floods\", \"reports\"]")));
    service.until("the newest key", |service| accepts(service, "newest").then_some(()));
    let warnings = service.until("the warning", |service| {
        service.errors().lines().find(|line| line.contains("restart the server")).map(str::to_owned)
    });
    assert!(
        warnings.contains("siaga.formats.template.x.layers") && body_of().ends_with(" areas"),
        "{warnings}"
    );
}

#[test]
fn the_temporary_key_is_accepted_until_a_credential_is_configured() {
    let service = Running::start_with(&[], "it allows everything", "");
    let key = service.key();
    reload(&service, "[default.siaga]\ntime_zone = \"Asia/Jayapura\"\n");
    service.until("the warning", |service| service.errors().contains("siaga.time_zone").then_some(()));
    assert!(accepts(&service, key));
    reload(&service, &file(&["own"], "", ""));
    service.until("the new key", |service| accepts(service, "own").then_some(()));
    assert!(!accepts(&service, key));
}

#[test]
fn sighup_applies_changed_quotas_but_no_changed_base_url() {
    let public = "base_url = \"https://data.example.org/v1\"";
    let service = Running::start_with(&[], LAST, &file(&["old"], "", public));
    let limit = |service: &Running| {
        let response = service.request("GET", "/v1/floods/states", "\r\n").to_ascii_lowercase();
        let line = response.lines().find_map(|line| line.strip_prefix("ratelimit-limit: "));
        line.map(str::to_owned)
    };
    assert_eq!(limit(&service).as_deref(), Some("40"));
    let reloaded = |rest: &str| {
        logged(&service, || reload(&service, &file(&["old"], "level = \"info\"", rest)));
    };
    reloaded("base_url = \"http://127.0.0.1:8000/v1\"");
    assert_eq!(limit(&service).as_deref(), Some("40"), "a public service is no trial");
    reloaded(&format!("{public}\nquota = {{ burst = 7 }}"));
    assert_eq!(limit(&service).as_deref(), Some("7"));
}

#[test]
fn a_pipe_in_place_of_a_file_blocks_nothing() {
    let (_folder, template) = template();
    let configuration = file(&["old"], "", &declared(&template, "[\"floods\"]"));
    let mut service = Running::start_with(&[], LAST, &configuration);
    let pipe = |path: &Path| {
        fs::remove_file(path).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    pipe(&template);
    service.signal("HUP");
    service.until("the fault", |service| service.errors().contains("x.txt: is not a file").then_some(()));
    fs::remove_file(&template).unwrap();
    fs::write(&template, "x".repeat(2 << 20)).unwrap();
    service.signal("HUP");
    service.until("the size", |service| {
        service.errors().contains("x.txt: is larger than 1048576 bytes").then_some(())
    });
    assert!(service.request("GET", "/v1/floods?geoformat=x", "\r\n").ends_with(" areas"));

    // Opening the pipe blocks, so it runs on its own thread.
    pipe(&service.folder().join("Rocket.toml"));
    service.signal("HUP");
    service.signal("HUP");
    for _ in 0..8 {
        assert!(accepts(&service, "old"));
    }
    service.signal("TERM");
    assert_eq!(service.wait_for_exit().0, Some(0), "{}", service.errors());
}
