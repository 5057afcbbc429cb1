//! The folder of the country: hazards, texts and regions.

use rocket::http::{Header, Status};
use serde_json::{Value, json};

use crate::suite::support::{ADMIN_KEY, Siaga, figment, json_of, key};

/// What the service responded to reports of cards while their rules were a part of the program, one line for each.
const RECORDED: &str = include_str!("recorded/cards.json");

const BROWSER: &str = "text/html,application/xhtml+xml,*/*;q=0.8";

fn philippines() -> Siaga {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/country/ph");
    Siaga::with_setting("siaga.country.folder", folder)
}

/// Sends the report of a new card; returns the status and the response, with `CARD` for the identifier of the card.
fn report(siaga: &Siaga, body: &Value) -> (u16, Value) {
    let card = siaga.card();
    let put = siaga.client.put(format!("/v1/cards/{card}")).header(key(ADMIN_KEY));
    let response = put.body(body.to_string()).dispatch();
    let status = response.status().code;
    let text = response.into_string().unwrap().replace(&card, "CARD");
    (status, serde_json::from_str(&text).unwrap())
}

fn card(disaster: Option<&str>, data: &Value) -> Value {
    let mut body = json!({
        "card_data": data, "created_at": "2016-12-19T15:40:00Z", "location": { "lat": -6.15, "lng": 106.8 },
    });
    if let Some(disaster) = disaster {
        body["disaster_type"] = disaster.into();
    }
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
    assert_eq!(status, 400);
    let message = refused["message"].as_str().unwrap();
    assert!(message.contains("\"card_data.smogImpact\" must be a whole number from 0 to 2"), "{message}");

    let listed = philippines.result("/v1/reports?disaster=typhoon&geoformat=geojson&timeperiod=7200");
    assert_eq!(listed["features"].as_array().unwrap().len(), 3, "{listed}");
    let document = json_of(philippines.get("/openapi.json")).to_string();
    assert!(
        document.contains("typhoon") && document.contains("smogImpact") && document.contains("\"storm\"")
    );
    assert!(!json_of(indonesia.get("/openapi.json")).to_string().contains("smogImpact"));
}

#[test]
fn a_report_type_of_several_hazards_means_that_of_the_contract_if_none_is_named() {
    let siaga = philippines();
    let (status, _) = report(&siaga, &card(None, &json!({ "report_type": "flood", "flood_depth": 60 })));
    assert_eq!(status, 200);
    let of = |disaster: &str| {
        let address = format!("/v1/reports?disaster={disaster}&geoformat=geojson&timeperiod=7200");
        siaga.result(&address)["features"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|of| of["properties"]["source"] == "grasp")
            .count()
    };
    assert_eq!((of("flood") > 0, of("typhoon")), (true, 0));
    let (status, _) = report(&siaga, &card(None, &json!({ "report_type": "flood" })));
    assert_eq!(status, 400, "a flood needs its depth");
    assert_eq!(report(&siaga, &card(Some("typhoon"), &json!({ "report_type": "flood" }))).0, 200);
}

#[test]
fn a_report_type_of_several_further_hazards_needs_the_name_of_one() {
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/country/ph");
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("texts")).unwrap();
    for file in ["country.toml", "hazards.toml", "regions.csv", "texts/en.json", "texts/tl.json"] {
        std::fs::copy(format!("{own}/{file}"), folder.path().join(file)).unwrap();
    }
    let change = |file: &str, from: &str, to: &str| {
        let path = folder.path().join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{file}: {from}");
        std::fs::write(path, text.replacen(from, to, 1)).unwrap();
    };
    // A second hazard with storms.
    change(
        "hazards.toml",
        "[[hazard]]\nname = \"haze\"",
        "[[hazard]]\nname = \"surge\"\ncolour = \"#000000\"\nwindow = \"1h\"\nicon = \"M0 0h9\"\nreport = [{ name = \"storm\" }]\n\n[[hazard]]\nname = \"haze\"",
    );
    // The names of hazards are the ones before that of preparedness.
    change("texts/en.json", "\"prep\": \"", "\"surge\": \"Storm surge\", \"prep\": \"");
    change("texts/tl.json", "\"prep\": \"", "\"surge\": \"Daluyong\", \"prep\": \"");
    let siaga = Siaga::with_setting("siaga.country.folder", folder.path().to_str().unwrap());
    let storm = json!({ "report_type": "storm" });
    let (status, refused) = report(&siaga, &card(None, &storm));
    let message = refused["message"].as_str().unwrap();
    assert_eq!(status, 400);
    assert!(
        message.contains("\"disaster_type\" must be one of [typhoon, surge] with the report_type storm"),
        "{message}"
    );
    for disaster in ["typhoon", "surge"] {
        assert_eq!(report(&siaga, &card(Some(disaster), &storm)).0, 200, "{disaster}");
    }
}

#[test]
fn the_front_page_says_reports_in_words_of_its_language() {
    let siaga = philippines();
    let typhoon = card(Some("typhoon"), &json!({ "report_type": "wind", "impact": 2, "note": "<b>" }));
    assert_eq!(report(&siaga, &typhoon).0, 200);
    for (lang, name, fact) in
        [("en", "Strong wind", "Impact: high"), ("tl", "Malakas na hangin", "Epekto: malakas")]
    {
        let page = page(&siaga, &format!("/?lang={lang}"));
        assert!(page.contains(name) && page.contains(fact), "{lang}: {page}");
        assert!(page.contains(&format!("<html lang=\"{lang}\">")) && !page.contains("<b></"), "{page}");
    }
    // A text that Tagalog lacks is there in English, and no text of a third language.
    let page = page(&siaga, "/?lang=tl");
    assert!(page.contains("Baha ngayon") && page.contains("Read and try every address"), "{page}");
    assert!(page.contains("tel:911") && !page.contains("Banjir"), "{page}");
}

