//! The code blocks of the pages.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The tested languages, each in a module beside this one; Rust blocks are doc tests.
const TRIED: [&str; 10] = ["sh", "js", "html", "python", "json", "yaml", "sql", "toml", "jinja", "rust"];

/// The marks of blocks that other modules run: `live.rs`, `server.rs`, and the tests of `crates/siaga-gauges`.
const ELSEWHERE: [&str; 5] = ["tabs", "live", "stream", "on the server", "of siaga-gauges"];

/// The maximum number of untested blocks. Each has a comment with the reason.
const NOT_TRIED: usize = 39;

#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) page: String,
    /// Its first line on the page.
    pub(crate) line: usize,
    pub(crate) language: String,
    pub(crate) text: String,
    /// The HTML comment before it.
    pub(crate) mark: Option<String>,
}

impl Block {
    /// Why it is not tested.
    fn reason(&self) -> Option<&str> {
        self.mark.as_deref()?.strip_prefix("not tried: ")
    }

    /// Whether a module of its own runs it.
    fn is_run_elsewhere(&self) -> bool {
        self.mark.as_deref().is_some_and(|mark| ELSEWHERE.contains(&mark))
    }
}

/// The pages by their path in the repository, with their text.
pub(crate) fn pages() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let names = ["docs", "docs/id"].map(|folder| {
        let entries = fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().file_name());
        entries.map(move |name| format!("{folder}/{}", name.to_str().unwrap()))
    });
    let paths = names
        .into_iter()
        .flatten()
        .filter(|path| Path::new(path).extension().is_some_and(|extension| extension == "md"))
        .chain(["README.md", "CONTRIBUTING.md"].map(str::to_owned));
    paths.map(|path| (path.clone(), fs::read_to_string(root.join(path)).unwrap())).collect()
}

/// The lines of a page outside code blocks.
pub(crate) fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut code = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        !code && !fence
    })
}

/// The tested blocks of one language, in page order.
pub(crate) fn blocks(language: &str) -> Vec<Block> {
    let mut blocks = every_block();
    let is_tried = |block: &Block| block.reason().is_none() && !block.is_run_elsewhere();
    blocks.retain(|block| block.language == language && is_tried(block));
    assert!(!blocks.is_empty(), "{language}");
    blocks
}

/// The blocks with a mark.
pub(crate) fn marked(mark: &str) -> Vec<Block> {
    every_block().into_iter().filter(|block| block.mark.as_deref() == Some(mark)).collect()
}

pub(crate) fn blocks_on(page: &str) -> Vec<Block> {
    blocks_of(page, &pages()[page])
}

fn every_block() -> Vec<Block> {
    pages().iter().flat_map(|(page, text)| blocks_of(page, text)).collect()
}

fn blocks_of(page: &str, text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut before = "";
    let mut lines = text.lines().zip(1..);
    while let Some((line, number)) = lines.next() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            let inner = lines.by_ref().map(|(line, _)| line).take_while(|line| line.trim_start() != "```");
            let comment =
                before.trim_start().strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->"));
            blocks.push(Block {
                page: page.to_owned(),
                line: number,
                language: language.split(',').next().unwrap().to_owned(),
                text: inner.map(|line| format!("{line}\n")).collect(),
                mark: comment.map(str::to_owned),
            });
        }
        before = line;
    }
    blocks
}

#[test]
fn every_block_is_tested_or_has_a_reason_why_not() {
    let (not_tried, tried): (Vec<_>, Vec<_>) =
        every_block().into_iter().partition(|block| block.reason().is_some());
    for block in tried {
        assert!(TRIED.contains(&block.language.as_str()), "{block:?}");
    }
    assert!(not_tried.len() <= NOT_TRIED, "{not_tried:?}");
}
