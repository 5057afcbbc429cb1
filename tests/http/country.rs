//! The folder of the country: hazards, texts and regions.

use rocket::http::{Header, Method, Status};
use serde_json::{Value, json};

use crate::suite::form::{card as card_in, open, started};
use crate::suite::support::{Siaga, assert_invalid, json_of, properties};

/// Responses to card reports recorded when their rules were hard-coded, one per line.
const RECORDED: &str = include_str!("recorded/cards.json");

const BROWSER: &str = "text/html,application/xhtml+xml,*/*;q=0.8";

const PHILIPPINES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/country/ph");

fn philippines() -> Siaga {
    Siaga::with_setting("siaga.country.folder", PHILIPPINES)
}

/// Sends the report of a new card; returns the status and the response, with `CARD` for the identifier of the card.
fn report(siaga: &Siaga, body: &Value) -> (u16, Value) {
    let card = siaga.card();
    let address = format!("/v1/cards/{card}");
    let response = siaga.request(Method::Put, &address, body.to_string());
    let status = response.status().code;
    let text = response.into_string().unwrap().replace(&card, "CARD");
    (status, serde_json::from_str(&text).unwrap())
}

fn card(disaster: Option<&str>, data: &Value) -> Value {
    let mut body = json!({ "card_data": data, "disaster_type": disaster, "created_at": "2016-12-19T15:40:00Z",
                           "location": { "lat": -6.15, "lng": 106.8 } });
    body.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    body
}

fn page(siaga: &Siaga, address: &str) -> String {
    let request = siaga.client.get(address.to_owned()).header(Header::new("Accept", BROWSER));
    let response = request.dispatch();
    assert_eq!(response.status(), Status::Ok, "{address}");
    response.into_string().unwrap()
}

#[test]
fn reports_of_cards_get_the_recorded_responses() {
    let siaga = Siaga::start();
    let recorded: Vec<Value> = serde_json::from_str(RECORDED).unwrap();
    assert!(recorded.len() > 70);
    for line in recorded {
        let expected = (line["status"].as_u64().unwrap() as u16, line["answer"].clone());
        assert_eq!(report(&siaga, &line["body"]), expected, "{}", line["body"]);
    }
}

#[test]
fn a_typhoon_with_wind_flood_or_storm_is_accepted_where_the_country_has_it() {
    let (indonesia, philippines) = (Siaga::start(), philippines());
    for data in [
        json!({ "report_type": "wind", "impact": 2 }),
        json!({ "report_type": "flood", "flood_depth": 60 }),
        json!({ "report_type": "storm", "impact": 1, "flood_depth": 20 }),
    ] {
        let body = card(Some("typhoon"), &data);
        assert_eq!(report(&indonesia, &body).0, 400, "{data}");
        assert_eq!(report(&philippines, &body).0, 200, "{data}");
    }
    let ash = card(Some("volcano"), &json!({ "report_type": "ashfall", "smogImpact": 2 }));
    assert_eq!(report(&philippines, &ash).0, 200);
    let wrong = card(Some("volcano"), &json!({ "report_type": "ashfall", "smogImpact": 3 }));
    let (status, refused) = report(&philippines, &wrong);
    assert_eq!((status, &refused["validation"]["keys"]), (400, &json!(["card_data.smogImpact"])));

    let listed = philippines.result("/v1/reports?disaster=typhoon&geoformat=geojson&timeperiod=7200");
    assert_eq!(listed["features"].as_array().unwrap().len(), 3, "{listed}");
    let document = json_of(philippines.get("/openapi.json")).to_string();
    assert!(document.contains("smogImpact") && document.contains("\"storm\""));
    assert!(!json_of(indonesia.get("/openapi.json")).to_string().contains("smogImpact"));
}

#[test]
fn a_report_type_of_several_hazards_defaults_to_the_one_of_the_contract() {
    let siaga = philippines();
    let flood = card(None, &json!({ "report_type": "flood", "flood_depth": 60 }));
    assert_eq!(report_of(&siaga, &flood)["disaster_type"], "flood");
    let shallow = json!({ "report_type": "flood" });
    assert_eq!(report(&siaga, &card(None, &shallow)).0, 400, "a flood needs its depth");
    assert_eq!(report(&siaga, &card(Some("typhoon"), &shallow)).0, 200);
}

#[test]
fn a_report_type_of_several_further_hazards_needs_the_name_of_one() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("texts")).unwrap();
    // A second hazard with storms.
    let surge = "[[hazard]]\nname = \"surge\"\ncolour = \"#000000\"\nwindow = \"1h\"\nicon = \"M0 0h9\"\n\
                 report = [{ name = \"storm\" }]\n\n[[hazard]]\nname = \"haze\"";
    for (file, from, to) in [
        ("country.toml", "", ""),
        ("regions.csv", "", ""),
        ("hazards.toml", "[[hazard]]\nname = \"haze\"", surge),
        // The names of hazards are the ones before that of preparedness.
        ("texts/en.json", "\"prep\": \"", "\"surge\": \"Storm surge\", \"prep\": \""),
        ("texts/tl.json", "\"prep\": \"", "\"surge\": \"Daluyong\", \"prep\": \""),
    ] {
        let text = std::fs::read_to_string(format!("{PHILIPPINES}/{file}")).unwrap();
        std::fs::write(folder.path().join(file), text.replacen(from, to, 1)).unwrap();
    }
    let siaga = Siaga::with_setting("siaga.country.folder", folder.path().to_str().unwrap());
    let storm = json!({ "report_type": "storm" });
    let (status, refused) = report(&siaga, &card(None, &storm));
    let message = refused["message"].as_str().unwrap();
    assert!(status == 400 && message.contains("one of [typhoon, surge]"), "{status}: {message}");
    for disaster in ["typhoon", "surge"] {
        assert_eq!(report(&siaga, &card(Some(disaster), &storm)).0, 200, "{disaster}");
    }
}

