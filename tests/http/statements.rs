//! Statements of the pages in random situations, checked against independent rules on the interface's data.

use std::collections::BTreeSet;
use std::time::Duration;

use figment::Figment;
use rocket::http::{Header, Method, Status};
use serde_json::{Value, json};
use siaga::model::Timestamp;

use crate::fixture;
use crate::suite::support::{Siaga, figment, json_of};

const HOUR: Duration = Duration::from_hours(1);

/// A deterministic pseudo-random generator.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[usize::try_from(self.below(choices.len() as u64)).unwrap()].clone()
    }
}

const AREAS: [(u64, f64, f64); 5] =
    [(1, 0.5, 0.5), (2, 1.5, 0.5), (5, 0.5, 1.5), (10, 1.5, 2.5), (30, 3.5, 0.5)];

fn configured(sources: &str, status: &str) -> Figment {
    let covers = if sources == "gauges" { "gauges" } else { "floods" };
    let subject = if sources == "silent" { "nobody" } else { "bpbd" };
    let base = figment().merge(("siaga.formats.cap.status", status));
    if sources == "none" {
        return base;
    }
    base.merge(("siaga.sources.post.subject", subject))
        .merge(("siaga.sources.post.every", "10m"))
        .merge(("siaga.sources.post.covers", [covers]))
}

fn page(siaga: &Siaga, address: &str) -> String {
    let request = siaga.client.get(address.to_owned()).header(Header::new("Accept", "text/html"));
    let response = request.dispatch();
    assert_eq!(response.status(), Status::Ok, "{address}");
    response.into_string().unwrap()
}

/// The visible statements of a part of a page, with their text.
fn statements(page: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for element in page.split('<').filter(|element| element.contains(" data-says=\"")) {
        let (tag, text) = element.split_once('>').unwrap();
        let (_, key) = tag.split_once(" data-says=\"").unwrap();
        if !tag.ends_with(" hidden") {
            found.push((key.split('"').next().unwrap().to_owned(), text.trim().to_owned()));
        }
    }
    found
}

fn keys(page: &str) -> BTreeSet<String> {
    statements(page).into_iter().map(|(key, _)| key).collect()
}

fn part<'p>(page: &'p str, from: &str, to: &str) -> &'p str {
    let (_, rest) = page.split_once(from).unwrap_or_else(|| panic!("{from}: {page}"));
    rest.split(to).next().unwrap()
}

fn set(keys: &[&str]) -> BTreeSet<String> {
    keys.iter().map(|key| (*key).to_owned()).collect()
}

fn time(value: &Value) -> Option<Timestamp> {
    value.as_str().map(|text| Timestamp::parse(text).unwrap())
}

/// Simulates officers and residents over a day and a half.
fn live(siaga: &Siaga, dice: &mut Dice) {
    for _ in 0..dice.below(14) {
        siaga.pass(Duration::from_mins(dice.pick(&[1, 20, 60, 400])));
        let (area, x, y) = dice.pick(&AREAS);
        let address = format!("/v1/floods/{area}");
        match dice.pick(&["set", "set", "clear", "clear", "report", "report", "training", "hidden", "undo"]) {
            "set" => drop(siaga.put(&address, json!({ "state": 1 + dice.below(4) }).to_string())),
            "clear" => drop(siaga.delete(&address)),
            "undo" => {
                let state = dice.pick(&[json!(null), json!(3)]);
                let change = json!({ "changes": [{ "area_id": area.to_string(), "state": state }] });
                let created = siaga.request(Method::Post, "/v1/floods/changes", change.to_string());
                let batch = json_of(created)["result"]["batch"].to_string();
                siaga.pass(Duration::from_mins(3));
                let undo = format!("/v1/floods/changes/{}/undo", batch.trim_matches('"'));
                assert_eq!(siaga.request(Method::Post, &undo, "{}").status(), Status::Ok);
            }
            kind => report(siaga, (x, y), kind),
        }
    }
    siaga.pass(Duration::from_mins(dice.pick(&[0, 5, 15, 200, 400, 1_500])));
}

