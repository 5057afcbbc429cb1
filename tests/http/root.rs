//! The page at the root.

use std::time::Duration;

use rocket::http::{Header, Status};
use serde_json::json;
use siaga::model::LayerKind;

use crate::fixture;
use crate::suite::support::{Siaga, figment};

const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

#[test]
fn programs_get_the_list_of_resources_as_json() {
    let siaga = Siaga::start();
    let about = siaga.result("/");
    assert_eq!((&about["service"], &about["base_url"]), (&json!("Siaga"), &json!("http://localhost/v1")));
    assert_eq!(about["version"], env!("CARGO_PKG_VERSION"));
    assert!(about["licence"]["terms"].as_str().unwrap().starts_with("Non-commercial use is free"));
    let own = Siaga::with_setting("siaga.licence.terms", "CC BY 4.0");
    assert_eq!(own.result("/")["licence"]["terms"], "CC BY 4.0");
    let to_try = about["to_try"].as_object().unwrap();
    for name in LayerKind::NAMES.into_iter().chain(["states", "statistics"]) {
        assert!(!to_try[name].as_array().unwrap().is_empty(), "{name}");
    }
    let to_try = to_try.values().flat_map(|addresses| addresses.as_array().unwrap());
    for address in to_try.chain([&about["map"], &about["documentation"], &about["openapi"]]) {
        let path = address.as_str().unwrap().strip_prefix("http://localhost").unwrap().to_owned();
        assert_eq!(siaga.get(&path).status(), Status::Ok, "{path}");
    }
}

#[test]
fn the_root_has_the_time_of_the_last_change() {
    let siaga = Siaga::start();
    let newest = |address: &str, field: &str| {
        let layer = siaga.result(address);
        let features = layer["features"].as_array().unwrap().iter();
        let times = features.filter_map(|feature| feature["properties"][field].as_str());
        times.max().unwrap().to_owned()
    };
    let latest = siaga.result("/")["latest"].clone();
    let state = newest("/v1/floods?geoformat=geojson", "last_updated");
    let report = newest("/v1/reports?geoformat=geojson", "created_at");
    assert_eq!((&latest["flood_state"], &latest["report"]), (&json!(state), &json!(report)));
    let reading = latest["gauge_reading"].as_str().unwrap();
    assert!(reading <= &*fixture::now().to_string(), "{reading}");

    let later = Siaga::start();
    later.pass(Duration::from_hours(2));
    let later = later.result("/")["latest"].clone();
    assert_eq!((&later["gauge_reading"], &later["flood_state"]), (&json!(null), &latest["flood_state"]));
}

#[test]
fn browsers_get_a_page_for_every_accept_header_with_html() {
    let siaga = Siaga::with_setting("siaga.licence.url", "https://data.example/licence?a=1&b=\"2\"");
    let response = siaga.client.get("/").header(Header::new("Accept", BROWSER)).dispatch();
    assert_eq!(response.headers().get_one("Content-Type"), Some("text/html; charset=utf-8"));
    let vary: Vec<_> = response.headers().get("Vary").collect();
    assert_eq!(vary, ["Accept, Accept-Encoding, Accept-Language"]);
    let policy = response.headers().get_one("Content-Security-Policy").unwrap();
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
    let page = response.into_string().unwrap();
    for part in [
        "<title>Banjir saat ini · Siaga</title>",
        r#"<a rel="license" href="https:&#x2f;&#x2f;data.example&#x2f;licence?a=1&amp;b=%222%22">"#,
        "geoformat=cap",
        "href=\"&#x2f;v1&#x2f;ogc\"",
        env!("CARGO_PKG_VERSION"),
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("href=\"/archive\""), "there is no archive: {page}");
    let docs = siaga.get("/docs?lang=en").into_string().unwrap();
    assert!(docs.contains("href=\"&#x2f;v1&#x2f;ogc\"") && !docs.contains("href=\"/archive\""), "{docs}");
    for accept in ["*/*", "text/html;q=0.5, */*"] {
        let response = siaga.client.get("/").header(Header::new("Accept", accept)).dispatch();
        assert_eq!(response.headers().get_one("Content-Type"), Some("application/json"), "{accept}");
    }
}

