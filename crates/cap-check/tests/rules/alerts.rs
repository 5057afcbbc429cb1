use crate::documents::{ALERT, assert_each_found, assert_found, changed};

#[test]
fn identifier_and_sender_have_no_space_comma_angle_bracket_or_ampersand() {
    for wrong in ["", "a 1", "a,1", "a&lt;1", "a&amp;1"] {
        let identifier = changed(ALERT, "<identifier>a-1<", &format!("<identifier>{wrong}<"));
        assert_found(&identifier, &["error and no space, comma, < or &"]);
        let sender = changed(ALERT, "<sender>flood@example.org<", &format!("<sender>{wrong}<"));
        assert_found(&sender, &["error and no space, comma, < or &"]);
    }
}

#[test]
fn alerts_that_are_not_actual_and_public_are_findings() {
    assert_each_found(
        ALERT,
        &[
            ("Actual", "Exercise", &["recommendation <status> is \"Exercise\""]),
            ("Public", "Private", &["recommendation <scope> is \"Private\""]),
        ],
    );
}

#[test]
fn updates_and_cancels_refer_to_earlier_messages() {
    let references = "<references>flood@example.org,a-0,2026-11-22T10:00:00+07:00</references>";
    let second = "<references>flood@example.org,a-0,2026-11-22T10:00:00+07:00 x,b,2026-11-22T11:00:00+07:00</references>";
    let none = changed(ALERT, references, "");
    assert_found(&none, &["error <msgType> is \"Update\", but no <references>"]);
    assert_found(
        &changed(&none, "Update", "Cancel"),
        &["error <msgType> is \"Cancel\", but no <references>"],
    );
    assert_found(&changed(&none, "Update", "Alert"), &[]);
    assert_each_found(
        ALERT,
        &[
            (references, second, &[]),
            (references, &second.replace(" x", "  x"), &["error <references> has \"\""]),
            ("flood@example.org,a-0", "a-0", &["error write sender,identifier,sent"]),
            ("10:00:00+07:00", "10:00:00Z", &["error write sender,identifier,sent"]),
            ("a-0", "a-1", &["error the message refers to itself"]),
            ("10:00:00+07:00", "13:00:00+07:00", &["error \"a-0\", which was sent later"]),
            (references, "<references/>", &["error but no <references>"]),
        ],
    );
}

#[test]
fn an_alert_has_info_blocks_with_all_that_readers_need() {
    let instruction = "<instruction>Avoid this area.</instruction>\n";
    let (start, end) = (ALERT.find("<info>").unwrap(), ALERT.find("</alert>").unwrap());
    assert_found(&ALERT.replace(&ALERT[start..end], ""), &["error the alert has no <info>"]);
    for (line, expected) in [
        ("<expires>2026-11-22T18:00:00+07:00</expires>\n", "error <info> has no <expires>"),
        ("<web>https://example.org/rw1</web>\n", "error <info> has no <web>"),
        ("<contact>112</contact>\n", "recommendation <info> has no <contact>"),
    ] {
        assert_found(&changed(ALERT, line, ""), &[expected; 2]);
    }
    assert_each_found(
        ALERT,
        &[
            ("<headline>Flood in RW 1</headline>\n", "", &["error <info> has no <headline>"]),
            ("The water is 80 cm deep.", " ", &["error <info> has no <description>"]),
            (instruction, "", &["recommendation <info> has no <instruction>"]),
            ("https://example.org/rw1", "/rw1", &["error <web> is \"/rw1\""; 2]),
        ],
    );
    let (start, end) = (ALERT.rfind("<area>").unwrap(), ALERT.rfind("</info>").unwrap());
    let without = format!("{}{}", &ALERT[..start], &ALERT[end..]);
    assert_found(&without, &["error <info> has no <area>", "error <area> differs between"]);
}

#[test]
fn texts_are_short_and_say_different_things() {
    let (headline, instruction, description) =
        ("Flood in RW 1", "Avoid this area.", "The water is 80 cm deep.");
    let long = |length| "x".repeat(length);
    let within = changed(ALERT, "Flood<", &format!("{}<", long(34)));
    let within = changed(&within, headline, &long(140));
    assert_found(&changed(&within, "RW 1, Jakarta", &long(49)), &[]);
    assert_each_found(
        ALERT,
        &[
            ("Flood<", &format!("{}<", long(35)), &["recommendation <event> has 35 characters"]),
            (headline, &long(141), &["recommendation <headline> has 141 characters"]),
            ("RW 1, Jakarta", &long(50), &["recommendation <areaDesc> has 50 characters"]),
            (headline, description, &["recommendation <headline> is equal to <description>"]),
            (instruction, description, &["recommendation <instruction> is equal to <description>"]),
        ],
    );
}

#[test]
fn unknown_urgency_severity_and_certainty_are_findings() {
    for (from, name) in [("Immediate", "urgency"), ("Severe", "severity"), ("Observed", "certainty")] {
        let found = format!("recommendation <{name}> is Unknown");
        assert_found(&changed(ALERT, from, "Unknown"), &[found.as_str(); 2]);
    }
}

