//! The check of feeds of alerts, which `crates/cap-check/tests` tests.

use std::fs;

use crate::{out, refusal, siaga_in};

/// A feed with a recommendation but no errors.
const FEED: &str = r#"<feed xmlns="http://www.w3.org/2005/Atom"><id>https://example.org/</id><title>Floods</title>
    <updated>2026-11-22T12:00:00+07:00</updated></feed>"#;

#[test]
fn the_check_needs_no_configuration() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("feed.xml"), FEED).unwrap();
    fs::write(folder.path().join("wrong.xml"), FEED.replace("Floods", "")).unwrap();
    fs::write(folder.path().join("Rocket.toml"), "[default").unwrap();
    let check = |file| {
        let variables = [("SIAGA_STORE", "oracle"), ("ROCKET_PORT", "abc")];
        siaga_in(&folder, &["alerts", "check", file], &variables)
    };
    let output = check("feed.xml");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(out(&output).contains("0 alerts checked: 0 errors, "), "{output:?}");
    assert_eq!(refusal(&check("wrong.xml")), "siaga: wrong.xml: 1 errors");
}
