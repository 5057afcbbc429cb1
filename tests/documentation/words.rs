//! The pages are in plain English: words that only this project understood do not come back.

use crate::blocks::{pages, prose};

/// Phrases that readers stumbled over. What to write instead: cache or cached; each caller, client or request; by default; startup
/// fails; tested.
const PRIVATE: [&str; 12] = [
    "at hand",
    "made anew",
    "whoever",
    "who asks",
    "unless told",
    "stops the start",
    "stop the start",
    "was tried",
    "were tried",
    "tried:",
    "is on offer",
    "of one's own",
];

#[test]
fn no_page_uses_the_words_of_this_project_alone() {
    for (page, text) in pages() {
        let prose = prose(&text).collect::<Vec<_>>().join(" ").to_lowercase();
        let prose = prose.replace("<!-- not tried:", "");
        let found: Vec<_> = PRIVATE.iter().filter(|phrase| prose.contains(**phrase)).collect();
        assert!(found.is_empty(), "{page}: {found:?}");
    }
}