#[test]
fn an_alert_expires_after_it_was_sent_and_within_a_day() {
    let late = "recommendation <expires> is more than 24 h";
    let sent = "<sent>2026-11-22T12:00:00+07:00<";
    let effective = |time: &str| format!("<effective>2026-11-22T{time}+07:00</effective>\n<expires>");
    assert_each_found(
        ALERT,
        &[
            (sent, "<sent>2026-11-22T11:00:00-00:00<", &["error <expires> is not after <sent>"; 2]),
            ("<expires>", &effective("13:00:00"), &[]),
            ("<expires>", &effective("18:00:00"), &["error <expires> is not after <effective>"; 2]),
            ("2026-11-22T18:00", "2026-11-23T12:00", &[]),
            ("2026-11-22T18:00:00", "2026-11-23T12:00:01", &[late; 2]),
        ],
    );
}

#[test]
fn an_alert_with_only_expired_blocks_is_a_finding() {
    let at = |document: &str, time: &str| cap_check::check(document, time.parse().unwrap()).unwrap();
    assert!(at(ALERT, "2026-11-22T17:59:59+07:00").findings.is_empty());
    let report = at(ALERT, "2026-11-22T18:00:00+07:00");
    assert_eq!((report.errors(), report.recommendations()), (0, 1), "{report}");
    assert!(report.to_string().contains("the alert has expired"), "{report}");
    let one_left = ALERT.replacen("18:00:00", "19:00:00", 1);
    assert!(!at(&one_left, "2026-11-22T18:00:00+07:00").to_string().contains("has expired"));
}

#[test]
fn languages_have_equal_content_and_one_is_english() {
    let second = |from: &str, to: &str| {
        let middle = ALERT.rfind("<info>").unwrap();
        format!("{}{}", &ALERT[..middle], changed(&ALERT[middle..], from, to))
    };
    for (from, to, name) in [
        (">Met<", ">Geo<", "category"),
        ("OET-081", "OET-082", "eventCode"),
        ("Severe", "Extreme", "severity"),
        ("<expires>", "<onset>2026-11-22T12:00:00+07:00</onset><expires>", "onset"),
        ("-6.2,106.9", "-6.3,106.9", "area"),
    ] {
        let found = format!("error <{name}> differs between the languages \"id-ID\" and \"en-US\"");
        assert_found(&second(from, to), &[&found]);
    }
    assert_found(
        &second("<category>", "<language>jv</language><category>"),
        &["recommendation no <info> is in English"],
    );
    let last = &ALERT[ALERT.rfind("<info>").unwrap()..ALERT.rfind("</alert>").unwrap()];
    let thrice = changed(ALERT, "</alert>", &format!("{}</alert>", last.replace("Severe", "Minor")));
    assert_found(&thrice, &["error have different numbers of <info>"]);
}

#[test]
fn areas_have_shapes_that_readers_understand() {
    let polygon = "<polygon>-6.1,106.8 -6.1,106.9 -6.2,106.9 -6.1,106.8</polygon>";
    let geocode = "<geocode><valueName>x</valueName><value>1</value></geocode>";
    let twice = |found| [found; 2];
    assert_found(
        &changed(ALERT, polygon, ""),
        &[[
            "recommendation no <area> has a <polygon> or <circle>",
            "error <area> has no <polygon>, <circle> or",
        ]; 2]
            .concat(),
    );
    let with_shape = |shape: &str| changed(ALERT, polygon, shape);
    assert_found(&with_shape(geocode), &twice("recommendation few readers know the places"));
    assert_found(&with_shape("<circle>-6.1,106.8 2.5</circle>"), &[]);
    assert_found(
        &with_shape("<circle>-6.1,106.8 0</circle>"),
        &twice("recommendation the circle has no extent"),
    );
    for wrong in ["-6.1,106.8", "-6.1 106.8 2", "-6.1,106.8  2", "106.8,-6.1 2", "-6.1,106.8 -2"] {
        assert_found(
            &with_shape(&format!("<circle>{wrong}</circle>")),
            &twice("error is not a valid circle"),
        );
    }
    for (points, found) in [
        ("-6.1,106.8  -6.1,106.9 -6.2,106.9 -6.1,106.8", "error has \"\" where a pair should be"),
        ("-6.1, 106.8 -6.1, 106.9 -6.2, 106.9 -6.1, 106.8", "error has \"-6.1,\" where a pair should be"),
        ("-6.1,1e2 -6.1,106.9 -6.2,106.9 -6.1,1e2", "error has \"-6.1,1e2\" where a pair should be"),
        ("-6.1,106.8 -6.1,106.9 -6.1,106.8", "error has 3 pairs or is not closed"),
        ("-6.1,106.8 -6.1,106.9 -6.2,106.9 -6.2,106.8", "error has 4 pairs or is not closed"),
        ("106.8,-6.1 106.9,-6.1 106.9,-6.2 106.8,-6.1", "error the pair 106.8,-6.1 is out of range"),
        ("-6.1,106.8 -6.2,106.9 -6.1,106.9 -6.2,106.8 -6.1,106.8", "error edges of the polygon cross"),
        ("-6.1234567,106.8 -6.1,106.9 -6.2,106.9 -6.1234567,106.8", "recommendation more than 6 decimals"),
    ] {
        assert_found(&with_shape(&format!("<polygon>{points}</polygon>")), &twice(found));
    }
}