fn report(siaga: &Siaga, (x, y): (f64, f64), kind: &str) {
    let place = fixture::place(x, y);
    let body = json!({
        "disaster_type": "flood", "card_data": { "report_type": "flood", "flood_depth": 40 },
        "created_at": siaga.now(), "is_training": kind == "training",
        "location": { "lat": place.coord().y, "lng": place.coord().x },
    });
    let address = format!("/v1/cards/{}", siaga.card());
    assert_eq!(siaga.request(Method::Put, &address, body.to_string()).status(), Status::Ok);
    if kind == "hidden" {
        let card = json_of(siaga.request(Method::Get, &address, ""));
        hide(siaga, card["result"]["report_id"].as_str().unwrap());
    }
}

fn hide(siaga: &Siaga, report: &str) {
    let address = format!("/v1/reports/{report}/visibility");
    let hidden = siaga.request(Method::Put, &address, r#"{"hidden":true,"reason":"a test"}"#);
    assert_eq!(hidden.status(), Status::Ok);
}

/// The status of the flood sources in the interface.
fn watch(siaga: &Siaga) -> &'static str {
    let sources = siaga.result("/v1/sources");
    let covers_floods = |feature: &&Value| feature["covers"].as_array().unwrap().contains(&json!("floods"));
    let Some(source) = sources.as_array().unwrap().iter().find(covers_floods) else { return "unwatched" };
    match (source["status"] == "silent", source["last_heard"].is_null()) {
        (true, true) => "silentAlways",
        (true, false) => "silentSince",
        _ => "",
    }
}

/// The time of the last set or clear of an area.
fn changed(area: &Value) -> Option<Timestamp> {
    time(&area["last_updated"]).or(time(&area["over_since"]))
}

fn newest(siaga: &Siaga) -> Option<Timestamp> {
    let areas = siaga.result("/v1/floods?geoformat=geojson");
    areas["features"].as_array().unwrap().iter().filter_map(|feature| changed(&feature["properties"])).max()
}

/// The statements allowed about an area.
fn of_area(siaga: &Siaga, id: u64, watch: &str) -> BTreeSet<String> {
    let area =
        siaga.result(&format!("/v1/areas/{id}?geoformat=geojson"))["features"][0]["properties"].clone();
    let now = siaga.now();
    let changed = changed(&area);
    let reports = siaga.result("/v1/reports?timeperiod=10800&disaster=flood&geoformat=geojson");
    let counted =
        reports["features"].as_array().unwrap().iter().map(|feature| &feature["properties"]).filter(
            |feature| {
                let created = time(&feature["created_at"]).unwrap();
                feature["tags"]["local_area_id"] == json!(id.to_string())
                    && changed.is_none_or(|changed| created >= changed)
            },
        );
    let mut expected = match counted.count() {
        0 => set(&[]),
        1 => set(&["oneReport"]),
        _ => set(&["reports"]),
    };
    if area["state"].is_null() {
        if !expected.is_empty() {
            return expected;
        }
        if watch.starts_with("silent") {
            return set(&["unknownArea"]);
        }
        expected.insert("dry".to_owned());
        let over = time(&area["over_since"]).filter(|over| now.saturating_duration_since(*over) < 6 * HOUR);
        expected.extend(over.map(|_| "over".to_owned()));
        expected.extend((watch == "unwatched").then(|| watch.to_owned()));
        return expected;
    }
    let (since, confirmed) = (time(&area["flooded_since"]).unwrap(), time(&area["confirmed"]).unwrap());
    expected.extend(["depth", "since", "advice"].map(str::to_owned));
    if now.saturating_duration_since(confirmed) > 24 * HOUR {
        expected.insert("unconfirmed".to_owned());
    } else if confirmed > since {
        expected.insert("confirmed".to_owned());
    }
    expected
}

