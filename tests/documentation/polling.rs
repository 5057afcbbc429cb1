//! What docs/polling.md has for programs that stay up to date, held against a service that changes, refuses and is away.

use std::fs;
use std::process::Command;

use crate::blocks::blocks;
use crate::demo::Demo;
use crate::tools::{node, printed, python};

const PAGE: &str = "docs/polling.md";

/// The block of a language, put into a file that a script beside it imports.
fn run(language: &str, script: &str, command: impl Fn(&std::path::Path) -> Command, names: [&str; 2]) {
    let (demo, folder) = (Demo::start(), tempfile::tempdir().unwrap());
    let [block] = <[_; 1]>::try_from({
        let mut found = blocks(language);
        found.retain(|block| block.page == PAGE);
        found
    })
    .unwrap();
    fs::write(folder.path().join(names[0]), demo.put_into(&block.text)).unwrap();
    fs::write(folder.path().join(names[1]), script).unwrap();
    let mut command = command(folder.path());
    command.current_dir(&folder).args([names[1], &demo.address("floods/states"), demo.key()]);
    printed(PAGE, &mut command);
    demo.end();
}

#[test]
fn in_javascript_a_change_is_told_once_and_a_refusal_is_waited_for() {
    run("js", include_str!("polling.mjs"), node, ["changes.mjs", "polling.mjs"]);
}

#[test]
fn in_python_a_change_is_told_once_and_a_refusal_is_waited_for() {
    run("python", include_str!("polling.py"), |_| python(), ["changes.py", "polling.py"]);
}
