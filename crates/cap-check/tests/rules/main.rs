//! Each rule reports its violations, and nothing else.

mod alerts;
mod documents;
mod feeds;
mod reading;
mod schema;

use cap_check::Level;

use self::documents::{ALERT, assert_found, checked, full_feed, rss, thin_feed};

#[test]
fn correct_documents_have_no_findings() {
    for document in [ALERT, &full_feed(), &thin_feed(), &rss()] {
        assert_found(document, &[]);
        assert_eq!(checked(document).to_string(), "1 alerts checked: 0 errors, 0 recommendations");
    }
}

#[test]
fn findings_have_line_and_place_and_the_last_line_counts_them() {
    let feed = full_feed().replace("Severe", "Unknown").replace("+xml\">", "+xml\">\n");
    let feed = feed.replace("<headline>Flood in RW 1</headline>\n", "");
    let report = checked(&feed);
    assert_eq!((report.errors(), report.recommendations()), (1, 2));
    assert_eq!(report.findings[0].level, Level::Recommendation);
    let lines: Vec<_> = feed.lines().collect();
    for (finding, place) in
        report.findings.iter().zip(["info 1 (\"id-ID\")", "info 2 (\"en-US\")", "info 2 (\"en-US\")"])
    {
        let line = lines[finding.line - 1];
        assert!(line.starts_with("<severity>") || line == "<info>", "{finding}");
        assert_eq!(finding.place, format!("entry 1, alert \"a-1\", {place}"));
    }
    let text = report.to_string();
    let headline =
        "\nerror: line 44: entry 1, alert \"a-1\", info 2 (\"en-US\"): <info> has no <headline>; add";
    assert!(text.contains(headline), "{text}");
    assert!(text.ends_with("\n1 alerts checked: 1 errors, 2 recommendations"), "{text}");
}

#[test]
fn a_finding_is_always_one_line() {
    // XML allows this control character, which begins commands in some terminals.
    let long = format!("a\n\u{9b}2J{}", "b".repeat(100));
    let escape = ALERT.replace("a-1", "a\n-1").replace("id-ID", &long).replace("Actual", &long);
    let report = checked(&escape);
    assert!(report.findings.len() >= 2, "{report}");
    for finding in report.findings {
        let text = finding.to_string();
        assert!(!text.contains(char::is_control) && text.len() < 400, "{text}");
    }
}