#[test]
fn pages_make_only_true_statements_in_256_random_situations() {
    let mut seen = BTreeSet::new();
    for round in 0..32 {
        let mut dice = Dice(round);
        let sources = dice.pick(&["none", "heard", "heard", "silent", "gauges"]);
        let status = dice.pick(&["Actual", "Actual", "Exercise", "Test"]);
        let siaga = Siaga::with(configured(sources, status), |builder| builder);
        if dice.below(3) == 0 {
            for (area, ..) in AREAS {
                siaga.delete(&format!("/v1/floods/{area}"));
            }
        }
        live(&siaga, &mut dice);
        // The pages are as current as this address.
        siaga.result("/v1/changes");
        let watch = watch(&siaga);
        let flooded = siaga.result("/v1/floods/states").as_array().unwrap().len();
        let situation =
            format!("round {round}, sources {sources}, {watch}, {flooded} flooded, at {}", siaga.now());

        let (banner, word): (&[&str], _) = match status {
            "Exercise" => (&["exercise"], "<title>Exercise: "),
            "Test" => (&["test"], "<title>Test: "),
            _ => (&[], "<title>"),
        };
        let doubt = if watch.is_empty() { set(&[]) } else { set(&[watch]) };
        let state = match flooded {
            0 if watch.starts_with("silent") => "noneSilent",
            0 => "none",
            _ => "flooded",
        };
        let newest = newest(&siaga);
        let change = if newest.is_some() { "newest" } else { "never" };
        let all: BTreeSet<_> = &(&set(&[state, change]) | &set(banner)) | &doubt;

        let map = page(&siaga, "/map?lang=en");
        let over = keys(part(&map, "<section id=\"over\"", "</section>"));
        assert_eq!(&keys(&map) - &over, all, "{situation}: /map: {map}");
        let count = format!(", {flooded} neighbourhoods flooded · ");
        assert_eq!(part(&map, "<title>", "</title>").contains(&count), flooded > 0, "{situation}");
        let never = map.contains("&quot;watch&quot;:&quot;never&quot;");
        assert_eq!(never, watch == "silentAlways", "{situation}: the script knows it, too");
        if let Some(newest) = newest {
            let shown = part(&map, "<span id=\"newest\"", "</span>");
            assert!(shown.contains(&format!("datetime=\"{newest}\"")), "{situation}: {newest}: {shown}");
        }

        let front = page(&siaga, "/?lang=en");
        let lately = set(&["noneLately", "newest"]);
        assert_eq!(&keys(&front) - &lately, &all - &lately, "{situation}: /: {front}");
        for address in ["/map?lang=en", "/?lang=en", "/v1/alerts?format=html&lang=en", "/docs?lang=en"] {
            let page = page(&siaga, address);
            assert!(page.contains(word), "{situation}: {address}: {word}: {}", &page[..400]);
            let banners = &keys(&page) & &set(&["exercise", "test", "demo"]);
            assert_eq!(banners, set(banner), "{situation}: {address}");
        }
        for (id, ..) in AREAS {
            let shared = page(&siaga, &format!("/map?area={id}&lang=en"));
            let panel = part(&shared, "<section id=\"chosen\"", "</section>");
            let expected = of_area(&siaga, id, watch);
            assert_eq!(keys(panel), expected, "{situation}: area {id}: {panel}");
            // No other part of the page makes a statement, nor does its title.
            let title = part(&shared, "<title>", "</title>");
            let is_dry = expected.contains("dry");
            assert_eq!(title.contains("No flood recorded"), is_dry, "{situation}: area {id}: {title}");
            let may_be_empty = |key: &str| ["depth", "newest", "flooded"].contains(&key);
            assert!(
                statements(&shared).iter().all(|(key, text)| !text.is_empty() || may_be_empty(key)),
                "{shared}"
            );
            seen.extend(expected);
        }
    }
    assert_eq!(seen.len(), 11, "each sentence about an area was said at least once: {seen:?}");
}