#[test]
fn the_front_page_describes_reports_in_its_language_with_a_fallback() {
    let siaga = philippines();
    let typhoon = card(Some("typhoon"), &json!({ "report_type": "wind", "impact": 2, "note": "<b>" }));
    assert_eq!(report(&siaga, &typhoon).0, 200);
    for (lang, name, fact) in
        [("en", "Strong wind", "Impact: high"), ("tl", "Malakas na hangin", "Epekto: malakas")]
    {
        let page = page(&siaga, &format!("/?lang={lang}"));
        assert!(page.contains(name) && page.contains(fact), "{lang}: {page}");
        assert!(page.contains("Read and try every address"), "{lang}, in which Tagalog lacks it: {page}");
        assert!(page.contains(&format!("<html lang=\"{lang}\">")) && page.contains("tel:911"), "{page}");
        assert!(!page.contains("<b></") && !page.contains("Banjir") && !page.contains("WIB"), "{page}");
    }
}

#[test]
fn languages_are_recognised_in_the_spellings_of_phones_and_networks() {
    let language = |siaga: &Siaga, address: &str, accepted: &str| {
        let request = siaga.client.get(address.to_owned()).header(Header::new("Accept", BROWSER));
        let header = Header::new("Accept-Language", accepted.to_owned());
        let page = request.header(header).dispatch().into_string().unwrap();
        page.split("<html lang=\"").nth(1).unwrap()[..2].to_owned()
    };
    let of_card = |siaga: &Siaga, code: &str| format!("/report/{}", card_in(siaga, code));
    let indonesia = started(open());
    let philippines = started(open().merge(("siaga.country.folder", PHILIPPINES)));
    for (siaga, address, accepted, expected) in [
        (&indonesia, "/", "in-ID,en-US;q=0.9,en;Q=0.8", "id"),
        (&indonesia, "/map", "en-GB,en;q=0.9", "en"),
        (&indonesia, "/map", "de", "id"),
        (&indonesia, "/map?lang=id_ID", "en", "id"),
        (&indonesia, "/v1/alerts?format=html&lang=in-ID", "en", "id"),
        (&indonesia, &of_card(&indonesia, "in-ID"), "fr", "id"),
        (&indonesia, &of_card(&indonesia, "en_US"), "fr", "en"),
        (&philippines, "/report", "fil-PH", "tl"),
        (&philippines, &of_card(&philippines, "tgl"), "fr", "tl"),
        // That alias exists only for one country and language.
        (&philippines, "/report", "in-ID,fi;q=0.5", "en"),
    ] {
        assert_eq!(language(siaga, address, accepted), expected, "{address} for {accepted}");
    }
    assert_invalid(indonesia.get("/map?lang=fil"), "query", &["lang"], "must be one of [id, en]");
}

#[test]
fn shaking_can_be_reported_in_each_country_and_language() {
    for (siaga, lang, shaking) in
        [(Siaga::start(), "id", "Guncangan terasa"), (philippines(), "tl", "Naramdamang pagyanig")]
    {
        let words: Value = siaga.get(&format!("/map/hazards?lang={lang}")).into_json().unwrap();
        assert_eq!(words["hazards"]["earthquake"]["types"]["shaking"]["name"], shaking, "{lang}");
        let data = json!({ "report_type": "shaking", "shaking": 1 });
        assert_eq!(report_of(&siaga, &card(Some("earthquake"), &data))["report_data"], data);
    }
}

/// Sends the report of a new card, and returns its published properties.
fn report_of(siaga: &Siaga, body: &Value) -> Value {
    assert_eq!(report(siaga, body).0, 200, "{body}");
    let all = properties(&siaga.result("/v1/reports"));
    all.into_iter().max_by_key(|report| report["pkey"].as_str().unwrap().parse::<u64>().unwrap()).unwrap()
}

#[test]
fn the_regions_are_those_of_the_country() {
    let siaga = philippines();
    let refused = json_of(siaga.get("/v1/reports?admin=ID-JK"))["message"].as_str().unwrap().to_owned();
    assert!(refused.contains("PH-00") && !refused.contains("ID-JK,"), "{refused}");
    assert_eq!(siaga.get("/v1/reports?admin=PH-00").status(), Status::Ok);
}

#[test]
fn alerts_are_in_the_languages_of_the_country_with_texts_for_them() {
    let siaga = philippines();
    let feed = siaga.get("/v1/alerts?content=inline").into_string().unwrap();
    assert!(feed.contains("<language>en-PH</language>") && feed.contains(" at 21:41 PST, "), "{feed}");
    assert_eq!(feed.matches("<info>").count(), 1, "Tagalog has no words for alerts: {feed}");
    // A page in Tagalog has the English words.
    let page = page(&siaga, "/v1/alerts?lang=tl&format=html");
    assert!(page.contains("<html lang=\"tl\">") && page.contains("Flood of "), "{page}");
}
