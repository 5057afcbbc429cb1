//! `/map`: the page for people, before any script runs.

use std::net::{Ipv4Addr, SocketAddr};

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
    let (_, list) = page.split_once(r#"<div id="list">"#).unwrap();
    assert!(list.contains("<h3>10–70 cm</h3>"), "{list}");
    assert!(list.contains(r#"<li id="a5"><a href="?lang=id&amp;area=5">"#), "{list}");
    assert!(list.contains("Grogol, RW 09</a> <small>Jakarta Barat · <time"), "{list}");
    assert!(list.contains(">14-12-2016 13:10 WIB</time>"), "{list}");
    assert!(page.contains(r#"<b id="total">2</b> RW tergenang"#));
    assert!(!page.contains("id=\"a1\""), "area 1 is not flooded any more");
}

#[test]
fn the_page_is_in_the_language_of_the_browser_or_of_the_address() {
    let siaga = Siaga::start();
    assert!(page(&siaga, "/map", "en-GB,en;q=0.9").contains(">Flood map</h1>"));
    assert!(page(&siaga, "/map", "de").contains(">Peta banjir</h1>"));
    assert!(page(&siaga, "/map?lang=en", "id").contains(">Flood map</h1>"));
    assert_invalid(siaga.get("/map?lang=de"), "query", &["lang"], "\"lang\" must be one of [id, en]");
}

#[test]
fn a_city_is_selected_as_for_floods() {
    let siaga = Siaga::start();
    let bandung = page(&siaga, "/map?city=bdg&lang=en", "");
    assert!(bandung.contains("id=\"a30\"") && !bandung.contains("id=\"a5\""));
    siaga.delete("/v1/floods/5");
    assert!(page(&siaga, "/map?city=jbd&lang=en", "").contains("No flood is recorded here now."));
    assert!(bandung.contains(r#"<option value="jbd">Jakarta Barat</option>"#), "{bandung}");
    assert!(!bandung.contains("sby"), "the cities on offer are those of the data");
}

#[test]
fn a_city_or_an_area_without_data_is_a_page_that_says_so_and_never_an_all_clear() {
    let siaga = Siaga::start();
    for (address, says) in [
        ("/map?city=sby&lang=en", "This service does not cover “sby”."),
        ("/map?city=%3Cb%3E&lang=en", "This service does not cover “&lt;b&gt;”."),
        ("/map?area=999999&lang=en", "This service has no such area."),
        ("/map?area=abc&lang=en", "This service has no such area."),
    ] {
        let response = siaga.get(address);
        assert_eq!(response.status(), Status::NotFound, "{address}");
        let page = response.into_string().unwrap();
        assert!(page.contains(says) && page.contains("id=\"a5\""), "{address}: {page}");
        assert!(!page.contains("data-says=\"none"), "{address}");
    }
}

#[test]
fn a_browser_gets_a_page_in_words_where_a_program_gets_an_error_in_json() {
    let configured = figment().merge(("siaga.quota.per_second", 0)).merge(("siaga.quota.per_day", 8));
    let siaga = Siaga::with(configured, |builder| builder);
    let opened = |address: &str, accepts: &str| {
        let [accept, language] = [("Accept", accepts), ("Accept-Language", "en")]
            .map(|(name, value)| Header::new(name, value.to_owned()));
        let client = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 4711);
        let response =
            siaga.client.get(address.to_owned()).remote(client).header(accept).header(language).dispatch();
        let (status, kind) = (response.status().code, response.content_type().unwrap().to_string());
        (status, kind, response.into_string().unwrap())
    };
    let browser = "text/html,application/xhtml+xml,*/*;q=0.8";
    for (address, expected, says) in [
        ("/map?lang=%3Cb%3E&area=5", 400, "&quot;lang&quot; must be one of [id, en]"),
        ("/nothing?lang=en", 404, "There is no page at this address."),
    ] {
        let (status, kind, page) = opened(address, browser);
        assert_eq!((status, &*kind), (expected, "text/html; charset=utf-8"), "{page}");
        assert!(page.contains(says) && page.contains("map?lang="), "{page}");
        let (status, kind, _) = opened(address, "*/*");
        assert_eq!((status, &*kind), (expected, "application/json"));
    }
    assert_eq!(opened("/v1/floods?city=xyz", browser).1, "application/json", "errors about data stay JSON");
    let mut visits = (0..8).map(|_| opened("/map?lang=en", browser));
    let often = visits.find(|(status, ..)| *status == 429);
    let (_, kind, page) = often.unwrap();
    assert_eq!(kind, "text/html; charset=utf-8");
    assert!(page.contains("Too many requests have come from your connection."), "{page}");
    assert_eq!(opened("/v1/floods", browser).1, "application/json", "errors about data stay JSON");
}

#[test]
fn a_browser_that_has_the_page_is_told_that_it_is_current() {
    let siaga = Siaga::start();
    for address in ["/map?lang=id", "/map?lang=id&area=30", "/map?lang=id&list=all"] {
        assert!(siaga.is_current(address, header(&siaga.get(address), "ETag")), "{address}");
    }
}

#[test]
fn a_shared_address_names_the_area_its_state_and_what_to_do_without_a_script() {
    let siaga = Siaga::start();
    siaga.put("/v1/floods/5", r#"{"state":4}"#);
    let flooded = page(&siaga, "/map?area=5&lang=en", "");
    assert!(flooded.contains("<title>Grogol, RW 09: More than 150 cm"), "{flooded}");
    assert!(flooded.contains(r#"<meta property="og:title" content="Grogol, RW 09: More than 150 cm">"#));
    assert!(flooded.contains("Leave for higher ground at once"));
    assert!(page(&siaga, "/map?area=10&lang=en", "").contains("Pulau, 10: No flood recorded"));
}

#[test]
fn a_state_that_nobody_confirmed_for_a_day_is_marked() {
    let siaga = Siaga::start();
    let page = page(&siaga, "/map", "id");
    assert!(page.contains(r#"area=30"><i class="swatch s3 faded">"#), "set six days ago: {page}");
    assert!(page.contains(r#"area=5"><i class="swatch s2">"#), "set three hours ago: {page}");
}

#[test]
fn the_search_has_the_names_of_all_areas_by_city_and_larger_area() {
    let siaga = Siaga::start();
    let names = siaga.get("/map/names").into_json::<serde_json::Value>().unwrap();
    let barat = names["cities"].as_array().unwrap().iter().find(|city| city[0] == "JAKARTA BARAT").unwrap();
    let grogol = barat[1].as_array().unwrap().iter().find(|parent| parent[0] == "GROGOL").unwrap();
    assert!(grogol[1].as_array().unwrap().contains(&serde_json::json!(["5", "RW 09"])), "{names}");
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
    let files: std::collections::BTreeSet<_> = quoted.collect();
    assert_eq!(files.iter().copied().collect::<Vec<_>>(), ["/map/map.js"]);
    let others = ["/map/module.js", "/map/tiles.js", "/map/view.css", "/sw.js", "/map/hazards?lang=en"];
    for file in files.into_iter().chain(others) {
        let response = siaga.get(file);
        assert_eq!(response.status(), Status::Ok, "{file}");
        assert!(siaga.is_current(file, header(&response, "ETag")), "{file}");
    }
    assert_eq!(siaga.get("/map/mod.rs").status(), Status::NotFound);
    assert_eq!(siaga.client.put("/map").header(key(ADMIN_KEY)).dispatch().status(), Status::MethodNotAllowed);
}

#[test]
fn reports_get_the_words_of_the_country_for_hazards_and_attributes() {
    let siaga = Siaga::start();
    let read = |lang: &str| {
        siaga.get(&format!("/map/hazards?lang={lang}")).into_json::<serde_json::Value>().unwrap()
    };
    let (english, indonesian) = (read("en"), read("id"));
    assert_eq!(english["hazards"]["earthquake"]["types"]["road"]["name"], "Damaged road");
    assert_eq!(english["hazards"]["volcano"]["window"], 86_400);
    assert_eq!(english["attributes"]["accessabilityFailure"]["1"], "motorcycles only");
    assert_eq!(indonesian["hazards"]["flood"]["name"], "Banjir");
    assert_eq!(indonesian["words"]["yes"], "ya");
}

#[test]
fn the_worker_that_keeps_the_page_is_no_older_than_the_page() {
    let siaga = Siaga::start();
    let response = siaga.get("/sw.js");
    assert_eq!(header(&response, "Cache-Control"), "public, no-cache, stale-if-error=3600");
    assert_eq!(header(&response, "Content-Type"), "text/javascript; charset=utf-8");
    assert_eq!(header(&response, "Content-Security-Policy"), "default-src 'none'; connect-src 'self'");
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
    assert!(later.contains(r#"<b id="total">3</b>"#));
    assert_ne!(header(&siaga.get("/map?lang=id"), "ETag"), first);
}
