//! The check of feeds of alerts.

use std::fs;
use std::io::Write;
use std::process::{Command, Output, Stdio};

use crate::{out, refusal, siaga, siaga_in};

/// An alert with recommendations but no errors.
const ALERT: &str = "<alert xmlns=\"urn:oasis:names:tc:emergency:cap:1.2\"><identifier>a</identifier><sender>b</sender>\
    <sent>2026-11-22T12:00:00+07:00</sent><status>Actual</status><msgType>Alert</msgType><scope>Public</scope><info>\
    <category>Met</category><event>Flood</event><urgency>Immediate</urgency><severity>Severe</severity>\
    <certainty>Observed</certainty><expires>2026-11-22T18:00:00+07:00</expires><senderName>B</senderName>\
    <headline>c</headline><description>d</description><web>https://example.org/</web><area><areaDesc>e</areaDesc>\
    <circle>-6.1,106.8 1</circle></area></info></alert>";

/// Runs the check with a document on standard input.
fn check_input(arguments: &[&str], document: &[u8]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let mut program = Command::new(env!("CARGO_BIN_EXE_siaga"))
        .args(arguments)
        .current_dir(&folder)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    program.stdin.take().unwrap().write_all(document).unwrap();
    program.wait_with_output().unwrap()
}

#[test]
fn a_document_without_errors_is_reported_with_code_0() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("alert.xml"), ALERT).unwrap();
    let from_file = siaga_in(&folder, &["alerts", "check", "alert.xml"], &[]);
    assert_eq!((from_file.status.code(), from_file.stderr.len()), (Some(0), 0), "{from_file:?}");
    let text = out(&from_file);
    assert!(
        text.contains("recommendation: line 1: alert \"a\", info 1 (\"en-US\"): <info> has no <contact>; "),
        "{text}"
    );
    assert!(text.lines().last().unwrap().starts_with("1 alerts checked: 0 errors, "), "{text}");
    for arguments in [&["alerts", "check"][..], &["alerts", "check", "-"]] {
        let from_input = check_input(arguments, ALERT.as_bytes());
        assert_eq!((from_input.status.code(), out(&from_input)), (Some(0), text.clone()));
    }
}

#[test]
fn a_document_with_errors_is_reported_with_code_1() {
    let output = check_input(&["alerts", "check"], ALERT.replace("Public", "Everyone").as_bytes());
    assert_eq!(refusal(&output), "siaga: standard input: 1 errors");
    let text = out(&output);
    assert!(text.contains("error: line 1: alert \"a\": <scope> is \"Everyone\"; "), "{text}");
    assert!(text.lines().last().unwrap().starts_with("1 alerts checked: 1 errors, "), "{text}");
}

#[test]
fn what_is_no_feed_is_refused_in_one_line() {
    let error = refusal(&siaga(&["alerts", "check", "nowhere.xml"], &[]));
    assert!(error.starts_with("siaga: nowhere.xml: No such file"), "{error}");
    let large = vec![b' '; (16 << 20) + 1];
    for (document, expected) in [
        (&b"<html/>"[..], "siaga: standard input: line 1: the root element is <html>"),
        (b"<a>\n</b>", "siaga: standard input: line 2: "),
        (b"\xff\xfe<\0", "siaga: standard input: it is not UTF-8: "),
        (&large, "siaga: standard input: the document is larger than 16 MiB"),
    ] {
        let output = check_input(&["alerts", "check"], document);
        let error = refusal(&output);
        assert!(error.starts_with(expected) && output.stdout.is_empty(), "{error}");
    }
}

#[test]
fn the_check_needs_no_configuration() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("alert.xml"), ALERT).unwrap();
    fs::write(folder.path().join("Rocket.toml"), "[default").unwrap();
    let variables = [("SIAGA_STORE", "oracle"), ("ROCKET_PORT", "abc")];
    let output = siaga_in(&folder, &["alerts", "check", "alert.xml"], &variables);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}