#[test]
fn phones_and_networks_name_a_language_in_many_ways() {
    let open = |folder: &str| {
        let figment = figment().merge(("siaga.cards.open", true));
        let figment =
            if folder.is_empty() { figment } else { figment.merge(("siaga.country.folder", folder)) };
        Siaga::with(figment, |builder| builder)
    };
    let language = |siaga: &Siaga, address: &str, accepted: &str| {
        let request = siaga.client.get(address.to_owned()).header(Header::new("Accept", BROWSER));
        let header = Header::new("Accept-Language", accepted.to_owned());
        let page = request.header(header).dispatch().into_string().unwrap();
        page.split("<html lang=\"").nth(1).unwrap()[..2].to_owned()
    };
    let of_card = |siaga: &Siaga, code: &str| {
        let holder = json!({ "username": "u", "network": "n", "language": code });
        let made = siaga.client.post("/v1/cards").header(key(ADMIN_KEY)).body(holder.to_string()).dispatch();
        language(siaga, &format!("/report/{}", json_of(made)["cardId"].as_str().unwrap()), "fr")
    };
    let indonesia = open("");
    for code in ["in-ID", "id_ID"] {
        for address in ["/", "/map", "/report"] {
            let accepted = format!("{code},en-US;q=0.9,en;Q=0.8");
            assert_eq!(language(&indonesia, address, &accepted), "id", "{address} {code}");
            let named = format!("{address}?lang={code}");
            assert_eq!(language(&indonesia, &named, "en"), "id", "{named}");
        }
        assert_eq!(of_card(&indonesia, code), "id", "{code}");
        assert_eq!(language(&indonesia, &format!("/v1/alerts?format=html&lang={code}"), "en"), "id");
    }
    assert_eq!(of_card(&indonesia, "en_US"), "en");
    // Capitals in the name of a weight count.
    assert_eq!(language(&indonesia, "/", "en;Q=0.1,id"), "id");
    assert_eq!(indonesia.get("/map?lang=fil").status(), Status::BadRequest);
    let philippines = open(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/country/ph"));
    assert_eq!((&*language(&philippines, "/report", "fil-PH"), &*of_card(&philippines, "tgl")), ("tl", "tl"));
    // No other country has that alias, and no other language.
    assert_eq!(language(&philippines, "/report", "in-ID,fi;q=0.5"), "en");
}

#[test]
fn a_fire_is_a_fire_and_shaking_can_be_reported_in_each_language() {
    let (indonesia, philippines) = (Siaga::start(), philippines());
    for (siaga, lang, fire, shaking) in [
        (&indonesia, "id", "Kebakaran", "Guncangan terasa"),
        (&indonesia, "en", "Fire", "Felt shaking"),
        (&philippines, "en", "Fire", "Felt shaking"),
        (&philippines, "tl", "Sunog", "Naramdamang pagyanig"),
    ] {
        let words: Value = siaga.get(&format!("/map/hazards?lang={lang}")).into_json().unwrap();
        assert_eq!(words["hazards"]["fire"]["types"]["fire"]["name"], fire, "{lang}");
        assert_eq!(words["hazards"]["earthquake"]["types"]["shaking"]["name"], shaking, "{lang}");
        let report = card(Some("earthquake"), &json!({ "report_type": "shaking", "shaking": 1 }));
        assert_eq!(
            report_of(siaga, &report)["report_data"],
            json!({ "report_type": "shaking", "shaking": 1 })
        );
    }
}

/// Sends the report of a new card, and returns the newest report.
fn report_of(siaga: &Siaga, body: &Value) -> Value {
    assert_eq!(report(siaga, body).0, 200, "{body}");
    let listed = siaga.result("/v1/reports?geoformat=geojson");
    let newest = listed["features"].as_array().unwrap().iter().map(|feature| &feature["properties"]);
    newest.max_by_key(|report| report["pkey"].as_str().unwrap().parse::<u64>().unwrap()).unwrap().clone()
}

#[test]
fn the_regions_and_the_time_zone_are_those_of_the_country() {
    let siaga = philippines();
    let refused = json_of(siaga.get("/v1/reports?admin=ID-JK"))["message"].as_str().unwrap().to_owned();
    assert!(refused.contains("PH-00") && !refused.contains("ID-JK,"), "{refused}");
    assert_eq!(siaga.get("/v1/reports?admin=PH-00").status(), Status::Ok);
    assert!(!page(&siaga, "/?lang=en").contains("WIB"));
}

#[test]
fn alerts_are_in_the_languages_of_the_country_that_have_words_for_them() {
    let siaga = philippines();
    let feed = siaga.get("/v1/alerts?content=inline").into_string().unwrap();
    assert!(feed.contains("<language>en-PH</language>") && feed.contains(" at 21:41 PST, "), "{feed}");
    assert_eq!(feed.matches("<info>").count(), 1, "Tagalog has no words for alerts: {feed}");
    // A page in Tagalog has the English words.
    let page = page(&siaga, "/v1/alerts?lang=tl&format=html");
    assert!(page.contains("<html lang=\"tl\">") && page.contains("Flood of "), "{page}");
}
