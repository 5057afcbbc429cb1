use std::sync::Arc;
use std::time::Duration;

use chrono_tz::Tz;
use siaga::formats::Format;
use siaga::formats::cap::{Cap, Options, WebAddress};
use siaga::model::{Area, AreaSet, FloodLayer, FloodStatus, Layer, StateChange, Timestamp};
use siaga_conformance::fixture::{self, id};
use siaga_conformance::format_suite;
use siaga_conformance::formats::{context, encoded};

use crate::xml::texts;

format_suite!(Cap::default());

/// Returns a feed of one area with these names, in state 2 since the time of the example in the interface's documentation.
fn feed_of(name: &str, parent_name: &str) -> String {
    let area =
        Area { name: name.to_owned(), parent_name: parent_name.to_owned(), ..fixture::areas()[2].clone() };
    let since = Timestamp::parse("2016-12-19T22:41:35+0700").unwrap();
    let status = FloodStatus::after_first(StateChange { state: Some(fixture::state(2)), at: since });
    let areas = AreaSet::new(vec![area]).unwrap();
    let layer = Layer::Floods(FloodLayer::new(Arc::new(areas), vec![(0, status)]));
    text(encoded(&Cap::default(), &layer))
}

fn text(document: Vec<u8>) -> String {
    String::from_utf8(document).unwrap()
}

/// The alerts of a feed, each as a document.
fn alerts(feed: &str) -> Vec<&str> {
    let alerts = feed.split("<content type=\"text/xml\">").skip(1);
    alerts.map(|rest| rest.split("</content>").next().unwrap()).collect()
}

#[test]
fn the_example_of_the_interface_comes_out_as_documented() {
    let expected = concat!(
        r#"<?xml version="1.0" encoding="UTF-8"?><feed xmlns="http://www.w3.org/2005/Atom">"#,
        "<id>http://127.0.0.1:8000/v1/floods</id><title>petabencana.id Flood Affected Areas</title>",
        "<updated>2016-12-19T23:08:52+07:00</updated>",
        "<author><name>petabencana.id Flood Affected Areas</name><uri>https://petabencana.id/</uri></author>",
        "<entry><id>http://127.0.0.1:8000/v1/floods?parent_name=GROGOL&amp;area_name=RW%2009&amp;area_id=5",
        "&amp;time=2016-12-19T22%3A41%3A35%2B07%3A00</id>",
        "<title>GROGOL.RW_09.2016-12-19T22:41:35+07:00 Flood Affected Area</title>",
        "<updated>2016-12-19T22:41:35+07:00</updated>",
        r#"<content type="text/xml"><alert xmlns="urn:oasis:names:tc:emergency:cap:1.2">"#,
        "<identifier>GROGOL.RW_09.2016-12-19T22:41:35+07:00</identifier><sender>BPBD.JAKARTA.GOV.ID</sender>",
        "<sent>2016-12-19T22:41:35+07:00</sent><status>Actual</status><msgType>Alert</msgType>",
        "<scope>Public</scope><info><category>Met</category><event>FLOODING</event>",
        "<urgency>Immediate</urgency><severity>Minor</severity><certainty>Observed</certainty>",
        "<expires>2016-12-20T05:08:52+07:00</expires><senderName>JAKARTA EMERGENCY MANAGEMENT AGENCY</senderName>",
        "<headline>FLOOD WARNING</headline><description>AT 22:41 WIB THE JAKARTA EMERGENCY MANAGEMENT AGENCY ",
        "OBSERVED FLOODING OF BETWEEN 10 and 70 CENTIMETERS IN GROGOL, RW 09.</description>",
        "<web>https://petabencana.id/</web><area><areaDesc>RW 09, GROGOL</areaDesc>",
        "<polygon>-6.19,106.8 -6.19,106.83 -6.16,106.83 -6.16,106.8 -6.19,106.8</polygon>",
        "</area></info></alert></content></entry></feed>",
    );
    assert_eq!(feed_of("RW 09", "GROGOL"), expected);
}

#[test]
fn areas_with_a_state_and_no_others_are_in_the_feed_with_their_outer_rings() {
    let feed = text(encoded(&Cap::default(), &fixture::layer(&[(5, 3), (10, 4)])));
    let alerts = alerts(&feed);
    let polygons: Vec<usize> = alerts.iter().map(|alert| texts(alert, "polygon").len()).collect();
    assert_eq!(polygons, [1, 2]);
    for polygon in texts(&feed, "polygon") {
        let pairs: Vec<&str> = polygon.split(' ').collect();
        assert!(pairs.len() >= 4 && pairs.first() == pairs.last(), "{polygon:?}");
    }
}

#[test]
fn names_are_data_whatever_they_hold() {
    for name in ["<RW> \"5\" & été", "]]>", "a\u{1}b\u{0}c", "%2B+ ?#", "雨", "a,b  c\td"] {
        let feed = feed_of(name, "P & <Q>, R");
        let identifier = &texts(&feed, "identifier")[0];
        assert!(!identifier.contains([' ', ',', '<', '&']), "{identifier}");
        let id = &texts(&feed, "id")[1];
        assert!(id.is_ascii() && !id.contains([' ', '<', '"', '\\', '^', '`', '{', '|', '}']), "{id}");
        let shown = name.replace(['\u{0}', '\u{1}'], "\u{fffd}");
        assert_eq!(texts(&feed, "areaDesc"), [format!("{shown}, P & <Q>, R")]);
    }
}

