use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use chrono::Utc;

use super::server::Server;

fn run(folder: &Path, command: &str) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_siaga-gauges"));
    program.args([command, "gauges.toml"]).current_dir(folder).env_clear().output().unwrap()
}

/// Writes a configuration with a feed of one file, and the file.
fn folder(base: &str, level: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let now = Utc::now().to_rfc3339();
    fs::write(folder.path().join("upper.csv"), format!("time,level\n{now},{level}\n")).unwrap();
    fs::write(folder.path().join("key"), "secret\n").unwrap();
    let configuration = format!(
        "siaga = {{ base = \"{base}/v1\", key_file = \"key\" }}
        [[feed]]\nname = \"f\"\nkind = \"csv\"\nfile = \"upper.csv\"\nunit = \"m\"\nalert = \"normal\"
        columns = {{ time = \"time\", level = \"level\" }}\ngauge.upper.location = {{ lat = -6.2, lng = 106.8 }}\n"
    );
    fs::write(folder.path().join("gauges.toml"), configuration).unwrap();
    folder
}

#[tokio::test(flavor = "multi_thread")]
async fn check_prints_what_it_finds_and_once_sends_it() {
    let siaga = Server::siaga().await;
    let folder = folder(&siaga.address, "1.5");
    let output = run(folder.path(), "check");
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success());
    let begin = "feed f: 1 gauges to send\n  \"upper\": {";
    assert!(printed.starts_with(begin) && printed.contains("\"level\":150.0"), "{printed}");
    assert_eq!(siaga.bodies().len(), 0);

    let output = run(folder.path(), "once");
    assert!(output.status.success());
    let log = String::from_utf8(output.stderr).unwrap();
    assert!(log.contains("INFO feed f: sent 1 readings, 0 gauges rejected"), "{log}");
    assert_eq!(siaga.bodies().len(), 1);
}

#[test]
fn once_exits_with_1_if_siaga_is_away_or_a_feed_fails() {
    let folder = folder("http://127.0.0.1:1", "1.5");
    let output = run(folder.path(), "once");
    let log = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(log.contains("WARN feed f: Siaga: ") && log.contains("trying again in 10s"), "{log}");
    assert!(!log.contains("secret"), "{log}");

    fs::remove_file(folder.path().join("upper.csv")).unwrap();
    let output = run(folder.path(), "once");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("upper.csv: No such file"));
}

#[test]
fn a_wrong_file_is_one_line_and_the_exit_code_1() {
    let folder = folder("http://127.0.0.1:1", "1.5");
    fs::write(folder.path().join("key"), "\n").unwrap();
    let output = run(folder.path(), "run");
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        error,
        "siaga-gauges: gauges.toml: siaga.key is no key: write the one that `siaga key create` printed\n"
    );
    fs::write(folder.path().join("gauges.toml"), "").unwrap();
    let output = run(folder.path(), "run");
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "siaga-gauges: gauges.toml: missing field `siaga`\n"
    );
}
