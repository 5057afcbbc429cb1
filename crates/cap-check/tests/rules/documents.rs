//! Documents without findings, and assertions on changed documents.

use cap_check::Report;
use chrono::{DateTime, Utc};

/// An alert without findings.
pub(crate) const ALERT: &str = r#"<alert xmlns="urn:oasis:names:tc:emergency:cap:1.2">
<identifier>a-1</identifier>
<sender>flood@example.org</sender>
<sent>2026-11-22T12:00:00+07:00</sent>
<status>Actual</status>
<msgType>Update</msgType>
<scope>Public</scope>
<references>flood@example.org,a-0,2026-11-22T10:00:00+07:00</references>
<info>
<language>id-ID</language>
<category>Met</category>
<event>Banjir</event>
<responseType>Avoid</responseType>
<urgency>Immediate</urgency>
<severity>Severe</severity>
<certainty>Observed</certainty>
<eventCode><valueName>OET</valueName><value>OET-081</value></eventCode>
<expires>2026-11-22T18:00:00+07:00</expires>
<senderName>BPBD</senderName>
<headline>Banjir di RW 1</headline>
<description>Air setinggi 80 cm.</description>
<instruction>Hindari daerah ini.</instruction>
<web>https://example.org/rw1</web>
<contact>112</contact>
<parameter><valueName>flood_state</valueName><value>3</value></parameter>
<area>
<areaDesc>RW 1</areaDesc>
<polygon>-6.1,106.8 -6.1,106.9 -6.2,106.9 -6.1,106.8</polygon>
</area>
</info>
<info>
<category>Met</category>
<event>Flood</event>
<responseType>Avoid</responseType>
<urgency>Immediate</urgency>
<severity>Severe</severity>
<certainty>Observed</certainty>
<eventCode><valueName>OET</valueName><value>OET-081</value></eventCode>
<expires>2026-11-22T18:00:00+07:00</expires>
<senderName>BPBD</senderName>
<headline>Flood in RW 1</headline>
<description>The water is 80 cm deep.</description>
<instruction>Avoid this area.</instruction>
<web>https://example.org/rw1</web>
<contact>112</contact>
<area>
<areaDesc>RW 1, Jakarta</areaDesc>
<polygon>-6.1,106.8 -6.1,106.9 -6.2,106.9 -6.1,106.8</polygon>
</area>
</info>
</alert>
"#;

const FIELDS: &str = "<cap:identifier>a-1</cap:identifier>
<cap:sender>flood@example.org</cap:sender>
<cap:sent>2026-11-22T12:00:00+07:00</cap:sent>
<cap:expires>2026-11-22T18:00:00+07:00</cap:expires>
<cap:severity>Severe</cap:severity>
<cap:polygon>-6.1,106.8 -6.1,106.9 -6.2,106.9 -6.1,106.8</cap:polygon>
";

/// Returns a feed with one entry, which embeds the alert.
pub(crate) fn full_feed() -> String {
    atom(&format!("<content type=\"application/cap+xml\">{ALERT}</content>"))
}

/// Returns a feed with one entry, which only links to its alert.
pub(crate) fn thin_feed() -> String {
    atom(FIELDS)
}

fn atom(content: &str) -> String {
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:cap="urn:oasis:names:tc:emergency:cap:1.2">
<id>https://example.org/alerts</id>
<title>Floods</title>
<updated>2026-11-22T05:00:00.5Z</updated>
<author><name>BPBD</name></author>
<link rel="self" href="https://example.org/alerts"/>
<entry>
<id>https://example.org/alerts/a-1</id>
<title>Flood in RW 1</title>
<updated>2026-11-22T12:00:00+07:00</updated>
<link rel="alternate" type="application/cap+xml" href="https://example.org/alerts/a-1"/>
{content}</entry>
</feed>
"#
    )
}

/// Returns [`full_feed`] as RSS.
pub(crate) fn rss() -> String {
    format!(
        r#"<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:cap="urn:oasis:names:tc:emergency:cap:1.2">
<channel>
<title>Floods</title>
<link>https://example.org/</link>
<description>Flooded areas</description>
<lastBuildDate>Sun, 22 Nov 2026 12:00:00 +0700</lastBuildDate>
<atom:link rel="self" href="https://example.org/alerts.rss"/>
<item>
<title>Flood in RW 1</title>
<link>https://example.org/alerts/a-1</link>
<guid>https://example.org/alerts/a-1</guid>
<pubDate>Sun, 22 Nov 2026 12:00:00 +0700</pubDate>
{FIELDS}</item>
</channel>
</rss>
"#
    )
}

pub(crate) fn now() -> DateTime<Utc> {
    "2026-11-22T12:30:00+07:00".parse().unwrap()
}

pub(crate) fn checked(document: &str) -> Report {
    cap_check::check(document, now()).unwrap()
}

/// Replaces every occurrence of a text, which must exist.
pub(crate) fn changed(document: &str, from: &str, to: &str) -> String {
    assert!(document.contains(from), "{from}");
    document.replace(from, to)
}

/// Asserts that a document has exactly these findings, each given as its level, a space and a part of its text.
#[track_caller]
pub(crate) fn assert_found(document: &str, expected: &[&str]) {
    let report = checked(document);
    let fits = |(finding, expected): (&cap_check::Finding, &&str)| {
        let (level, part) = expected.split_once(' ').unwrap();
        finding.level.to_string() == level && finding.to_string().contains(part)
    };
    let all_fit = report.findings.iter().zip(expected).all(fits);
    assert!(all_fit && report.findings.len() == expected.len(), "expected {expected:#?}\n{report}");
}

/// Asserts the findings after each change of a document.
#[track_caller]
pub(crate) fn assert_each_found(document: &str, changes: &[(&str, &str, &[&str])]) {
    for (from, to, expected) in changes {
        assert_found(&changed(document, from, to), expected);
    }
}
