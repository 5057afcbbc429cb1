use rocket::http::{Method, Status};
use serde_json::json;

use crate::suite::support::{Siaga, json_of, partner_report, properties};

/// Texts with special meaning in SQL, HTML, XML, JSON or templates.
const TEXTS: [&str; 8] = [
    "'; DROP TABLE reports; --",
    "\" OR 1=1 /*",
    "<script>alert(1)</script>",
    "]]><!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]>&b;",
    "{{ 7 * 7 }} ${7*7} #{7*7} {% raw %}",
    "a\r\nSet-Cookie: b=c\r\n\r\n<html>",
    "\u{1B}[2J\u{202E}\u{FEFF}",
    "%00%0d%0a../../../etc/passwd",
];

#[test]
fn hostile_names_and_texts_are_stored_and_returned_unchanged() {
    let siaga = Siaga::start();
    let before = from_partners(&siaga);
    let place = json!({ "lat": -6.195, "lng": 106.805 });
    for (number, text) in (1_i64..).zip(TEXTS) {
        let image = format!("https://example.org/{}", text.replace(char::is_control, ""));
        let report = json!({ "post_id": number, "title": text, "text": text, "image_url": image });
        let sent = siaga.request(Method::Post, "/v1/feeds/partner", partner_report(report).to_string());
        assert_eq!(json_of(sent)["created"], true, "{text:?}");
        let result = siaga.result("/v1/reports?geoformat=geojson");
        let newest = &result["features"][0]["properties"];
        for (key, expected) in [("title", text), ("text", text), ("image_url", &*image)] {
            assert_eq!(newest[key], expected, "{key}");
        }
        assert_eq!(properties(&siaga.result("/v1/reports"))[0], *newest, "in every format");

        let gauge = json!({
            "gaugeid": format!("hostile-{number}"), "gaugenameid": text, "location": place,
            "observations": [{ "observed_at": "2016-12-19T16:00:00Z", "level": 1, "alert": 4, "label": text }],
        });
        let response = siaga.request(Method::Put, "/v1/floodgauges", gauge.to_string());
        // Names must not contain control characters.
        let is_refused = text.contains(char::is_control);
        assert_eq!(response.status(), if is_refused { Status::BadRequest } else { Status::Ok }, "{text:?}");
        if !is_refused {
            let gauges = properties(&siaga.result("/v1/floodgauges"));
            let stored = gauges.iter().find(|stored| stored["gaugeid"] == gauge["gaugeid"]).unwrap();
            assert_eq!([&stored["gaugenameid"], &stored["observations"][0]["f4"]], [text; 2]);
        }
    }
    assert_eq!(from_partners(&siaga) - before, TEXTS.len(), "none has done away with another");
}

fn from_partners(siaga: &Siaga) -> usize {
    properties(&siaga.result("/v1/reports")).iter().filter(|report| report["source"] == "partner").count()
}
