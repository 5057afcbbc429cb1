//! The check of feeds of alerts.

use std::fs;

use crate::{out, refusal, siaga_in};

/// An alert with recommendations but no errors.
const ALERT: &str = "<alert xmlns=\"urn:oasis:names:tc:emergency:cap:1.2\"><identifier>a</identifier><sender>b</sender>\
    <sent>2026-11-22T12:00:00+07:00</sent><status>Actual</status><msgType>Alert</msgType><scope>Public</scope><info>\
    <category>Met</category><event>Flood</event><urgency>Immediate</urgency><severity>Severe</severity>\
    <certainty>Observed</certainty><expires>2026-11-22T18:00:00+07:00</expires><senderName>B</senderName>\
    <headline>c</headline><description>d</description><web>https://example.org/</web><area><areaDesc>e</areaDesc>\
    <circle>-6.1,106.8 1</circle></area></info></alert>";

#[test]
fn the_check_needs_no_configuration() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("alert.xml"), ALERT).unwrap();
    fs::write(folder.path().join("wrong.xml"), ALERT.replace("Public", "Everyone")).unwrap();
    fs::write(folder.path().join("Rocket.toml"), "[default").unwrap();
    let check = |file| {
        let variables = [("SIAGA_STORE", "oracle"), ("ROCKET_PORT", "abc")];
        siaga_in(&folder, &["alerts", "check", file], &variables)
    };
    let output = check("alert.xml");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(out(&output).lines().last().unwrap().starts_with("1 alerts checked: 0 errors, "), "{output:?}");
    assert_eq!(refusal(&check("wrong.xml")), "siaga: wrong.xml: 1 errors");
}
