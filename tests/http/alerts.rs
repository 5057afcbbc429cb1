//! Configured texts of alerts, and addresses of single alerts.

use rocket::http::Status;

use crate::suite::support::{Siaga, figment, json_of};

#[test]
fn alerts_and_their_feed_have_the_configured_texts() {
    let figment = figment()
        .merge(("siaga.formats.cap.sender", "bpbd.example.org"))
        .merge(("siaga.formats.cap.expires_after", "90m"))
        .merge(("siaga.time_zone", "Asia/Jayapura"));
    let siaga = Siaga::with(figment, |builder| builder);
    let feed = siaga.get("/v1/floods?geoformat=cap&city=jbd").into_string().unwrap();
    // 90 minutes after the request, which comes at 16:08:52 in UTC.
    for expected in ["<sender>bpbd.example.org</sender>", "<expires>2016-12-20T02:38:52+09:00</expires>"] {
        assert!(feed.contains(expected), "{expected}: {feed}");
    }
}

/// The address and the alert of each entry of the feed.
fn entries(siaga: &Siaga) -> Vec<(String, String)> {
    let feed = siaga.get("/v1/floods?geoformat=cap").into_string().unwrap();
    let between = |text: &str, start: &str, end: &str| {
        text.split_once(start).unwrap().1.split_once(end).unwrap().0.to_owned()
    };
    let entry = |entry: &str| {
        let address = between(entry, "<id>http://localhost", "</id>").replace("&amp;", "&");
        (address, between(entry, r#"<content type="text/xml">"#, "</content>"))
    };
    feed.split("<entry>").skip(1).map(entry).collect()
}

#[test]
fn the_address_of_an_entry_returns_its_alert_while_it_is_in_force() {
    let siaga = Siaga::start();
    let found = entries(&siaga);
    assert_eq!(found.len(), 2);
    for (address, alert) in &found {
        let response = siaga.get(address);
        assert_eq!(response.status(), Status::Ok, "{address}");
        assert_eq!(response.headers().get_one("Content-Type"), Some("application/cap+xml"));
        let declared = format!(r#"<?xml version="1.0" encoding="UTF-8"?>{alert}"#);
        assert_eq!(response.into_string().unwrap(), declared);
    }
    // The same time in another notation, as hubs write it.
    let other = "/v1/floods?area_id=5&time=2016-12-19T13:41:35.000Z&parent_name=x";
    assert_eq!(siaga.get(other).into_string(), siaga.get(&found[0].0).into_string());

    siaga.put("/v1/floods/5", r#"{"state":2}"#);
    siaga.delete("/v1/floods/30");
    for (address, _) in &found {
        let response = siaga.get(address);
        assert_eq!(response.status(), Status::NotFound, "superseded or cleared: {address}");
        assert!(json_of(response)["message"].as_str().unwrap().starts_with("the alert of area "));
    }
    let set_anew = entries(&siaga);
    assert_eq!(set_anew.len(), 1);
    assert_eq!(siaga.get(&set_anew[0].0).status(), Status::Ok);
}

#[test]
fn area_id_and_time_without_a_format_select_a_single_alert() {
    let siaga = Siaga::start();
    let time = "time=2016-12-19T13:41:35Z";
    for query in ["area_id=5", time, "area_id=&time=", "area_id=5&time=", "area_id=x"] {
        assert_eq!(siaga.result(&format!("/v1/floods?{query}"))["type"], "Topology", "{query}");
    }
    for format in ["format=json", "geoformat=geojson", "geoformat=cap"] {
        let address = format!("/v1/floods?area_id=5&{time}");
        let [named, plain] = [format!("{address}&{format}"), format!("/v1/floods?{format}")]
            .map(|address| siaga.client.get(address).dispatch().into_string().unwrap());
        assert_eq!(named, plain);
    }
    for query in [format!("area_id=7&{time}"), "area_id=5&time=2016-12-19T13:41:36Z".to_owned()] {
        let response = siaga.client.get(format!("/v1/floods?{query}")).dispatch();
        assert_eq!(response.status(), Status::NotFound, "{query}");
    }
    let without = figment().merge(("siaga.formats.enabled", ["topojson"]));
    let without = Siaga::with(without, |builder| builder);
    assert_eq!(without.result(&format!("/v1/floods?area_id=5&{time}"))["type"], "Topology");
}
