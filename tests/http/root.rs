//! The page at the root.

use std::time::Duration;

use rocket::http::{Accept, Header, Status};
use serde_json::json;
use siaga::model::LayerKind;

use crate::fixture;
use crate::suite::support::{Siaga, figment};

const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

#[test]
fn programs_get_what_there_is_as_json() {
    let siaga = Siaga::start();
    let about = siaga.result("/");
    assert_eq!((&about["service"], &about["base_url"]), (&json!("Siaga"), &json!("http://localhost/v1")));
    assert_eq!(about["version"], env!("CARGO_PKG_VERSION"));
    assert!(about["licence"]["terms"].as_str().unwrap().starts_with("Non-commercial use is free"));
    assert_eq!(about["licence"]["url"], json!(null));
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
fn it_says_when_what_is_known_was_last_added_to() {
    let siaga = Siaga::start();
    let newest = |address: &str, list: &str, field: &str| {
        let layer = siaga.result(address);
        let times =
            layer[list].as_array().unwrap().iter().map(|feature| feature["properties"][field].clone());
        times.filter_map(|time| time.as_str().map(str::to_owned)).max()
    };
    let latest = siaga.result("/")["latest"].clone();
    let state = newest("/v1/floods?geoformat=geojson", "features", "last_updated");
    let report = newest("/v1/reports?geoformat=geojson", "features", "created_at");
    assert!(state.is_some() && report.is_some());
    assert_eq!(
        (latest["flood_state"].as_str(), latest["report"].as_str()),
        (state.as_deref(), report.as_deref())
    );
    let reading = latest["gauge_reading"].as_str().unwrap();
    assert!(reading <= &*fixture::now().to_string(), "{reading}");

    let later = Siaga::start();
    later.clock.set(fixture::now().after(Duration::from_hours(2)));
    assert_eq!(later.result("/")["latest"]["gauge_reading"], json!(null));
    assert_eq!(later.result("/")["latest"]["flood_state"], latest["flood_state"]);
}

#[test]
fn people_get_a_page_whatever_else_their_browser_takes() {
    let siaga = Siaga::with_setting("siaga.licence.url", "https://data.example/licence?a=1&b=\"2\"");
    let request = siaga.client.get("/").header(Header::new("Accept", BROWSER));
    let response = request.dispatch();
    assert_eq!(response.headers().get_one("Content-Type"), Some("text/html; charset=utf-8"));
    let vary: Vec<_> = response.headers().get("Vary").collect();
    assert_eq!(vary, ["Accept, Accept-Encoding, Accept-Language"]);
    let policy = response.headers().get_one("Content-Security-Policy").unwrap();
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
    let page = response.into_string().unwrap();
    for part in [
        "<title>Banjir saat ini · Siaga</title>",
        "Penggunaan nonkomersial gratis dengan menyebutkan sumber.",
        r#"<a rel="license" href="https:&#x2f;&#x2f;data.example&#x2f;licence?a=1&amp;b=%222%22">"#,
        "geoformat=cap",
        env!("CARGO_PKG_VERSION"),
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    for (accept, kind) in [("*/*", "application/json"), ("text/html;q=0.5, */*", "application/json")] {
        let request = siaga.client.get("/").header(Header::new("Accept", accept));
        assert_eq!(request.dispatch().headers().get_one("Content-Type"), Some(kind), "{accept}");
    }
    assert_eq!(siaga.client.get("/").header(Accept::HTML).dispatch().status(), Status::Ok);
}

#[test]
fn people_read_how_many_areas_are_flooded_and_when_that_was_known_in_their_language_and_time() {
    let siaga = Siaga::start();
    let counts = siaga.result("/")["flooded_areas"].clone();
    let summary = crate::suite::support::json_of(siaga.get("/v1/stats/floodedRWsSummary"));
    for (state, name) in [("1", "# hati-hati RWs"), ("2", "# 10-70cm RWs"), ("4", "# 151cm+ RWs")] {
        assert_eq!(counts[state], summary["result"][name], "{name}");
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
        ("/?lang=id", "en", "id", "Lebih dari 150 cm"),
        ("/?lang=en", "id", "en", "More than 150 cm"),
    ] {
        let page = page(address, accepted);
        for part in [
            &format!("<html lang=\"{language}\">"),
            text,
            " WIB</time>",
            &format!("<span class=\"count\">{all}</span>"),
        ] {
            assert!(page.contains(part), "{address} {accepted}: {part}: {page}");
        }
    }
    let refused = siaga.get("/?lang=fr");
    assert_eq!(refused.status(), Status::BadRequest);
}

#[test]
fn pages_name_the_site_and_its_agency_and_show_its_logo() {
    let folder = tempfile::tempdir().unwrap();
    let logo = folder.path().join("logo.svg");
    std::fs::write(&logo, "<svg xmlns=\"http://www.w3.org/2000/svg\"><script>1</script></svg>").unwrap();
    let named = figment()
        .merge(("siaga.site.name", "Banjir <Kota>"))
        .merge(("siaga.site.agency", "BPBD & Kota"))
        .merge(("siaga.site.contact", "021 123"))
        .merge(("siaga.site.emergency", "119"))
        .merge(("siaga.site.logo", logo.to_str().unwrap()));
    let siaga = Siaga::with(named, |builder| builder);
    for path in ["/", "/docs"] {
        let page =
            siaga.client.get(path).header(Header::new("Accept", BROWSER)).dispatch().into_string().unwrap();
        let texts = [
            "Banjir &lt;Kota&gt;</b>",
            "BPBD &amp; Kota",
            "021 123",
            "tel:119",
            "src=\"&#x2f;logo\"",
            " · Banjir &lt;Kota&gt;</title>",
        ];
        for text in texts {
            assert!(page.contains(text), "{path}: {text}: {page}");
        }
    }
    let response = siaga.get("/logo");
    assert_eq!(response.content_type().unwrap().to_string(), "image/svg+xml");
    let policy = response.headers().get_one("Content-Security-Policy").unwrap();
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
    let feed = siaga.get("/v1/alerts?format=xml").into_string().unwrap();
    assert!(
        feed.contains("<title>Banjir &lt;Kota&gt;</title>") && feed.contains("<name>BPBD &amp; Kota</name>"),
        "{feed}"
    );
    assert_eq!(Siaga::start().get("/logo").status(), Status::NotFound);
}

#[derive(rocket::Responder)]
struct Linked(&'static str, Header<'static>);

#[rocket::get("/next")]
fn list_next() -> Linked {
    Linked("", Header::new("Link", r#"</v1/next?page=2>; rel="next""#))
}

#[test]
fn every_answer_names_a_configured_licence() {
    let figment = figment().merge(("siaga.licence.url", "https://data.example/licence"));
    let siaga = Siaga::with(figment, |builder| builder.mount("/", rocket::routes![list_next]));
    for address in ["/", "/v1/floods", "/v1/nowhere", "/openapi.json"] {
        let response = siaga.get(address);
        let link = response.headers().get_one("Link");
        assert_eq!(link, Some(r#"<https://data.example/licence>; rel="license""#), "{address}");
    }
    let next = siaga.get("/v1/next");
    let links: Vec<_> = next.headers().get("Link").collect();
    assert_eq!(
        links,
        [r#"</v1/next?page=2>; rel="next""#, r#"<https://data.example/licence>; rel="license""#]
    );
    assert_eq!(Siaga::start().get("/v1/floods").headers().get_one("Link"), None);
}

#[test]
fn the_page_and_the_description_name_the_configured_terms() {
    let siaga = Siaga::with_setting("siaga.licence.terms", "CC BY 4.0");
    assert_eq!(siaga.result("/")["licence"]["terms"], "CC BY 4.0");
    let document = crate::suite::support::json_of(siaga.get("/openapi.json"));
    assert_eq!(document["info"]["license"]["name"], "CC BY 4.0");
}
