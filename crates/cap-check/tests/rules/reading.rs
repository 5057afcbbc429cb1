use std::time::{Duration, Instant};

use cap_check::{MAX_BYTES, NotAFeed};

use crate::documents::{ALERT, assert_found, full_feed, now};

fn refused(document: &str) -> NotAFeed {
    cap_check::check(document, now()).unwrap_err()
}

#[test]
fn malformed_documents_are_refused_with_the_line() {
    for (document, line, reason) in [
        ("", 1, "it has no element"),
        ("<a>\n<b>\n</a>", 3, "expected `</b>`"),
        ("<a>\n", 2, "ends before its root element"),
        ("<a/>\n<b/>", 2, "beside the root element"),
        ("<a/>x", 1, "text stands outside"),
        ("<a>\n&nbsp;</a>", 2, "the entity &nbsp; is unknown"),
        ("<a>\n\u{1}</a>", 1, "XML forbids the character '\\u{1}'"),
        ("<a>]]></a>", 1, "write ]]&gt;"),
        ("<a b=\"<\"/>", 1, "holds <"),
        ("<a 1=\"2\"/>", 1, "is not a valid attribute name"),
        ("<1a/>", 1, "is not a valid element name"),
        ("<a\u{2028}b/>", 1, "is not a valid element name"),
        ("<p:a/>", 1, "the prefix \"p\" is not declared"),
        ("<a p:b=\"\"/>", 1, "the prefix \"p\" is not declared"),
        ("<a><!-- -- --></a>", 1, ""),
        ("\n<?xml version=\"1.0\"?><a/>", 2, "must stand at the very beginning"),
        ("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a/>", 1, "write the document in UTF-8"),
        ("<!DOCTYPE a [<!ENTITY b \"c\">]>\n<a>&b;</a>", 1, "document type declarations are not read"),
    ] {
        let error = refused(document);
        let NotAFeed::Unreadable { line: found, reason: why } = &error else { panic!("{document}: {error}") };
        assert!(*found == line && why.contains(reason), "{document}: {error}");
    }
}

#[test]
fn other_documents_are_refused_with_the_name_of_their_root() {
    for document in
        ["<html/>", "<feed/>", "<alert/>", "<a:rss xmlns:a=\"urn:a\"/>", &ALERT.replace("cap:1.2", "cap:1.1")]
    {
        let error = refused(document).to_string();
        assert!(error.starts_with("line 1: the root element is <"), "{error}");
    }
}

#[test]
fn prefixes_byte_order_marks_comments_and_references_are_equivalent() {
    let prefixed = ALERT.replace("</", "</cap:").replace('<', "<cap:").replace("<cap:/cap:", "</cap:");
    assert_found(&prefixed.replace("xmlns=", "xmlns:cap="), &[]);
    let byte_order_mark = format!("\u{feff}{}", full_feed());
    assert_found(&byte_order_mark, &[]);
    let with_references_and_comments = "Pub<!-- x -->l<![CDATA[i]]>&#99;";
    assert_found(&ALERT.replace("Public", with_references_and_comments), &[]);
}

#[test]
fn a_document_beyond_the_limits_is_refused() {
    let large = format!("<a>{}</a>", " ".repeat(MAX_BYTES));
    assert_eq!(refused(&large), NotAFeed::TooLarge);
    let attributes: String = (0..65).map(|number| format!(" a{number}=\"\"")).collect();
    for (document, reason) in [
        (format!("{}{}", "<a>".repeat(65), "</a>".repeat(65)), "nested more than 64 levels"),
        (format!("<a>{}</a>", "<b/>".repeat(500_000)), "more than 500000 elements"),
        (format!("<a{attributes}/>"), "more than 64 attributes"),
    ] {
        let error = refused(&document).to_string();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn the_largest_documents_are_checked_within_seconds() {
    let infos = |number| format!("<info><language>a{number}</language></info>");
    let languages = (0..150_000).map(infos).collect::<String>();
    let points = "-6.1,106.8 ".repeat(MAX_BYTES / 24);
    let start = Instant::now();
    for document in [
        ALERT.replace("</alert>", &format!("{languages}</alert>")),
        ALERT.replace("-6.1,106.8 -6.1,106.9", points.trim_end()),
        ALERT.replace(
            "<references>",
            &format!("<references>{}", "a,b,2026-11-22T10:00:00+07:00 ".repeat(500_000)),
        ),
    ] {
        assert!(!cap_check::check(&document, now()).unwrap().findings.is_empty());
    }
    assert!(start.elapsed() < Duration::from_mins(1), "{:?}", start.elapsed());
}