#[test]
fn a_page_with_a_report_drops_it_when_hidden_and_is_not_cached() {
    let siaga = Siaga::start();
    let opened = |address: &'static str| {
        let response = siaga.client.get(address).header(Header::new("Accept", "text/html")).dispatch();
        let is_kept = response.headers().get_one("Cache-Control") != Some("no-store");
        (is_kept, response.into_string().unwrap())
    };
    let addresses = ["/map?area=1&lang=en", "/?lang=en"];
    for address in addresses {
        let (is_kept, page) = opened(address);
        assert!(!is_kept && page.contains("80 cm"), "{address}: {page}");
    }
    let (_, shared) = opened(addresses[0]);
    let panel = part(&shared, "<section id=\"chosen\"", "</section>");
    assert!(panel.contains("2 reports of residents: 80 cm, 21:08–22:58."), "{panel}");
    assert!(shared.contains("<title>Grogol, RW 01: reports of residents: 2 · "), "{shared}");
    for report in 1..=8 {
        hide(&siaga, &report.to_string());
    }
    for address in addresses {
        let (is_kept, page) = opened(address);
        assert!(is_kept && !page.contains("80 cm") && !page.contains("residents: 2"), "{address}: {page}");
    }
}

#[test]
fn the_demo_keeps_its_own_banner_alone() {
    let demo = configured("none", "Test").merge(("siaga.store", "memory")).merge(("siaga.dataset", "demo"));
    let siaga = Siaga::with(demo, |builder| builder);
    let page = page(&siaga, "/map?lang=en");
    assert!(page.matches("<aside").count() == 1 && page.contains("<title>Demonstration: "), "{page}");
    assert!(page.contains("<aside class=\"demo\" data-says=\"demo\">"), "{page}");
}

#[test]
fn the_desk_of_a_test_installation_has_the_banner_of_the_public_pages() {
    let siaga = Siaga::with(configured("none", "Test"), |builder| builder);
    let desk = page(&siaga, "/desk?lang=en");
    assert!(desk.contains(">TEST: nothing here is real") && desk.contains("<title>Test: "), "{desk}");
    assert!(!desk.contains("EXERCISE"), "{desk}");
}

#[test]
fn pages_show_the_time_of_an_all_clear_for_six_hours() {
    let siaga = Siaga::start();
    siaga.clock.set(siaga.now().saturating_add(HOUR));
    let change = |area: &str| json!({ "area_id": area, "state": null });
    let all_clear = json!({ "changes": [change("5"), change("30")] }).to_string();
    let cleared = json_of(siaga.request(Method::Post, "/v1/floods/changes", all_clear))["result"].clone();
    siaga.result("/v1/changes");
    let last_updated = cleared["changed"][0]["last_updated"].as_str();
    let at = last_updated.map_or_else(|| siaga.now().to_string(), str::to_owned);
    let map = page(&siaga, "/map?lang=en");
    let newest = part(&map, "<span id=\"newest\"", "</span>");
    assert!(newest.contains(&format!("data-says=\"newest\"><time datetime=\"{at}\"")), "{at}: {newest}");
    let over = part(&map, "<section id=\"over\"", "</section>");
    // The flood of area 1 ended days before.
    let listed = ["o1", "o5", "o30"].map(|id| over.contains(&format!("id=\"{id}\"")));
    assert_eq!(listed, [false, true, true], "{over}");
    let front = page(&siaga, "/?lang=en");
    assert!(part(&front, "Newest flood state", "</div>").contains(&at), "{front}");
    let panel = || {
        let shared = page(&siaga, "/map?area=30&lang=en");
        part(&shared, "<section id=\"chosen\"", "</section>").to_owned()
    };
    assert!(panel().contains("data-says=\"over\">Over since <time datetime=\""), "{}", panel());
    siaga.clock.set(siaga.now().saturating_add(6 * HOUR));
    assert!(!panel().contains("data-says=\"over\"") && panel().contains("data-says=\"dry\""), "{}", panel());
}
