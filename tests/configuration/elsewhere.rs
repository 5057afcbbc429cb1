//! What other pages repeat of the keys is the same.

use crate::page::{self, Documented};

const PAGES: [(&str, &str); 3] = [
    ("postgresql.md", include_str!("../../docs/postgresql.md")),
    ("network.md", include_str!("../../docs/network.md")),
    ("operating.md", include_str!("../../docs/operating.md")),
];

/// The rows of the tables of keys on a page.
fn rows(page: &str) -> Vec<Documented> {
    page.split("\n| key | ")
        .skip(1)
        .flat_map(|table| table.lines().skip(2).take_while(|line| line.starts_with('|')).flat_map(page::row))
        .collect()
}

#[test]
fn a_default_that_another_page_has_is_the_same() {
    let documented: Vec<Documented> = page::of_the_service().into_iter().chain(page::of_rocket()).collect();
    for (name, page) in PAGES {
        let rows = rows(page);
        assert!(rows.len() > 2, "{name}");
        for Documented { key, default } in rows {
            let key = key.strip_prefix("siaga.").unwrap_or(&key).to_owned();
            let same = Documented { key, default };
            assert!(documented.contains(&same), "{name}: {same:?}");
        }
    }
}
