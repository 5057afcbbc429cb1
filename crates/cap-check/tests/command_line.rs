//! The program as its user runs it.

use std::fs;
use std::io::Write;
use std::process::{Command, Output, Stdio};

#[path = "../../../tests/common/outcome.rs"]
mod outcome;

use outcome::{printed, refusal};

/// An alert with recommendations but no errors.
const ALERT: &str = "<alert xmlns=\"urn:oasis:names:tc:emergency:cap:1.2\"><identifier>a</identifier><sender>b</sender>\
    <sent>2026-11-22T12:00:00+07:00</sent><status>Actual</status><msgType>Alert</msgType><scope>Public</scope><info>\
    <category>Met</category><event>Flood</event><urgency>Immediate</urgency><severity>Severe</severity>\
    <certainty>Observed</certainty><expires>2026-11-22T18:00:00+07:00</expires><senderName>B</senderName>\
    <headline>c</headline><description>d</description><web>https://example.org/</web><area><areaDesc>e</areaDesc>\
    <circle>-6.1,106.8 1</circle></area></info></alert>";

fn program(arguments: &[&str]) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_cap-check"));
    program.args(arguments);
    program
}

/// Runs the check with a document on standard input.
fn check_input(arguments: &[&str], document: &[u8]) -> Output {
    let mut program = program(arguments)
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
    let text = printed(&program(&["alert.xml"]).current_dir(&folder).output().unwrap());
    assert!(
        text.contains("recommendation: line 1: alert \"a\", info 1 (\"en-US\"): <info> has no <contact>; "),
        "{text}"
    );
    assert!(text.lines().last().unwrap().starts_with("1 alerts checked: 0 errors, "), "{text}");
    for arguments in [&[][..], &["-"]] {
        assert_eq!(printed(&check_input(arguments, ALERT.as_bytes())), text);
    }
}

#[test]
fn a_document_with_errors_is_reported_with_code_1() {
    let output = check_input(&[], ALERT.replace("Public", "Everyone").as_bytes());
    assert_eq!(refusal(&output), "cap-check: standard input: 1 errors");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("error: line 1: alert \"a\": <scope> is \"Everyone\"; "), "{text}");
    assert!(text.lines().last().unwrap().starts_with("1 alerts checked: 1 errors, "), "{text}");
}

#[test]
fn what_is_no_feed_is_refused_in_one_line() {
    let error = refusal(&program(&["nowhere.xml"]).output().unwrap());
    assert!(error.starts_with("cap-check: nowhere.xml: No such file"), "{error}");
    let large = vec![b' '; (16 << 20) + 1];
    for (document, expected) in [
        (&b"<html/>"[..], "cap-check: standard input: line 1: the root element is <html>"),
        (b"<a>\n</b>", "cap-check: standard input: line 2: "),
        (b"\xff\xfe<\0", "cap-check: standard input: it is not UTF-8: "),
        (&large, "cap-check: standard input: the document is larger than 16 MiB"),
    ] {
        let output = check_input(&[], document);
        let error = refusal(&output);
        assert!(error.starts_with(expected) && output.stdout.is_empty(), "{error}");
    }
}
