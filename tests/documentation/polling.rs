//! The polling clients of docs/staying-up-to-date.md against a service that changes, rejects requests and fails.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::blocks::{blocks, pages};
use crate::demo::Demo;
use crate::tools::{folder_with, node, printed, program, python};

const PAGE: &str = "docs/staying-up-to-date.md";

/// Runs a script beside the block of a language, which it imports.
fn run(language: &str, name: &str, script: &str, command: impl Fn(&Path) -> Command) {
    let demo = Demo::start();
    let path = |file: &str| format!("tests/documentation/{file}");
    let folder = folder_with(&[&path(script), &path("stand_in.py")]);
    let block = blocks(language).into_iter().find(|block| block.page == PAGE).unwrap();
    fs::write(folder.path().join(name), demo.fill_in(&block.text)).unwrap();
    let mut command = command(folder.path());
    command.current_dir(&folder).args([script, &demo.address("floods/states"), demo.key()]);
    printed(PAGE, &mut command);
    demo.end();
}

#[test]
fn polling_in_javascript_prints_a_change_once_and_waits_after_a_429() {
    run("js", "changes.mjs", "polling.mjs", node);
}

#[test]
fn polling_in_python_prints_a_change_once_and_waits_after_a_429() {
    run("python", "changes.py", "polling.py", |_| python());
}

/// The header and body size of a response in an encoding.
fn size(demo: &Demo, target: &str, coding: &str, tag: &str) -> (u64, u64) {
    let (accept, known) = (format!("Accept-Encoding: {coding}"), format!("If-None-Match: {tag}"));
    let mut curl = program("curl");
    curl.args(["-s", "-o", "/dev/null", "-H", &accept, "-H", &known, &demo.address(target)]);
    curl.args(["-w", "%{size_header};%{size_download}"]);
    let printed_line = printed(target, &mut curl);
    let (header, body) = printed_line.split_once(';').unwrap();
    (header.parse().unwrap(), body.parse().unwrap())
}

#[test]
fn the_size_of_a_response_matches_the_page_within_a_twentieth() {
    let demo = Demo::start();
    let page = &pages()[PAGE];
    let rows =
        page.lines().filter_map(|line| line.strip_prefix("| `/")).filter(|row| row.matches('|').count() == 4);
    let (mut count, mut faults) = (0, Vec::new());
    for row in rows {
        let (target, sizes) = row.split_once('`').unwrap();
        let sizes = sizes.split('|').skip(1).map(|size| size.trim().replace(',', ""));
        for (said, coding) in sizes.zip(["identity", "gzip", "br"]) {
            let said: u64 = said.parse().unwrap();
            let (header, body) = size(&demo, target, coding, "\"none\"");
            if body.abs_diff(said) * 20 >= said || !(650..860).contains(&header) {
                faults.push(format!("{target} {coding}: {body}, not {said}, after {header} of headers"));
            }
            count += 1;
        }
    }
    assert_eq!((count, faults), (18, Vec::new()));
    let (header, body) = size(&demo, "floods", "gzip", "*");
    assert!(body == 0 && (580..650).contains(&header), "{header} and {body} of a 304");
    demo.end();
}