#[test]
fn an_empty_name_leaves_out_its_comma_and_its_dot() {
    for (name, parent, description, identifier) in [
        ("", "PULAU", "PULAU", "PULAU.2016-12-19T22:41:35+07:00"),
        ("RW 1", "", "RW 1", "RW_1.2016-12-19T22:41:35+07:00"),
    ] {
        let feed = feed_of(name, parent);
        assert_eq!(texts(&feed, "areaDesc"), [description]);
        assert_eq!(texts(&feed, "identifier"), [identifier]);
        assert!(texts(&feed, "description")[0].ends_with(&format!(" IN {description}.")));
        assert!(!feed.contains("null"));
    }
}

#[test]
fn entries_of_areas_with_the_same_names_have_different_ids() {
    let area = |number| Area { id: id(number), ..fixture::areas()[0].clone() };
    let areas = Arc::new(AreaSet::new(vec![area(1), area(2)]).unwrap());
    let change = StateChange { state: Some(fixture::state(1)), at: fixture::now() };
    let status = FloodStatus::after_first(change);
    let layer = Layer::Floods(FloodLayer::new(areas, vec![(0, status), (1, status)]));
    let ids = texts(&text(encoded(&Cap::default(), &layer)), "id");
    assert_ne!(ids[1], ids[2]);
}

#[test]
fn each_state_has_its_severity_and_its_words() {
    for (code, severity, words) in [
        (1, "Unknown", "OBSERVED AN UNKNOWN LEVEL OF FLOODING - USE CAUTION - IN "),
        (2, "Minor", "OBSERVED FLOODING OF BETWEEN 10 and 70 CENTIMETERS IN "),
        (3, "Moderate", "OBSERVED FLOODING OF BETWEEN 71 and 150 CENTIMETERS IN "),
        (4, "Severe", "OBSERVED FLOODING OF OVER 150 CENTIMETERS IN "),
    ] {
        let feed = text(encoded(&Cap::default(), &fixture::layer(&[(1, code)])));
        assert_eq!(texts(&feed, "severity"), [severity]);
        assert!(texts(&feed, "description")[0].contains(words), "{words}");
    }
}

/// Returns a feed of one flooded area, written some minutes after the time of the fixture.
fn at(minutes: u64, time_zone: Tz) -> String {
    let mut context = context();
    context.now = context.now.saturating_add(Duration::from_mins(minutes));
    context.time_zone = time_zone;
    let mut out = Vec::new();
    Cap::default().encode(&fixture::layer(&[(1, 1)]), &context, &mut out).unwrap();
    text(out)
}

#[test]
fn only_expires_and_the_feeds_updated_depend_on_the_request() {
    let [now, later] = [0, 61].map(|minutes| at(minutes, Tz::Asia__Jakarta));
    assert_ne!(now, later);
    let stable = |feed: &str| {
        let updated = format!("<updated>{}</updated>", texts(feed, "updated")[0]);
        let expires = format!("<expires>{}</expires>", texts(feed, "expires")[0]);
        feed.replace(&updated, "").replace(&expires, "")
    };
    assert_eq!(stable(&now), stable(&later));
}

#[test]
fn the_offset_of_utc_is_written_as_cap_wants_it() {
    assert_eq!(texts(&at(0, Tz::UTC), "sent"), ["2016-12-19T15:08:52-00:00"]);
}

#[test]
fn the_agency_is_configured_for_all_cities_or_for_one() {
    let options: Options = serde_json::from_value(serde_json::json!({
        "sender": "a", "sender_name": "B & CO", "web": "https://example.org/?a&b", "author": "someone",
        "title": "Floods", "headline": "LOOK OUT", "expires_after": "90m",
        "agencies": { "bdg": { "sender": "bpbd.bandung.go.id", "sender_name": "BANDUNG AGENCY" } },
    }))
    .unwrap();
    let feed = text(encoded(&Cap::new(options), &fixture::layer(&[(1, 1), (30, 1)])));
    for (element, expected) in [
        ("sender", ["a", "bpbd.bandung.go.id"]),
        ("senderName", ["B & CO", "BANDUNG AGENCY"]),
        ("web", ["https://example.org/?a&b"; 2]),
        ("headline", ["LOOK OUT"; 2]),
        ("expires", ["2016-12-20T00:38:52+07:00"; 2]),
    ] {
        assert_eq!(texts(&feed, element), expected, "{element}");
    }
    assert_eq!((&*texts(&feed, "name")[0], &*texts(&feed, "title")[0]), ("someone", "Floods"));
    assert!(texts(&feed, "description")[1].contains(" WIB THE BANDUNG AGENCY OBSERVED "));
    for sender in ["", "a,b"] {
        let options = serde_json::from_value::<Options>(serde_json::json!({ "sender": sender }));
        assert!(options.is_err(), "{sender:?}");
    }
}

#[test]
fn a_web_address_is_absolute_and_written_as_rfc_3986_has_it() {
    for (text, is_accepted) in [
        ("http://10.0.0.7:8000/a?b=c&d=%20", true),
        ("https://a.b/c;d=(e)", true),
        ("", false),
        ("example.org", false),
        ("https:///a", false),
        ("https://?a", false),
        ("mailto:a@example.org", false),
        ("https://a b/", false),
        ("https://☔.example/", false),
    ] {
        assert_eq!(WebAddress::try_from(text.to_owned()).is_ok(), is_accepted, "{text}");
    }
}
