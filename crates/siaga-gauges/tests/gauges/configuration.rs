use std::time::Duration;

use siaga_gauges::readers;

const SIAGA: &str = "siaga = { base = \"http://127.0.0.1:8000/v1\", key = \"secret\" }\n";
const FEED: &str =
    "[[feed]]\nname = \"river\"\nkind = \"usgs\"\nunit = \"ft\"\naddress = \"https://feed.example/items\"\n";

fn error(text: &str) -> String {
    readers(text, Duration::from_secs(1)).err().unwrap_or_default()
}

#[test]
fn a_wrong_configuration_is_one_line_that_names_the_key_and_what_to_do() {
    let right = format!("{SIAGA}{FEED}");
    assert_eq!(error(&right), "");
    for (from, to, expected) in [
        ("\"ft\"", "\"yd\"", "feed: 0: unit: unknown variant: found `yd`, expected `one of `m`, `ft`, `cm``"),
        ("unit = \"ft\"\n", "", "feed: 0: missing field `unit`"),
        ("unit", "evry = \"5m\"\nunit", "feed: 0: evry: unknown field: found `evry`, expected"),
        ("unit", "every = \"5\"\nunit", "feed: 0: every: \"5\" is wrong"),
        ("unit", "every = \"5s\"\nunit", "feed \"river\": every is 5s: write 30s to 24h"),
        ("unit", "every = \"2d\"\nunit", "feed \"river\": every is 172800s: write 30s to 24h"),
        ("unit", "offset = \"WIB\"\nunit", "feed: 0: offset: \"WIB\" is wrong"),
        ("unit", "file = \"x\"\nunit", "feed \"river\": write either address or file"),
        ("\"usgs\"", "\"csv\"", "feed \"river\": write columns for the kind csv only"),
        ("unit", "columns.x = \"x\"\nunit", "feed \"river\": columns has \"x\": write one of [\"gauge\","),
        ("unit", "gauge.a.location = { lat = 0, lng = 0 }\nunit", "feed \"river\": gauge \"a\": location is"),
        (
            "unit",
            "gauge.a.thresholds = { alert = 1, watch = 1 }\nunit",
            "feed \"river\": gauge \"a\": write thresh",
        ),
        ("unit", "gauge.a.thresholds.high = 1\nunit", "feed: 0: gauge: a: thresholds: high: unknown variant"),
        ("unit", "gauge.a.as = \"x\"\ngauge.b.as = \"x\"\nunit", "two gauges are \"x\": change `as` of one"),
        ("[[feed]]", &format!("{FEED}[[feed]]"), "two feeds are named \"river\": rename one"),
        ("\"secret\"", "\"secret\", key_file = \"x\"", "write either siaga.key or siaga.key_file"),
        (", key = \"secret\"", "", "write either siaga.key or siaga.key_file"),
        ("key = \"secret\"", "key_file = \"/nowhere\"", "siaga.key_file: No such file"),
        (FEED, "", "missing field `feed`"),
    ] {
        let changed = right.replacen(from, to, 1);
        let error = error(&changed);
        assert!(error.starts_with(expected) && !error.contains('\n'), "{expected}\n{error}");
    }
}

#[test]
fn an_error_never_shows_the_key() {
    for text in [
        "siaga = { key = \"secret",
        "[siaga]\nkey = \"secret\" x",
        "[siaga]\nkey = \"sec\\u0007ret\"\nbase = \"http://x\"",
    ] {
        let error = error(text);
        assert!(!error.is_empty() && !error.contains("sec") && !error.contains('\n'), "{error}");
    }
}

#[test]
fn the_configurations_on_the_page_are_right() {
    let page = include_str!("../../../../docs/gauges-of-others.md");
    let page = page.replace("key_file = \"/etc/siaga/gauges.key\"", "key = \"secret\"");
    let blocks: Vec<_> =
        page.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(blocks.len() >= 6, "Siaga and one of each kind");
    let (siaga, feeds) = blocks.split_first().unwrap();
    for feed in feeds {
        assert_eq!(error(&format!("{siaga}{feed}")), "", "{feed}");
    }
    assert_eq!(error(&blocks.concat()), "", "all together");
}