#[test]
fn the_page_shows_the_number_of_flooded_areas_and_its_time_in_the_language_and_zone_of_the_reader() {
    let siaga = Siaga::start();
    let counts = siaga.result("/")["flooded_areas"].clone();
    let summary = siaga.result("/v1/stats/floodedRWsSummary");
    for (state, name) in [("1", "# hati-hati RWs"), ("2", "# 10-70cm RWs"), ("4", "# 151cm+ RWs")] {
        assert_eq!(counts[state], summary[name], "{name}");
    }
    let all: u64 = counts.as_object().unwrap().values().filter_map(serde_json::Value::as_u64).sum();
    assert!(all > 0);
    let page = |address: &'static str, accepted: &'static str| {
        let request = siaga.client.get(address).header(Header::new("Accept", BROWSER));
        request.header(Header::new("Accept-Language", accepted)).dispatch().into_string().unwrap()
    };
    for (address, accepted, language, text) in [
        ("/", "id-ID,id;q=0.9,en;q=0.8", "id", "Lebih dari 150 cm"),
        ("/", "fr", "id", "Lebih dari 150 cm"),
        ("/", "en-GB", "en", "More than 150 cm"),
        ("/?lang=en", "id", "en", "More than 150 cm"),
    ] {
        let page = page(address, accepted);
        let count = format!("<span class=\"count\">{all}</span>");
        for part in [&format!("<html lang=\"{language}\">"), text, " WIB</time>", &count] {
            assert!(page.contains(part), "{address} {accepted}: {part}: {page}");
        }
    }
    assert_eq!(siaga.get("/?lang=fr").status(), Status::BadRequest);
}

#[test]
fn the_page_draws_the_floods_and_says_where_reports_are() {
    let page = |siaga: &Siaga| {
        let request = siaga.client.get("/?lang=en").header(Header::new("Accept", BROWSER));
        request.dispatch().into_string().unwrap()
    };
    let siaga = Siaga::start();
    let flooded = siaga.result("/")["flooded_areas"].clone();
    let drawn = page(&siaga);
    assert!(drawn.contains("<path class=\"land\" d=\"M"), "{drawn}");
    for state in 1..=4 {
        let is_drawn = drawn.contains(&format!("<path class=\"s{state}\" d=\"M"));
        assert_eq!(is_drawn, flooded[state.to_string()] != 0, "{state}: {drawn}");
    }
    assert!(!drawn.contains("url(#doubt)"), "{drawn}");
    let reports = siaga.result("/v1/reports?geoformat=geojson");
    let area = reports["features"][0]["properties"]["tags"]["local_area_id"].as_str().unwrap();
    let map = siaga.get(&format!("/map?lang=en&area={area}")).into_string().unwrap();
    let name = map.split_once("<h2>").and_then(|(_, rest)| rest.split_once("</h2>")).unwrap().0;
    assert!(drawn.contains(&format!(" · {name}")), "{name}: {drawn}");

    let desk = json!({ "subject": "bpbd", "every": "1h", "covers": ["floods"] });
    let silent = Siaga::with_setting("siaga.sources.desk", desk);
    assert!(page(&silent).contains("url(#doubt)"), "land without data is hatched");
}

#[test]
fn pages_have_the_names_of_site_and_agency_and_the_logo() {
    let folder = tempfile::tempdir().unwrap();
    let logo = folder.path().join("logo.svg");
    std::fs::write(&logo, "<svg xmlns=\"http://www.w3.org/2000/svg\"><script>1</script></svg>").unwrap();
    let site = json!({
        "name": "Banjir <Kota>", "agency": "BPBD & Kota", "contact": "021 123", "emergency": "119", "logo": logo,
    });
    let siaga = Siaga::with_setting("siaga.site", site);
    for path in ["/", "/docs"] {
        let request = siaga.client.get(path).header(Header::new("Accept", BROWSER));
        let page = request.dispatch().into_string().unwrap();
        let logo = "src=\"&#x2f;logo\"";
        for text in ["BPBD &amp; Kota", "021 123", "tel:119", logo, " · Banjir &lt;Kota&gt;</title>"] {
            assert!(page.contains(text), "{path}: {text}: {page}");
        }
    }
    let response = siaga.get("/logo");
    assert_eq!(response.content_type().unwrap().to_string(), "image/svg+xml");
    let policy = response.headers().get_one("Content-Security-Policy").unwrap();
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
    let feed = siaga.get("/v1/alerts?format=xml").into_string().unwrap();
    for element in ["<title>Banjir &lt;Kota&gt;</title>", "<name>BPBD &amp; Kota</name>"] {
        assert!(feed.contains(element), "{feed}");
    }
    assert_eq!(Siaga::start().get("/logo").status(), Status::NotFound);
}

#[derive(rocket::Responder)]
struct Linked(&'static str, Header<'static>);

#[rocket::get("/next")]
fn list_next() -> Linked {
    Linked("", Header::new("Link", r#"</v1/next?page=2>; rel="next""#))
}

#[test]
fn every_response_links_to_the_configured_licence() {
    let licence = r#"<https://data.example/licence>; rel="license""#;
    let figment = figment().merge(("siaga.licence.url", "https://data.example/licence"));
    let siaga = Siaga::with(figment, |builder| builder.mount("/", rocket::routes![list_next]));
    let links = |address| -> Vec<_> { siaga.get(address).headers().get("Link").map(str::to_owned).collect() };
    for address in ["/", "/v1/floods", "/v1/nowhere", "/openapi.json"] {
        assert_eq!(links(address), [licence], "{address}");
    }
    assert_eq!(links("/v1/next"), [r#"</v1/next?page=2>; rel="next""#, licence]);
    assert_eq!(Siaga::start().get("/v1/floods").headers().get_one("Link"), None);
}
