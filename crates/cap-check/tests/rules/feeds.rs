use crate::documents::{assert_each_found, assert_found, changed, checked, full_feed, rss, thin_feed};

/// Appends a modified copy of the only entry.
fn with_second(feed: &str, tag: &str, change: impl Fn(String) -> String) -> String {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    let start = feed.find(&open).unwrap();
    let end = feed.rfind(&close).unwrap() + close.len();
    format!("{}{}{}", &feed[..end], change(feed[start..end].to_owned()), &feed[end..])
}

#[test]
fn an_atom_feed_and_its_entries_have_what_rfc_4287_requires() {
    let (id, title) = ("<id>https://example.org/alerts</id>", "<title>Floods</title>");
    let updated = "2026-11-22T05:00:00.5Z";
    let no_link = "recommendation the feed has no link to itself";
    let author = "<author><name>BPBD</name></author>\n";
    for feed in [full_feed(), thin_feed()] {
        assert_each_found(
            &feed,
            &[
                ("<id>https://example.org/alerts</id>\n", "", &["error <feed> has no <id>"]),
                (title, "<title/>", &["error <feed> has an empty <title>"]),
                (title, "<title>a</title><title>b</title>", &["error <feed> has 2 <title>"]),
                (updated, "2026-11-22T05:00:00", &["error <updated> is \"2026-11-22T05:00:00\""]),
                (id, "<id>alerts</id>", &["error <id> is \"alerts\""]),
                (id, "<id>urn:x:alerts</id>", &[]),
                ("<id>https://example.org/alerts/a-1</id>\n", "", &["error <entry> has no <id>"]),
                (author, "", &["error neither the feed nor the entry has an <author>"]),
                ("<name>BPBD</name>", "", &["error <author> has no <name>"]),
                ("rel=\"self\"", "rel=\"up\"", &[no_link]),
                (" href=\"https://example.org/alerts/a-1\"", "", &["error <link> has no href"]),
            ],
        );
        let authored = changed(&changed(&feed, author, ""), "<entry>\n", &format!("<entry>\n{author}"));
        assert_found(&authored, &[]);
    }
}

#[test]
fn an_entry_is_identified_by_the_address_of_its_alert() {
    let id = "<id>https://example.org/alerts/a-1</id>";
    assert_each_found(
        &thin_feed(),
        &[
            (id, "<id>urn:oid:2.49.0.1</id>", &["error hubs fetch it from there (IFRC)"]),
            (id, "<id>ftp://example.org/a</id>", &["error hubs fetch it from there (IFRC)"]),
            (id, "<id>a 1</id>", &["error write an IRI"]),
            (id, "<id>https://example.org/a b</id>", &["error write an IRI"]),
        ],
    );
}

#[test]
fn duplicate_entries_and_alerts_are_errors() {
    let other_alert = |entry: String| entry.replace("a-1<", "a-2<").replace("alerts/a-2<", "alerts/a-1<");
    let other_entry = |entry: String| entry.replace("alerts/a-1<", "alerts/a-2<");
    for (feed, tag, id) in
        [(full_feed(), "entry", "id"), (thin_feed(), "entry", "id"), (rss(), "item", "guid")]
    {
        let found = format!("error <{id}> is the same as in line ");
        assert_found(&with_second(&feed, tag, other_alert), &[&found]);
        let report = checked(&with_second(&feed, tag, other_entry));
        assert_eq!((report.alerts, report.errors()), (2, 1), "{report}");
        assert!(report.to_string().contains("identifier> is the same as in line "), "{report}");
        assert_found(&with_second(&feed, tag, |entry| entry.replace("a-1", "a-2")), &[]);
    }
}

#[test]
fn an_entry_links_to_its_alert() {
    let link =
        "<link rel=\"alternate\" type=\"application/cap+xml\" href=\"https://example.org/alerts/a-1\"/>\n";
    let untyped = "<link href=\"https://example.org/alerts/a-1\"/>\n";
    let no_link: &[&str] = &["error <entry> has no <link>"];
    assert_each_found(&full_feed(), &[(link, "", no_link), (link, &untyped.repeat(2), &[])]);
    assert_each_found(
        &thin_feed(),
        &[
            (link, "", no_link),
            (link, untyped, &[]),
            (link, &untyped.repeat(2), &["error none of several links is marked"]),
            (link, &format!("{untyped}{link}"), &[]),
        ],
    );
}

