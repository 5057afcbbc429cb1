//! `/map`: the page for people, before any script runs.

use rocket::http::{Header, Status};
use rocket::local::blocking::LocalResponse;

use crate::suite::support::{ADMIN_KEY, Siaga, assert_invalid, figment, key};

fn page(siaga: &Siaga, address: &str, languages: &str) -> String {
    let request =
        siaga.client.get(address.to_owned()).header(Header::new("Accept-Language", languages.to_owned()));
    let response = request.dispatch();
    assert_eq!(response.status(), Status::Ok, "{address}");
    assert_eq!(response.content_type().unwrap().to_string(), "text/html; charset=utf-8");
    response.into_string().unwrap()
}

fn header<'r>(response: &'r LocalResponse<'_>, name: &str) -> &'r str {
    response.headers().get_one(name).unwrap()
}

#[test]
fn the_list_names_flooded_areas_with_depth_and_time_and_needs_no_script() {
    let page = page(&Siaga::start(), "/map", "id");
    assert!(page.contains(r#"<html lang="id">"#));
    assert!(page.contains("<h3>GROGOL, JAKARTA BARAT</h3>"), "{page}");
    assert!(page.contains(r#"<li id="a5"><a href="?area=5"><i class="swatch s2"></i>RW 09</a> 10–70 cm, 19-12-2016 20:41 WIB</li>"#), "{page}");
    assert!(page.contains(r#"<span id="total">2</span> RW tergenang"#));
    assert!(!page.contains("id=\"a1\""), "area 1 is not flooded any more");
}

#[test]
fn the_page_is_in_the_language_of_the_browser_or_of_the_address() {
    let siaga = Siaga::start();
    assert!(page(&siaga, "/map", "en-GB,en;q=0.9").contains("<h1>Flood map</h1>"));
    assert!(page(&siaga, "/map", "de").contains("<h1>Peta banjir</h1>"));
    assert!(page(&siaga, "/map?lang=en", "id").contains("<h1>Flood map</h1>"));
    assert_invalid(siaga.get("/map?lang=de"), "query", &["lang"], "\"lang\" must be one of [id, en]");
}

#[test]
fn a_city_is_selected_as_for_floods() {
    let siaga = Siaga::start();
    let bandung = page(&siaga, "/map?city=bdg&lang=en", "");
    assert!(bandung.contains("id=\"a30\"") && !bandung.contains("id=\"a5\""));
    siaga.delete("/v1/floods/5");
    assert!(page(&siaga, "/map?city=jbd&lang=en", "").contains("No flood is recorded here now."));
    assert_invalid(siaga.get("/map?city=sby"), "query", &["city"], "one of [bdg, jbd]");
    assert!(bandung.contains("jbd") && !bandung.contains("sby"), "the cities on offer are those of the data");
}

#[test]
fn an_empty_map_says_why_it_is_empty() {
    let siaga = Siaga::start();
    for area in [5, 30] {
        siaga.delete(&format!("/v1/floods/{area}"));
    }
    assert!(page(&siaga, "/map?lang=en", "").contains("No flood is recorded now."));
    let silent = figment()
        .merge(("siaga.sources.command-post.subject", "bpbd"))
        .merge(("siaga.sources.command-post.every", "10m"))
        .merge(("siaga.sources.command-post.covers", ["floods"]));
    let siaga = Siaga::with(silent, |builder| builder);
    let page = page(&siaga, "/map?lang=en", "");
    assert!(page.contains("command-post: silent"), "{page}");
    assert!(page.contains("a source of the data is silent: state not known"));
}

#[test]
fn names_are_text() {
    let siaga = Siaga::start();
    siaga.put("/v1/floods/2", r#"{"state":1}"#);
    let page = page(&siaga, "/map", "id");
    assert!(page.contains("RW 02 &amp; &lt;Söhne&gt;, &quot;X&quot;"), "{page}");
    assert!(!page.contains("<Söhne>"));
}

#[test]
fn only_files_of_the_page_run_and_only_configured_sites_may_embed_it() {
    let siaga = Siaga::start();
    let response = siaga.get("/map");
    let policy = header(&response, "Content-Security-Policy");
    assert!(policy.contains("script-src 'self';") && policy.contains("frame-ancestors 'none'"), "{policy}");
    assert_eq!(header(&response, "Referrer-Policy"), "no-referrer");

    let configured = figment()
        .merge(("siaga.map.tiles.url", "https://tile.example.org/{z}/{x}/{y}.png"))
        .merge(("siaga.map.tiles.attribution", "Map: <example>"))
        .merge(("siaga.map.embed", ["https://news.example", "https://tv.example:8443"]));
    let siaga = Siaga::with(configured, |builder| builder);
    let response = siaga.get("/map");
    let policy = header(&response, "Content-Security-Policy");
    assert!(policy.contains("frame-ancestors https://news.example https://tv.example:8443"), "{policy}");
    assert!(policy.contains(" https://tile.example.org;"), "{policy}");
    assert_eq!(header(&response, "Referrer-Policy"), "strict-origin-when-cross-origin");
    assert!(!response.into_string().unwrap().contains("<example>"));
}

#[test]
fn the_page_comes_with_all_files_that_it_loads_and_no_others() {
    let siaga = Siaga::start();
    let page = page(&siaga, "/map", "id");
    let quoted = page.split('"').filter(|text| text.starts_with("/map/"));
    let files: Vec<_> = quoted.chain(["/map/live.js"]).collect();
    assert_eq!(files.len(), 6, "{files:?}");
    for file in files {
        let response = siaga.get(file);
        assert_eq!(response.status(), Status::Ok, "{file}");
        let tag = header(&response, "ETag").to_owned();
        let known = siaga.client.get(file).header(Header::new("If-None-Match", tag)).dispatch();
        assert_eq!(known.status(), Status::NotModified, "{file}");
    }
    assert_eq!(siaga.get("/map/mod.rs").status(), Status::NotFound);
    assert_eq!(siaga.client.put("/map").header(key(ADMIN_KEY)).dispatch().status(), Status::MethodNotAllowed);
}

#[test]
fn a_map_that_shows_two_seconds_ago_at_most_is_asked_of_the_store_once() {
    let siaga = Siaga::start();
    let first = header(&siaga.get("/map?lang=id"), "ETag").to_owned();
    siaga.put("/v1/floods/1", r#"{"state":4}"#);
    let later = crate::suite::eventually::eventually_blocking(
        "the change is in the list",
        crate::suite::eventually::LONG,
        || page(&siaga, "/map?lang=id", ""),
        |page| page.contains("id=\"a1\""),
    );
    assert!(later.contains(r#"<span id="total">3</span>"#));
    assert_ne!(header(&siaga.get("/map?lang=id"), "ETag"), first);
}
