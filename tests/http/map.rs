//! `/map`: the page for people, before any script runs.

use rocket::http::{Header, Status};
use rocket::local::blocking::LocalResponse;
use serde_json::{Value, json};

use crate::suite::eventually::{LONG, eventually_blocking};
use crate::suite::support::{ADMIN_KEY, Siaga, figment, key};

fn page(siaga: &Siaga, address: &str, languages: &str) -> String {
    let languages = Header::new("Accept-Language", languages.to_owned());
    let response = siaga.client.get(address.to_owned()).header(languages).dispatch();
    assert_eq!(response.status(), Status::Ok, "{address}");
    assert_eq!(response.content_type().unwrap().to_string(), "text/html; charset=utf-8");
    response.into_string().unwrap()
}

fn header<'r>(response: &'r LocalResponse<'_>, name: &str) -> &'r str {
    response.headers().get_one(name).unwrap()
}

#[test]
fn the_list_names_flooded_areas_with_depth_and_time_and_needs_no_script() {
    let siaga = Siaga::start();
    siaga.put("/v1/floods/2", r#"{"state":1}"#);
    let page = page(&siaga, "/map", "id");
    assert!(page.contains(r#"<html lang="id">"#));
    let (_, list) = page.split_once(r#"<div id="list">"#).unwrap();
    assert!(list.contains("<h3>10–70 cm</h3>"), "{list}");
    assert!(list.contains("Grogol, RW 09</a> <small>Jakarta Barat · <time"), "{list}");
    assert!(list.contains(">14-12-2016 13:10 WIB</time>"), "{list}");
    // A state unconfirmed for a day is marked.
    assert!(list.contains(r#"area=30"><i class="swatch s3 faded">"#), "set six days ago: {list}");
    assert!(list.contains(r#"area=5"><i class="swatch s2">"#), "set three hours ago: {list}");
    assert!(list.contains("RW 02 &amp; &lt;Söhne&gt;, &quot;X&quot;") && !page.contains("<Söhne>"), "{list}");
    assert!(page.contains(r#"<b id="total">3</b> RW tergenang"#));
    assert!(!page.contains("id=\"a1\""), "area 1 is not flooded any more");
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
fn the_page_of_a_city_or_area_without_data_is_never_an_all_clear() {
    let siaga = Siaga::start();
    for (address, expected) in [
        ("/map?city=sby&lang=en", "This service does not cover “sby”."),
        ("/map?city=%3Cb%3E&lang=en", "This service does not cover “&lt;b&gt;”."),
        ("/map?area=999999&lang=en", "This service has no such neighbourhood."),
        ("/map?area=abc&lang=en", "This service has no such neighbourhood."),
    ] {
        let response = siaga.get(address);
        assert_eq!(response.status(), Status::NotFound, "{address}");
        let page = response.into_string().unwrap();
        assert!(page.contains(expected) && page.contains("id=\"a5\""), "{address}: {page}");
        assert!(!page.contains("data-says=\"none"), "{address}");
    }
}

#[test]
fn a_browser_gets_an_error_page_where_a_program_gets_json() {
    const HTML: &str = "text/html; charset=utf-8";
    const JSON: &str = "application/json";
    let configured = figment().merge(("siaga.quota.per_second", 0)).merge(("siaga.quota.per_day", 8));
    let siaga = Siaga::with(configured, |builder| builder);
    let opened = |address: &str, accepts: &str| {
        let request = siaga.client.get(address.to_owned()).remote("127.0.0.1:4711".parse().unwrap());
        let request = request.header(Header::new("Accept-Language", "en"));
        let response = request.header(Header::new("Accept", accepts.to_owned())).dispatch();
        let (status, kind) = (response.status().code, response.content_type().unwrap().to_string());
        (status, kind, response.into_string().unwrap())
    };
    let browser = "text/html,application/xhtml+xml,*/*;q=0.8";
    for (address, accepts, status, kind, expected) in [
        ("/map?lang=%3Cb%3E&area=5", browser, 400, HTML, "&quot;lang&quot; must be one of [id, en]"),
        ("/map?lang=%3Cb%3E&area=5", "*/*", 400, JSON, ""),
        ("/nothing?lang=en", browser, 404, HTML, "There is no page at this address."),
        ("/nothing?lang=en", "*/*", 404, JSON, ""),
        ("/v1/floods?city=xyz", browser, 400, JSON, ""),
    ] {
        let (found, type_, page) = opened(address, accepts);
        assert_eq!((found, &*type_), (status, kind), "{address} for {accepts}");
        assert!(page.contains(expected) && (kind == JSON || page.contains("map?lang=")), "{page}");
    }
    let mut visits = (0..8).map(|_| opened("/map?lang=en", browser));
    let (_, kind, page) = visits.find(|(status, ..)| *status == 429).unwrap();
    assert_eq!(kind, HTML);
    assert!(page.contains("Too many requests have come from your connection."), "{page}");
    assert_eq!(opened("/v1/floods", browser).1, JSON, "errors about data stay JSON");
}

#[test]
fn a_shared_address_shows_the_area_its_state_and_advice_without_a_script() {
    let siaga = Siaga::start();
    siaga.put("/v1/floods/5", r#"{"state":4}"#);
    let flooded = page(&siaga, "/map?area=5&lang=en", "");
    assert!(flooded.contains("<title>Grogol, RW 09: More than 150 cm"), "{flooded}");
    assert!(
        flooded.contains(
            r#"<meta property="og:title" content="Grogol, RW 09: More than 150 cm, 19 December 2016"#
        )
    );
    assert!(flooded.contains("Leave for higher ground at once"));
    assert!(page(&siaga, "/map?area=10&lang=en", "").contains("Pulau, 10: No flood recorded"));
    let of_city = page(&siaga, "/map?city=jbd&lang=en", "");
    assert!(of_city.contains(r#"<meta property="og:title" content="Jakarta"#), "{of_city}");
}

#[test]
fn the_search_has_the_names_of_all_areas_by_city_and_larger_area() {
    let siaga = Siaga::start();
    let names = siaga.get("/map/names").into_json::<Value>().unwrap();
    let barat = names["cities"].as_array().unwrap().iter().find(|city| city[0] == "JAKARTA BARAT").unwrap();
    let grogol = barat[1].as_array().unwrap().iter().find(|parent| parent[0] == "GROGOL").unwrap();
    assert!(grogol[1].as_array().unwrap().contains(&json!(["5", "RW 09"])), "{names}");
}

#[test]
fn the_page_runs_only_its_own_files_and_only_configured_sites_may_embed_it() {
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
fn the_page_and_its_files_exist_and_are_304_while_unchanged() {
    let siaga = Siaga::start();
    let page = page(&siaga, "/map", "id");
    assert!(page.split('"').filter(|text| text.starts_with("/map/")).all(|file| file == "/map/map.js"));
    for file in [
        "/map?lang=id",
        "/map?lang=id&area=30",
        "/map?lang=id&list=all",
        "/map/map.js",
        "/map/module.js",
        "/map/view.css",
        "/sw.js",
        "/map/hazards?lang=en",
    ] {
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
    let [english, indonesian] = ["en", "id"]
        .map(|lang| siaga.get(&format!("/map/hazards?lang={lang}")).into_json::<Value>().unwrap());
    assert_eq!(english["hazards"]["earthquake"]["types"]["road"]["name"], "Damaged road");
    assert_eq!(indonesian["hazards"]["fire"]["types"]["fire"]["name"], "Kebakaran");
    assert_eq!(english["hazards"]["volcano"]["window"], 86_400);
    assert_eq!(english["attributes"]["accessabilityFailure"]["1"], "motorcycles only");
    assert_eq!(indonesian["words"]["yes"], "ya");
}

#[test]
fn caches_revalidate_the_service_worker() {
    let siaga = Siaga::start();
    let response = siaga.get("/sw.js");
    assert_eq!(header(&response, "Cache-Control"), "public, no-cache, stale-if-error=3600");
    assert_eq!(header(&response, "Content-Type"), "text/javascript; charset=utf-8");
    assert_eq!(header(&response, "Content-Security-Policy"), "default-src 'none'; connect-src 'self'");
}

#[test]
fn a_change_is_on_the_page_soon_after_it() {
    let siaga = Siaga::start();
    assert!(!page(&siaga, "/map?lang=id", "").contains("id=\"a1\""));
    siaga.put("/v1/floods/1", r#"{"state":4}"#);
    let shown = || page(&siaga, "/map?lang=id", "");
    let later = eventually_blocking("the change is listed", LONG, shown, |page| page.contains("id=\"a1\""));
    assert!(later.contains(r#"<b id="total">3</b>"#));
}
