//! The code blocks of the pages.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The languages whose blocks are tried, each by a module beside this one; Rust by the tests of the library's documentation.
const TRIED: [&str; 10] = ["sh", "js", "html", "python", "json", "yaml", "sql", "toml", "jinja", "rust"];

/// The marks of blocks that other modules run: `live.rs` and `server.rs`.
const ELSEWHERE: [&str; 4] = ["tabs", "live", "stream", "on the server"];

/// The blocks that are not tried, by page and reason: how many there are of each. A block is marked by a comment before it.
const NOT_TRIED: [(&str, &str, usize); 28] = [
    ("CONTRIBUTING.md", "takes minutes, or changes the machine", 2),
    ("README.md", "shows what the program prints", 1),
    ("docs/architecture.md", "a drawing", 1),
    ("docs/archive.md", "needs DuckDB", 1),
    ("docs/archive.md", "needs an archive", 1),
    ("docs/backup.md", "changes the machine", 1),
    ("docs/calls.md", "the tests of calls do this", 2),
    ("docs/country.md", "a part of a file", 2),
    ("docs/credentials.md", "asks a host of the reader's", 1),
    ("docs/debian-package.md", "the slow tests do this on a machine of their own", 4),
    ("docs/desk.md", "needs a store that keeps keys", 1),
    ("docs/docker.md", "needs Docker", 2),
    ("docs/edge.md", "needs the edge", 1),
    ("docs/gis.md", "needs OWSLib", 1),
    ("docs/https.md", "changes the machine", 2),
    ("docs/https.md", "is for Caddy", 1),
    ("docs/https.md", "is for systemd", 1),
    ("docs/one-small-server.md", "is for Caddy", 1),
    ("docs/one-small-server.md", "shows what the program prints", 1),
    ("docs/patroni.md", "changes the machine", 3),
    ("docs/postgresql.md", "changes the machine", 1),
    ("docs/reports-from-residents.md", "needs an account at Telegram", 1),
    ("docs/reports-from-residents.md", "takes reports that wait", 1),
    ("docs/runbook.md", "asks a host of the reader's", 2),
    ("docs/sources.md", "asks a host of the reader's", 1),
    ("docs/staying-up-to-date.md", "asks a host of the reader's", 1),
    ("docs/ten-minutes.md", "shows what the program prints", 1),
    ("docs/troubleshooting.md", "changes the machine", 1),
];

/// A block, or what stands between its fences.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) page: String,
    /// The line of the page at which it begins.
    pub(crate) line: usize,
    pub(crate) language: String,
    pub(crate) text: String,
    /// What a comment before it says, which readers do not see.
    pub(crate) mark: Option<String>,
}

impl Block {
    /// Why it is not tried.
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

/// The lines of a page that are no code.
pub(crate) fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut code = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        !code && !fence
    })
}

/// The blocks of one language that are tried, in the order of the pages.
pub(crate) fn blocks(language: &str) -> Vec<Block> {
    let mut blocks = every_block();
    blocks
        .retain(|block| block.language == language && block.reason().is_none() && !block.is_run_elsewhere());
    blocks
}

/// The blocks with a mark.
pub(crate) fn marked(mark: &str) -> Vec<Block> {
    let mut blocks = every_block();
    blocks.retain(|block| block.mark.as_deref() == Some(mark));
    blocks
}

/// The blocks of a page, in their order.
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
fn every_block_is_tried_or_says_why_not() {
    let mut reasons = BTreeMap::new();
    for block in every_block() {
        match block.reason() {
            Some(reason) => *reasons.entry((block.page.clone(), reason.to_owned())).or_insert(0) += 1,
            None => assert!(TRIED.contains(&block.language.as_str()), "{block:?}"),
        }
    }
    let allowed = NOT_TRIED.map(|(page, reason, count)| ((page.to_owned(), reason.to_owned()), count));
    assert_eq!(reasons, BTreeMap::from(allowed));
}

#[test]
fn a_block_has_what_stands_between_its_fences_and_the_comment_before_it() {
    let page = "a\n<!-- not tried: b -->\n```sh\nc\n\nd\n```\n\n```js,e\n```\n";
    let [first, second] = <[Block; 2]>::try_from(blocks_of("page", page)).unwrap();
    assert_eq!((first.line, first.language.as_str(), first.text.as_str()), (3, "sh", "c\n\nd\n"));
    assert_eq!((first.reason(), second.reason()), (Some("b"), None));
    assert_eq!((second.line, second.language.as_str(), second.text.as_str()), (9, "js", ""));
}