#[test]
fn an_alert_in_an_entry_is_checked_and_has_a_media_type_of_xml() {
    let (content, cap) = ("type=\"application/cap+xml\">", "oasis:names:tc:emergency:cap:");
    let old = ["recommendation an entry without its alert", "error <alert> is not of CAP 1.2"];
    assert_each_found(
        &full_feed(),
        &[
            (content, "type=\"text/xml\">", &[]),
            (content, "type=\"html\">", &["error with an alert has the type \"html\""]),
            (
                "<content type=\"application/cap+xml\">",
                "<content>",
                &["error with an alert has the type \"text\""],
            ),
            (&format!("<alert xmlns=\"urn:{cap}1.2\">"), &format!("<alert xmlns=\"urn:{cap}1.1\">"), &old),
            ("Actual", "Test", &["recommendation entry 1, alert \"a-1\": <status> is \"Test\""]),
        ],
    );
}

#[test]
fn elements_next_to_the_link_follow_the_rules_of_an_alert() {
    let status = "<cap:status>Test</cap:status><cap:severity>";
    let expired = ["recommendation the alert has expired", "error <expires> is not after <sent>"];
    let missing =
        "recommendation an entry without its alert has no <cap:identifier>, <cap:sent>, <cap:expires>";
    let identity = "<cap:identifier>a-1</cap:identifier>\n";
    for feed in [thin_feed(), rss()] {
        assert_each_found(
            &feed,
            &[
                (identity, "", &["recommendation an entry without its alert has no <cap:identifier>;"]),
                ("a-1</cap:", "a 1</cap:", &["error <cap:identifier> is \"a 1\""]),
                ("18:00:00+07:00", "11:00:00+07:00", &expired),
                (">Severe<", ">Bad<", &["error <cap:severity> is \"Bad\""]),
                ("cap:severity", "cap:severeness", &["error CAP 1.2 does not allow <cap:severeness> here"]),
                ("-6.2,106.9 ", "-6.2,106.9  ", &["error where a pair should be"]),
                ("<cap:severity>", status, &["recommendation is \"Test\""]),
                (
                    "cap:1.2\"",
                    "cap:1.1\"",
                    &[missing, "error the prefix of <cap:identifier> is not that of CAP 1.2"],
                ),
            ],
        );
        let renamed = feed.replace("<cap:", "<c:").replace("</cap:", "</c:").replace("xmlns:cap", "xmlns:c");
        assert_found(&renamed, &["error stands in an entry with the prefix \"c\""]);
    }
}

#[test]
fn an_rss_feed_and_its_items_have_what_rss_2_requires() {
    let description = "<description>Flooded areas</description>";
    assert_each_found(
        &rss(),
        &[
            ("version=\"2.0\"", "version=\"0.91\"", &["error <rss> is not of version 2.0"]),
            ("<link>https://example.org/</link>\n", "", &["error <channel> has no <link>"]),
            (description, "<description/>", &["error <channel> has an empty <description>"]),
            ("<lastBuildDate>Sun, 22", "<lastBuildDate>22/", &["error <lastBuildDate> is"]),
            ("<pubDate>Sun, 22 Nov 2026 12:00:00 +0700", "<pubDate>today", &["error <pubDate> is \"today\""]),
            ("rel=\"self\"", "rel=\"up\"", &["recommendation the feed has no link to itself"]),
            ("<link>https://example.org/alerts/a-1</link>\n", "", &["error <item> has no <link>"]),
            ("<link>https://example.org/alerts/a-1<", "<link>a-1<", &["error <link> is \"a-1\""]),
            ("<guid>https://example.org/alerts/a-1</guid>\n", "", &["error <item> has no <guid>"]),
            ("<title>Flood in RW 1</title>\n", "", &["error <item> has no <title> or <description>"]),
            ("channel>", "chanel>", &["error <rss> has not exactly one <channel>"]),
        ],
    );
}

#[test]
fn a_large_feed_is_a_finding() {
    let padded = |bytes: usize| {
        let feed = thin_feed();
        let padding = "x".repeat(bytes - feed.len());
        changed(&feed, "<title>Floods", &format!("<title>Floods{padding}"))
    };
    assert_found(&padded(1_000_000), &[]);
    assert_found(&padded(1_000_001), &["recommendation the document has 1000001 bytes"]);
}
