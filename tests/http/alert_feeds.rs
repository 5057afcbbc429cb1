//! Alerts for hubs: `/alerts` and the paths below it.

use std::collections::HashSet;
use std::time::Duration;

use rocket::http::{Header, Status};
use rocket::local::blocking::Client;

use super::alert_links::link;
use crate::fixture;
use crate::independent::xml::texts;
use crate::suite::support::{Siaga, assert_invalid, figment};

const PUT: &str = r#"{"state":3}"#;

/// The document at an address, and its entity tag.
fn document(client: &Client, address: &str) -> (String, String) {
    let response = client.get(address.to_owned()).dispatch();
    assert_eq!(response.status(), Status::Ok, "{address}");
    let tag = response.headers().get_one("ETag").unwrap().to_owned();
    (response.into_string().unwrap(), tag)
}

/// Identifier and type of each message in a feed.
fn listed(siaga: &Siaga, address: &str) -> Vec<(String, String)> {
    let feed = document(&siaga.client, address).0;
    texts(&feed, "cap:identifier").into_iter().zip(texts(&feed, "cap:msgType")).collect()
}

fn minutes(minutes: u64) -> Duration {
    Duration::from_mins(minutes)
}

#[test]
fn the_feed_follows_a_flood_from_its_beginning_to_its_end() {
    let siaga = Siaga::start();
    let types = || texts(&document(&siaga.client, "/v1/alerts").0, "cap:msgType");
    // Area 5 has had its state for two and a half hours; that of area 30 was not confirmed for days.
    assert_eq!(types(), ["Alert"]);
    siaga.put("/v1/floods/1", PUT);
    assert_eq!(types(), ["Alert", "Alert"]);
    siaga.pass(minutes(10));
    let before = listed(&siaga, "/v1/alerts");
    siaga.put("/v1/floods/1", PUT);
    siaga.pass(minutes(1));
    assert_eq!(listed(&siaga, "/v1/alerts"), before, "the same state again is no message");
    siaga.put("/v1/floods/1", r#"{"state":4}"#);
    assert_eq!(types(), ["Update", "Alert"]);
    siaga.pass(minutes(1));
    siaga.delete("/v1/floods/1");
    assert_eq!(types(), ["Cancel", "Alert"]);
    // The Cancel ends with the messages that it ends; area 5 was renewed in between.
    siaga.pass(minutes(6 * 60));
    assert_eq!(types(), ["Update"]);
    siaga.pass(minutes(36 * 60));
    assert_eq!(types(), [""; 0]);
}

#[test]
fn the_tag_of_the_feed_stays_the_same_until_a_message_is_added_or_removed() {
    let siaga = Siaga::start();
    // The fixture's flood began at 13:41:35. It is 16:08:52.
    let renewed = minutes(5 * 60) + Duration::from_secs(15);
    let begun = fixture::log().last().unwrap().at;
    let tag = document(&siaga.client, "/v1/alerts").1;
    let current = |tag: &str| siaga.is_current("/v1/alerts", tag);
    siaga.clock.set(begun.saturating_add(renewed).saturating_sub(Duration::from_millis(1)));
    assert!(current(&tag));
    siaga.clock.set(begun.saturating_add(renewed));
    assert!(!current(&tag));
    assert_eq!(texts(&document(&siaga.client, "/v1/alerts").0, "updated")[0], "2016-12-20T01:41:35+07:00");
}

#[test]
fn a_message_stays_at_its_address_for_ever() {
    let siaga = Siaga::start();
    siaga.put("/v1/floods/1", PUT);
    let identifiers = listed(&siaga, "/v1/alerts");
    assert_eq!(identifiers.len(), 2);
    let all = |client: &Client| -> Vec<_> {
        identifiers.iter().map(|(id, _)| document(client, &format!("/v1/alerts/{id}"))).collect()
    };
    let first = all(&siaga.client);
    siaga.pass(minutes(1));
    siaga.delete("/v1/floods/1");
    siaga.put("/v1/floods/5", r#"{"state":4}"#);
    siaga.pass(Duration::from_hours(24 * 400));
    assert_eq!(all(&siaga.client), first);
    assert_eq!(all(&siaga.another_server(figment())), first);
}

#[test]
fn the_page_of_an_alert_is_in_one_language_first_with_times_in_words_a_map_and_a_way_back() {
    let siaga = Siaga::start();
    siaga.put("/v1/floods/5", r#"{"state":4}"#);
    for (query, first, second, words) in
        [("", "id", "en", "Lihat di peta"), ("&lang=en", "en", "id", "See it on the map")]
    {
        let page = document(&siaga.client, &format!("/v1/alerts/history?area=5&format=html{query}")).0;
        let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}: {page}"));
        assert!(at(&format!("<div lang=\"{first}-")) < at(&format!("<details lang=\"{second}-")), "{query}");
        at(&format!("<html lang=\"{first}\">"));
        for part in [words, " WIB</time>", "<path class=\"area\" d=\"M", "href=\"/map?area=5&amp;lang="] {
            at(part);
        }
        // The other language keeps the area.
        at(&format!("history?area=5&amp;format=html&amp;lang={second}"));
    }
    let feed = |query: &str| document(&siaga.client, &format!("/v1/alerts?format=xml{query}")).0;
    assert_eq!(feed("&lang=en"), feed(""), "only the page has a language");

    // Without `lang`, the page answers in the language of the browser, and caches know.
    for address in ["/v1/alerts", "/v1/alerts/history?area=5", "/v1/alerts/exercise"] {
        let sign = if address.contains('?') { '&' } else { '?' };
        for (format, wanted, vary) in [
            ("html", "<html lang=\"en\">", "Accept, Accept-Encoding, Accept-Language"),
            ("xml", "<?xml", "Accept, Accept-Encoding"),
        ] {
            let request = siaga.client.get(format!("{address}{sign}format={format}"));
            let response = request.header(Header::new("Accept-Language", "en-GB, id;q=0.5")).dispatch();
            let varies = response.headers().get_one("Vary").unwrap().to_owned();
            assert!(varies.starts_with(vary), "{address} {format}: {varies}");
            assert_eq!(varies.contains("Accept-Language"), format == "html", "{address}");
            assert!(response.into_string().unwrap().contains(wanted), "{address} {format}");
        }
    }
}

#[test]
fn unknown_and_unsent_messages_are_404_and_not_cached() {
    let siaga = Siaga::start();
    let begun = fixture::log().last().unwrap().at.to_utc().timestamp_millis();
    let renewal = format!("localhost-5-{begun}-1");
    for unknown in [
        "nothing",
        &format!("localhost-4-{begun}-0"),
        &format!("localhost-5-{}-0", begun + 1),
        &format!("localhost-5-{begun}-4294967295"),
        &format!("example.org-5-{begun}-0"),
        &renewal,
    ] {
        let response = siaga.client.get(format!("/v1/alerts/{unknown}")).dispatch();
        assert_eq!(response.status(), Status::NotFound, "{unknown}");
        assert_eq!(response.headers().get_one("Cache-Control"), Some("no-store"), "{unknown}");
    }
    siaga.pass(Duration::from_hours(3));
    assert!(
        document(&siaga.client, &format!("/v1/alerts/{renewal}")).0.contains("<msgType>Update</msgType>")
    );
}

#[test]
fn a_message_is_a_document_for_hubs_a_page_for_browsers_and_json_for_programs() {
    let siaga = Siaga::start();
    let (identifier, _) = listed(&siaga, "/v1/alerts").remove(0);
    let address = format!("/v1/alerts/{identifier}");
    let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    let (cap, html, json) = ("application/cap+xml", "text/html; charset=utf-8", "application/json");
    for (query, accept, expected) in [
        ("", "*/*", cap),
        ("", browser, html),
        ("", json, json),
        ("?format=xml", browser, cap),
        ("?format=html", "*/*", html),
        ("?format=json", "*/*", json),
        ("?geoformat=geojson", "*/*", json),
    ] {
        let request = siaga.client.get(format!("{address}{query}"));
        let response = request.header(Header::new("Accept", accept)).dispatch();
        assert_eq!(response.headers().get_one("Content-Type"), Some(expected), "{query} {accept}");
    }
    let wrong = siaga.client.get(format!("{address}?geoformat=atom")).dispatch();
    assert_invalid(wrong, "query", &["geoformat"], "must be one of");
    let found = siaga.result(&format!("{address}?geoformat=geojson"));
    assert_eq!(
        found["features"][0]["properties"],
        serde_json::json!({
            "identifier": identifier, "status": "Actual", "message_type": "Alert",
            "sent": "2016-12-19T13:41:35.000Z", "expires": "2016-12-19T19:41:35.000Z", "references": [],
            "area_id": "5", "geom_id": "3174040004009005", "area_name": "RW 09", "parent_name": "GROGOL",
            "city_name": "JAKARTA BARAT", "state": 2, "last_confirmed": "2016-12-19T13:41:35.000Z",
        })
    );
}

#[test]
fn a_feed_has_the_filters_of_the_flood_map() {
    let siaga = Siaga::start();
    siaga.put("/v1/floods/30", r#"{"state":4}"#);
    let areas = |query: &str| {
        let feed = document(&siaga.client, &format!("/v1/alerts{query}")).0;
        let own = format!("http://localhost/v1/alerts{query}").replace('&', "&amp;");
        assert!(feed.contains(&format!("<id>{own}</id>")), "{query}");
        texts(&feed, "cap:areaDesc")
    };
    for (query, expected) in [
        ("", vec!["RW 09, GROGOL", "RW 30"]),
        ("?city=bdg", vec!["RW 30"]),
        ("?admin=ID-JK", vec!["RW 09, GROGOL"]),
        ("?minimum_state=2", vec!["RW 09, GROGOL", "RW 30"]),
        ("?minimum_state=3", vec!["RW 30"]),
        ("?city=jbd&minimum_state=3", vec![]),
    ] {
        assert_eq!(areas(query), expected, "{query}");
    }
    // Subscribers of the Alert must receive its Cancel.
    siaga.pass(minutes(1));
    siaga.delete("/v1/floods/30");
    assert_eq!(areas("?minimum_state=4"), ["RW 30"]);
}

#[test]
fn inline_adds_the_messages_to_the_atom_feed_and_to_no_other() {
    let siaga = Siaga::start();
    let feed = document(&siaga.client, "/v1/alerts?content=inline").0;
    let (identifier, _) = listed(&siaga, "/v1/alerts").remove(0);
    let alone = document(&siaga.client, &format!("/v1/alerts/{identifier}")).0;
    let alone = alone.split_once("?>").unwrap().1;
    assert!(feed.contains(&format!("<content type=\"application/cap+xml\">{alone}</content>")));
    for query in ["geoformat=rss", "geoformat=geojson", "geoformat=html"] {
        let with = |query: String| document(&siaga.client, &format!("/v1/alerts?{query}"));
        assert_eq!(with(format!("content=inline&{query}")), with(query.to_owned()));
    }
}

#[test]
fn the_history_of_an_area_is_its_messages_newest_first() {
    let siaga = Siaga::start();
    // Area 5 had three states, and the first two of them were not renewed after their time.
    let all = listed(&siaga, "/v1/alerts/history?area=5");
    assert_eq!(all[0].1, "Alert");
    assert!(all.len() > 3, "{all:?}");
    let middle = &all[2].0;
    let older = listed(&siaga, &format!("/v1/alerts/history?area=5&before={middle}"));
    assert_eq!(older, all[3..]);
    assert_eq!(listed(&siaga, "/v1/alerts/history?area=10"), []);
    assert_eq!(siaga.get("/v1/alerts/history?area=77").status(), Status::NotFound);
    for before in ["x", middle.replace("-5-", "-1-").as_str()] {
        let address = format!("/v1/alerts/history?area=5&before={before}");
        assert_eq!(siaga.get(&address).status(), Status::NotFound, "{before}");
    }
}

#[test]
fn a_long_history_comes_in_pages_of_a_thousand() {
    let siaga = Siaga::start();
    siaga.change_often(1, 1_050);
    siaga.pass(minutes(1));
    let (mut address, mut all) = ("/v1/alerts/history?area=1".to_owned(), Vec::new());
    loop {
        let page = document(&siaga.client, &address).0;
        let found = texts(&page, "cap:identifier");
        assert!(found.len() <= 1000);
        all.extend(found);
        let Some(next) = link(&page, "next") else { break };
        address = next.replace("http://localhost", "");
    }
    // The flood of the fixture: its message and its Cancel, or renewals.
    assert!(all.len() >= 1_050, "{}", all.len());
    let unique: HashSet<_> = all.iter().collect();
    assert_eq!(unique.len(), all.len());
}

#[test]
fn the_feed_of_the_exercise_has_the_current_message() {
    let siaga = Siaga::start();
    for expected in ["Alert", "Update"] {
        let listed = listed(&siaga, "/v1/alerts/exercise");
        let [(identifier, message_type)] = &listed[..] else { panic!("{listed:?}") };
        assert_eq!(message_type, expected);
        let document = document(&siaga.client, &format!("/v1/alerts/{identifier}")).0;
        assert!(document.contains("<status>Exercise</status>"), "{document}");
        siaga.pass(minutes(15));
    }
}

#[test]
fn the_page_groups_the_alerts_in_force_by_larger_area_and_folds_them_if_they_are_many() {
    let siaga = Siaga::start();
    let page = |query: &str| document(&siaga.client, &format!("/v1/alerts?format=html&lang=en{query}")).0;
    let larger = |page: &str| -> Vec<String> {
        let groups = page.split("<details class=\"larger\"").skip(1);
        groups
            .map(|group| group.split("<b>").nth(1).unwrap().split("</b>").next().unwrap().to_owned())
            .collect()
    };
    // One alert is not grouped, and everything is open.
    let one = page("");
    assert!(larger(&one).is_empty() && !one.contains("<details><summary>"), "{one}");

    let areas = fixture::areas();
    for area in &areas {
        siaga.put(&format!("/v1/floods/{}", area.id), r#"{"state":2}"#);
    }
    let deepest = areas.find(siaga::model::AreaId::try_from(5).unwrap()).unwrap();
    siaga.put(&format!("/v1/floods/{}", deepest.id), r#"{"state":4}"#);
    let many = page("");
    assert_eq!(many.matches("<article").count(), areas.len());
    assert_eq!(larger(&many)[0].to_uppercase(), deepest.parent_name.to_uppercase(), "the deepest first");
    let in_larger = areas.iter().filter(|area| area.parent_name == deepest.parent_name).count();
    let sum = format!("{in_larger} of {in_larger} neighbourhoods, deepest: More than 150 cm");
    assert!(many.contains(&sum), "{sum}: {many}");
    assert!(!many.contains("<details class=\"larger\" open"), "{many}");
    let browser = Header::new("Accept", "text/html");
    let front = siaga.client.get("/?lang=en").header(browser).dispatch().into_string().unwrap();
    assert!(front.contains(&sum), "the front page has the sums too");

    let other = areas
        .iter()
        .find(|area| area.parent_name == deepest.parent_name && area.id != deepest.id)
        .expect("another area in it");
    siaga.put(&format!("/v1/floods/{}", other.id), r#"{"state":1}"#);
    assert!(page("").contains(&format!("{sum}; depth not known in 1")), "{}", page(""));

    siaga.delete(&format!("/v1/floods/{}", deepest.id));
    let cleared = page("");
    assert_eq!(cleared.matches("<article").count(), areas.len(), "the message about the end is listed");
    assert!(!cleared.contains("deepest: More than"), "an ended flood is not counted: {cleared}");
}
