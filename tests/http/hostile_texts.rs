use rocket::http::{Method, Status};
use serde_json::{Value, json};

use crate::suite::support::{Siaga, json_of, partner_report, properties};

/// What means something to a database, a page, a document or a template, and nothing here.
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

fn accepted(siaga: &Siaga, method: Method, address: &str, body: &Value) -> Value {
    let response = siaga.ask(method, address, body.to_string());
    assert_eq!(response.status(), Status::Ok, "{body}");
    json_of(response)
}

#[test]
fn names_and_texts_are_data_whatever_they_hold() {
    let siaga = Siaga::start();
    let before = from_partners(&siaga);
    let place = json!({ "lat": -6.195, "lng": 106.805 });
    for (number, text) in (1_i64..).zip(TEXTS) {
        let image = format!("https://example.org/{}", text.replace(char::is_control, ""));
        let report = json!({ "post_id": number, "title": text, "text": text, "image_url": image });
        let report = partner_report(report);
        assert_eq!(accepted(&siaga, Method::Post, "/v1/feeds/partner", &report)["created"], true);
        let result = siaga.result("/v1/reports?geoformat=geojson");
        let newest = &result["features"][0]["properties"];
        assert_eq!(
            (&newest["title"], &newest["text"], &newest["image_url"]),
            (&json!(text), &json!(text), &json!(image))
        );
        assert_eq!(properties(&siaga.result("/v1/reports"))[0], *newest, "in every format");

        let gauge = json!({
            "gaugeid": format!("hostile-{number}"), "gaugenameid": text, "location": place,
            "observations": [{ "observed_at": "2016-12-19T16:00:00Z", "level": 1, "alert": 4, "label": text }],
        });
        let answer = siaga.ask(Method::Put, "/v1/floodgauges", gauge.to_string());
        if answer.status() == Status::Ok {
            let gauges = properties(&siaga.result("/v1/floodgauges"));
            let stored = gauges.iter().find(|stored| stored["gaugeid"] == gauge["gaugeid"]).unwrap();
            assert_eq!(
                (&stored["gaugenameid"], &stored["observations"][0]["f4"]),
                (&json!(text), &json!(text))
            );
        } else {
            assert_eq!(answer.status(), Status::BadRequest, "a name is refused, or kept as it is");
        }
    }
    assert_eq!(from_partners(&siaga) - before, TEXTS.len(), "none has done away with another");
}

fn from_partners(siaga: &Siaga) -> usize {
    properties(&siaga.result("/v1/reports")).iter().filter(|report| report["source"] == "partner").count()
}
