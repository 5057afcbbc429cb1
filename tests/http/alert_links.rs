//! Links, addresses, texts and places of the entries in alert feeds.

use std::time::Duration;

use rocket::http::{Header, Status};

use crate::independent::xml::texts;
use crate::suite::support::{Siaga, assert_invalid};

const FEEDS: [&str; 3] = ["/v1/alerts", "/v1/alerts?content=inline", "/v1/alerts?geoformat=rss"];

/// A service with an alert about each area, and one that a flood is over.
fn service() -> Siaga {
    let siaga = Siaga::start();
    for (area, state) in [(1, 1), (2, 2), (5, 3), (10, 4), (30, 2)] {
        let set = siaga.put(&format!("/v1/floods/{area}"), format!(r#"{{"state":{state}}}"#)).status();
        assert_eq!(set, Status::Ok);
    }
    siaga.pass(Duration::from_mins(1));
    assert_eq!(siaga.delete("/v1/floods/30").status(), Status::Ok);
    siaga
}

fn body(siaga: &Siaga, address: &str) -> String {
    let response = siaga.get(address);
    assert_eq!(response.status(), Status::Ok, "{address}");
    response.into_string().unwrap()
}

/// The attribute `href` of the first link of a relation.
pub(crate) fn link(document: &str, rel: &str) -> Option<String> {
    let (_, rest) = document.split_once(&format!("rel=\"{rel}\""))?;
    let (_, rest) = rest.split_once("href=\"")?;
    Some(rest.split_once('"')?.0.replace("&amp;", "&"))
}

/// The identifier, the link and the whole text of each entry of a feed of either kind.
fn entries(feed: &str) -> Vec<(String, String, String)> {
    let parts: Vec<&str> = if feed.contains("<rss") {
        feed.split("<item>").skip(1).collect()
    } else {
        feed.split("<entry>").skip(1).collect()
    };
    let entry = |part: &str| {
        let end = ["</item>", "</entry>"].iter().find_map(|end| part.split_once(end)).unwrap().0;
        let text = format!("<entry>{end}</entry>");
        let id = [texts(&text, "id"), texts(&text, "guid")].concat().remove(0);
        let link = link(&text, "alternate").unwrap_or_else(|| texts(&text, "link").remove(0));
        (id, link, text)
    };
    parts.into_iter().map(entry).collect()
}

fn path(address: &str) -> String {
    address.strip_prefix("http://localhost").unwrap().to_owned()
}

#[test]
fn an_entry_links_to_its_document_for_every_accept_header_and_has_the_observation_and_its_place() {
    let siaga = service();
    for feed in FEEDS {
        let entries = entries(&body(&siaga, feed));
        assert_eq!(entries.len(), 5, "{feed}");
        for (id, link, text) in entries {
            let identifier = [texts(&text, "cap:identifier"), texts(&text, "identifier")].concat().remove(0);
            assert_eq!(id, format!("http://localhost/v1/alerts/{identifier}"));
            assert_eq!(link, format!("{id}.xml"));
            let document = body(&siaga, &format!("{}?format=xml", path(&id)));
            for accept in ["text/html,*/*;q=0.8", "application/json", "image/png"] {
                let request = siaga.client.get(path(&link)).header(Header::new("Accept", accept));
                let response = request.dispatch();
                assert_eq!(response.headers().get_one("Content-Type"), Some("application/cap+xml"));
                assert_eq!(response.into_string().unwrap(), document, "{accept}");
            }
            let summary = [texts(&text, "summary"), texts(&text, "description")].concat().remove(0);
            assert_eq!(summary, texts(&document, "description")[0], "{feed}");
            let expected: Vec<_> =
                texts(&document, "polygon").iter().map(|ring| ring.replace(',', " ")).collect();
            let places = texts(&text, "georss:polygon");
            // The document has the area once in each language.
            assert_eq!(expected.len(), 2 * places.len());
            assert_eq!(places, expected[..places.len()], "{feed}");
        }
    }
}

#[test]
fn only_alerts_have_addresses_that_end_in_xml() {
    let siaga = service();
    for address in ["/v1/alerts/nothing.xml", "/v1/alerts/history.xml?area=5", "/v1/alerts/exercise.xml"] {
        assert_eq!(siaga.get(address).status(), Status::NotFound, "{address}");
    }
    let (_, link, _) = entries(&body(&siaga, "/v1/alerts")).remove(0);
    let document = path(&link);
    for (query, key) in [("format=json", "format"), ("geoformat=geojson", "geoformat")] {
        let response = siaga.client.get(format!("{document}?{query}")).dispatch();
        assert_invalid(response, "query", &[key], "must be one of");
    }
}

#[test]
fn a_feed_names_its_canonical_address() {
    let siaga = service();
    let middle = texts(&body(&siaga, "/v1/alerts/history?area=5"), "cap:identifier").remove(1);
    for (requested, canonical) in [
        ("/v1/alerts", "/v1/alerts".to_owned()),
        ("/v1/alerts?lang=en&format=xml", "/v1/alerts".to_owned()),
        (
            "/v1/alerts?minimum_state=2&content=inline&city=jbd",
            "/v1/alerts?city=jbd&minimum_state=2&content=inline".to_owned(),
        ),
        ("/v1/alerts?geoformat=rss&admin=ID-JK", "/v1/alerts?admin=ID-JK&geoformat=rss".to_owned()),
        ("/v1/alerts?geoformat=rss&content=inline", "/v1/alerts?geoformat=rss".to_owned()),
        ("/v1/alerts/history?area=5", "/v1/alerts/history?area=5".to_owned()),
        (
            &format!("/v1/alerts/history?before={middle}&content=inline&area=5"),
            format!("/v1/alerts/history?area=5&before={middle}&content=inline"),
        ),
        ("/v1/alerts/exercise?content=inline", "/v1/alerts/exercise?content=inline".to_owned()),
        ("/v1/floods?geoformat=cap", "/v1/floods?geoformat=cap".to_owned()),
        (
            "/v1/floods?format=xml&minimum_state=2&admin=ID-JK&city=jbd",
            "/v1/floods?city=jbd&admin=ID-JK&minimum_state=2&geoformat=cap".to_owned(),
        ),
        ("/v1/floods?geoformat=cap&bbox=100,-10,110,0", "/v1/floods?geoformat=cap".to_owned()),
        (
            "/v1/floods?geoformat=cap&bbox=106.8,-6.3,106.812,-6.1",
            "/v1/floods?bbox=106.8,-6.2,106.82,-6.16&geoformat=cap".to_owned(),
        ),
    ] {
        let feed = body(&siaga, requested);
        let own = link(&feed, "self").unwrap_or_else(|| panic!("{requested}: {feed}"));
        assert_eq!(path(&own), canonical, "{requested}");
        assert_eq!(body(&siaga, &path(&own)), feed, "{requested}");
    }
}
