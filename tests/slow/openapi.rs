//! The description of the interface is true: requests are made from it, and each answer is held against it.

use std::fs;
use std::path::Path;

use crate::demo::Demo;
use crate::tools::{printed, python};

#[test]
fn schemathesis_finds_no_answer_that_is_not_described_nor_a_request_taken_or_refused_that_should_not() {
    // Streams do not end.
    let demo = Demo::configured(&[("SIAGA_STREAMS__TOTAL", "0")]);
    let configuration = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/slow/schemathesis");
    // It finds its hooks in the folder it runs in, and leaves there what it has learnt.
    let folder = tempfile::tempdir().unwrap();
    for file in ["schemathesis.toml", "hooks.py"] {
        fs::copy(configuration.join(file), folder.path().join(file)).unwrap();
    }
    let mut schemathesis = python();
    schemathesis
        .current_dir(&folder)
        .args(["-m", "schemathesis.cli", "--config-file", "schemathesis.toml", "run"])
        .arg(demo.origin("/openapi.json"))
        .args(["--header", &format!("X-Api-Key: {}", demo.key()), "--checks", "all"])
        // Enough for thousands of cases in a quarter of a minute, the same in every run.
        .args(["--max-examples", "15", "--generation-deterministic"]);
    let summary = printed("schemathesis", &mut schemathesis);
    let cases =
        summary.lines().find_map(|line| line.split(" generated, ").next()?.trim().parse::<u32>().ok());
    assert!(cases.is_some_and(|cases| cases > 3000), "{summary}");
    demo.end();
}
