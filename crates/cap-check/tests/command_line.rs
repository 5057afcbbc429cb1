//! Tests of the command line.

use std::fs;
use std::io::Write;
use std::process::{Command, Output, Stdio};

#[path = "../../../tests/common/outcome.rs"]
mod outcome;

use outcome::{printed, refusal};

const FEED: &str = r#"<feed xmlns="http://www.w3.org/2005/Atom"><id>https://example.org/</id><title>Floods</title>
    <updated>2026-11-22T12:00:00+07:00</updated></feed>"#;

fn program(arguments: &[&str]) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_cap-check"));
    program.args(arguments);
    program
}

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
fn a_document_without_errors_is_reported_with_code_0_and_one_with_errors_with_code_1() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("feed.xml"), FEED).unwrap();
    let text = printed(&program(&["feed.xml"]).current_dir(&folder).output().unwrap());
    assert!(text.contains("recommendation: line 1: feed: the feed has no link to itself; "), "{text}");
    assert!(text.lines().last().unwrap().starts_with("0 alerts checked: 0 errors, 1 "), "{text}");
    for arguments in [&[][..], &["-"]] {
        assert_eq!(printed(&check_input(arguments, FEED.as_bytes())), text);
    }
    let output = check_input(&[], FEED.replace("Floods", "").as_bytes());
    assert_eq!(refusal(&output), "cap-check: standard input: 1 errors");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("error: line 1: feed: <feed> has an empty <title>; "), "{text}");
}

#[test]
fn other_documents_are_refused_in_one_line() {
    let error = refusal(&program(&["nowhere.xml"]).output().unwrap());
    assert!(error.starts_with("cap-check: nowhere.xml: No such file"), "{error}");
    let large = vec![b' '; (16 << 20) + 1];
    for (document, expected) in [
        (&b"<html/>"[..], "cap-check: standard input: line 1: the root element is <html>"),
        (b"\xff\xfe<\0", "cap-check: standard input: it is not UTF-8: "),
        (&large, "cap-check: standard input: the document is larger than 16 MiB"),
    ] {
        let output = check_input(&[], document);
        let error = refusal(&output);
        assert!(error.starts_with(expected) && output.stdout.is_empty(), "{error}");
    }
}
