//! Links from one page to another, or to a file of the repository.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::blocks::{pages, prose};

/// The anchors of a page: its headings as GitHub writes them.
fn anchors(text: &str) -> HashSet<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let headings = prose(text)
        .filter_map(|line| line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#')));
    headings
        .map(|heading| {
            let lowercase = heading.to_lowercase().replace(' ', "-");
            let anchor: String =
                lowercase.chars().filter(|&c| c.is_alphanumeric() || c == '-' || c == '_').collect();
            let before = seen.entry(anchor.clone()).or_default();
            *before += 1;
            if *before == 1 { anchor } else { format!("{anchor}-{}", *before - 1) }
        })
        .collect()
}

/// The targets of a page's links inside the repository.
fn links(text: &str) -> Vec<&str> {
    let targets =
        prose(text).flat_map(|line| line.split("](").skip(1)).filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.contains("://")).collect()
}

#[test]
fn every_link_leads_to_a_file_and_every_anchor_to_a_heading() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pages = pages();
    for page in
        ["SECURITY.md", "CHANGELOG.md", "examples/agency/README.md", "examples/country/manila/README.md"]
    {
        pages.insert(page.to_owned(), fs::read_to_string(root.join(page)).unwrap());
    }
    let mut count = 0;
    for (page, text) in &pages {
        for link in links(text) {
            count += 1;
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let file =
                if path.is_empty() { root.join(page) } else { root.join(page).parent().unwrap().join(path) };
            assert!(file.exists(), "{page}: {link}");
            if !anchor.is_empty() {
                let text = fs::read_to_string(file).unwrap();
                assert!(anchors(&text).contains(anchor), "{page}: {link}");
            }
        }
    }
    assert!(count > 40, "{count}");
}

fn linked_pages(page: &str, text: &str) -> HashSet<PathBuf> {
    let folder = Path::new(page).parent().unwrap();
    let paths = links(text).into_iter().map(|link| link.split('#').next().unwrap());
    paths.map(|path| folder.join(path)).collect()
}

#[test]
fn readme_leads_to_the_index_and_the_index_to_every_page() {
    let pages = pages();
    assert!(linked_pages("README.md", &pages["README.md"]).contains(Path::new("docs/index.md")));
    let index = linked_pages("docs/index.md", &pages["docs/index.md"]);
    for page in pages.keys().filter(|page| *page != "docs/index.md") {
        let path =
            if page.starts_with("docs/") { PathBuf::from(page) } else { Path::new("docs/..").join(page) };
        assert!(index.contains(&path), "{page}");
    }
}
