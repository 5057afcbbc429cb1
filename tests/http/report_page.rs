//! The report page, used without and with its script.

use std::time::Duration;

use rocket::http::{ContentType, Method, Status};
use serde_json::{Value, json};

use crate::suite::form::{
    FLOOD, TOKEN, card, count, flood, location, newest, open, send, send_by_script, send_from,
    shows_its_photo, started,
};
use crate::suite::photos::photo;
use crate::suite::support::{KEY, Siaga, json_of, key};

#[test]
fn a_report_without_card_and_script_is_published_with_its_photo() {
    let siaga = started(open());
    let page = siaga.get("/report?lang=en").into_string().unwrap();
    assert!(page.contains("name=\"token\" value=\"") && page.contains("enctype=\"multipart/form-data\""));
    let sent = send(&siaga, "/report?lang=en", &flood(&[("token", TOKEN)]), Some(&photo(80, 60, 1)));
    let thanks = location(&sent);
    let report = newest(&siaga);
    let id = report["url"].as_str().unwrap();
    assert_eq!(id.len(), 14);
    assert!(thanks.starts_with(&format!("/report/{id}/thanks?lang=en&token=")), "{thanks}");
    assert_eq!(report["report_data"], json!({ "report_type": "flood", "flood_depth": 40 }));
    assert_eq!(report["text"], "Air setinggi lutut <b>");
    assert_eq!(report["tags"]["local_area_id"], "1");
    shows_its_photo(&siaga);
    let thanks = siaga.get(&thanks).into_string().unwrap();
    assert!(thanks.contains("Call 112 if"), "{thanks}");
    assert!(thanks.contains("Thank you") && thanks.contains("&#x2f;map?area=1&amp;lang=en"), "{thanks}");
    let created = json_of(siaga.request(Method::Get, &format!("/v1/cards/{id}"), ""));
    assert_eq!(
        (&created["result"]["network"], &created["result"]["username"]),
        (&json!("website"), &json!(""))
    );
}

#[test]
fn errors_stand_beside_their_fields_and_input_is_preserved() {
    let siaga = started(open());
    let small = started(open().merge(("siaga.images.max_bytes", "1KiB")));
    let before = count(&siaga);
    let (long, jpeg) = ("x".repeat(501), photo(400, 300, 1));
    let with = |name, text| flood(&[("token", TOKEN), (name, text)]);
    for (siaga, fields, file, field) in [
        (&siaga, with("disaster", ""), None, "disaster"),
        (&siaga, with("flood.flood_depth", ""), None, "flood.flood_depth"),
        (&siaga, with("flood.flood_depth", "10001"), None, "flood.flood_depth"),
        (&siaga, with("disaster", "earthquake"), None, "earthquake.report_type"),
        (&siaga, with("lat", ""), None, "place"),
        (&siaga, with("lat", "91"), None, "place"),
        (&siaga, with("text", &long), None, "text"),
        (&siaga, FLOOD.to_vec(), None, "token"),
        (&siaga, flood(&[("token", &*TOKEN.replace('0', "z"))]), None, "token"),
        (&siaga, with("token", TOKEN), Some(&b"%PDF-1.7 is not a photo"[..]), "photo"),
        (&small, with("token", TOKEN), Some(&jpeg), "photo"),
    ] {
        let response = send(siaga, "/report?lang=en", &fields, file);
        assert_eq!(response.status(), Status::BadRequest, "{fields:?}");
        let page = response.into_string().unwrap();
        assert!(page.contains(&format!("id=\"fault-{field}\"")), "{field}: {page}");
        assert!(page.contains("Air setinggi lutut &lt;b&gt;") || page.contains(&long), "{field}: {page}");
        assert!(page.contains(TOKEN) || field == "token", "the same form is sent again: {field}");
    }
    assert_eq!(count(&siaga), before);
    let json = siaga.client.post("/report").header(ContentType::JSON).body("{}").dispatch();
    assert_eq!(json.status(), Status::UnsupportedMediaType);
}

#[test]
fn the_address_fills_in_the_place_and_a_chosen_area_counts_before_it() {
    let siaga = started(open());
    let page = |query: &str| siaga.get(&format!("/report?lang=en{query}")).into_string().unwrap();
    let at = |lat, lng| {
        format!(
            "name=\"lat\" autocomplete=\"off\" value=\"{lat}\"><input type=\"hidden\" name=\"lng\" autocomplete=\"off\" value=\"{lng}\""
        )
    };
    let of_area = page("&area=1");
    assert!(of_area.contains("<option value=\"1\" selected"), "{of_area}");
    assert!(!of_area.contains(&at("", "")), "{of_area}");
    assert!(page("&lat=-6.195&lng=106.805").contains(&at("-6.195", "106.805")));
    for wrong in ["&area=77", "&area=x", "&lat=-6.195", "&lat=91&lng=0", "&lat=a&lng=b"] {
        assert!(page(wrong).contains(&at("", "")), "people can still report: {wrong}");
    }
    location(&send(&siaga, "/report?lang=en", &flood(&[("token", TOKEN), ("area", "5")]), None));
    assert_eq!(newest(&siaga)["tags"]["local_area_id"], "5");
}

#[test]
fn the_choice_of_a_place_without_a_script_keeps_what_was_filled_in_and_sends_nothing() {
    let siaga = started(open());
    let before = count(&siaga);
    let fields = flood(&[("token", TOKEN), ("choose", "place"), ("city", "of-before")]);
    let page = siaga.get("/report?lang=en").into_string().unwrap();
    let query =
        page.split_once("formaction=\"&#x2f;report?lang=en&amp;").unwrap().1.split_once('"').unwrap().0;
    let address = format!("/report?lang=en&{query}");
    let response = send(&siaga, &address, &fields, Some(&photo(8, 6, 1)));
    assert_eq!(response.status(), Status::Ok);
    let chosen = response.into_string().unwrap();
    assert!(chosen.contains(&format!("{query}&amp;parent=")), "the larger areas of the city: {chosen}");
    for part in ["Air setinggi lutut &lt;b&gt;", TOKEN, "value=\"40\"", "value=\"flood\" required checked"] {
        assert!(chosen.contains(part), "{part}: {chosen}");
    }
    assert!(!chosen.contains("class=\"fault\"") && !chosen.contains("of-before"), "{chosen}");
    assert_eq!(count(&siaga), before);
}

#[test]
fn the_script_gets_json() {
    let siaga = started(open());
    let fields = flood(&[("token", TOKEN), ("disaster", "")]);
    let (status, wrong) = send_by_script(&siaga, "/report", &fields, None);
    assert_eq!((status, &wrong["statusCode"]), (400, &json!(400)));
    assert!(wrong["faults"]["disaster"].is_string(), "{wrong}");
    let fields = flood(&[("token", TOKEN)]);
    let (status, sent) = send_by_script(&siaga, "/report?lang=en", &fields, None);
    assert_eq!((status, &sent["created"], &sent["waits"]), (200, &json!(true), &json!(false)));
    let id = sent["cardId"].as_str().unwrap();
    assert!(sent["thanks"].as_str().unwrap().starts_with(&format!("/report/{id}/thanks?lang=en&token=")));
    let (status, late) = send_by_script(&siaga, "/report/unknown-card-1", &FLOOD, Some(&photo(8, 6, 1)));
    assert_eq!((status, &late["expired"]), (404, &json!(true)));
}

#[test]
fn a_link_shows_the_form_then_a_thank_you_and_later_advice() {
    let siaga = started(open());
    let (used, late) = (card(&siaga, "en"), card(&siaga, "id"));
    let address = format!("/report/{used}");
    let form = siaga.get(&address).into_string().unwrap();
    assert!(form.contains("Report what you see"), "the language of the card: {form}");
    assert!(siaga.get(&format!("/report/{late}")).into_string().unwrap().contains("Laporkan"));
    location(&send(&siaga, &address, &flood(&[("disaster", "wind"), ("wind.impact", "2")]), None));
    assert_eq!(newest(&siaga)["url"], *used);
    assert!(siaga.get(&address).into_string().unwrap().contains("Thank you"));
    siaga.pass(Duration::from_hours(24));
    for id in [&*late, "unknown-card-1", "x"] {
        let address = format!("/report/{id}?lang=en");
        let response = siaga.get(&address);
        assert_eq!(response.status(), Status::NotFound);
        let page = response.into_string().unwrap();
        assert!(page.contains("href=\"&#x2f;report?lang=en\""), "{page}");
        let sent = send(&siaga, &address, &FLOOD, Some(&photo(8, 6, 1)));
        assert_eq!(sent.status(), Status::NotFound);
        let sent = sent.into_string().unwrap();
        assert!(sent.contains("action=\"&#x2f;report?lang=en\""), "the form without a link: {sent}");
        assert!(sent.contains("Air setinggi lutut &lt;b&gt;"), "nothing that was typed is lost: {sent}");
    }
}

#[test]
fn without_open_cards_the_page_is_404() {
    let siaga = Siaga::start();
    for address in ["/report", "/report/fresh-card", "/report/fresh-card/thanks", "/reporting/places?area=1"]
    {
        assert_eq!(siaga.get(address).status(), Status::NotFound, "{address}");
    }
    assert_eq!(send(&siaga, "/report", &flood(&[("token", TOKEN)]), None).status(), Status::NotFound);
}

#[test]
fn with_review_of_all_reports_each_one_waits_and_is_counted_on_no_page() {
    let siaga = started(open().merge(("siaga.report.review", true)));
    let before = count(&siaga);
    let panels = || {
        [1, 2, 5, 10, 30].map(|area| {
            let page = siaga.get(&format!("/map?area={area}&lang=en")).into_string().unwrap();
            page.split_once("id=\"chosen\"").map(|(_, rest)| rest.chars().take(600).collect::<String>())
        })
    };
    let said = panels();
    let (status, sent) = send_from(&siaga.client, "192.0.2.1", 1, &[], &[]);
    assert_eq!((status, &sent["waits"]), (200, &json!(true)));
    assert_eq!((count(&siaga), panels()), (before, said));
    let listed = json_of(siaga.client.get("/v1/floods/attention").header(key(KEY)).dispatch());
    let areas = listed["result"].as_array().unwrap().iter();
    let mut reasons = areas.flat_map(|area| area["reasons"].as_array().unwrap());
    let is_listed = reasons.any(|reason| reason["waiting_ids"][0].is_string());
    assert!(is_listed, "officers see that somebody has reported: {listed}");
}

#[test]
fn automated_and_frequent_reports_of_an_address_wait_for_review_and_then_are_rejected() {
    let limits = open().merge(("siaga.report.reviewed_after", 2)).merge(("siaga.report.refused_after", 4));
    let siaga = started(limits);
    let before = count(&siaga);
    let spam = [("website", "https://spam.example")];
    for (host, number, others, status, waits) in [
        ("192.0.2.9", 99, &spam[..], 200, json!(true)),
        ("192.0.2.1", 0, &[], 200, json!(false)),
        ("192.0.2.1", 1, &[], 200, json!(false)),
        ("192.0.2.1", 2, &[], 200, json!(true)),
        ("192.0.2.1", 3, &[], 200, json!(true)),
        ("192.0.2.1", 4, &[], 429, Value::Null),
        // Another address, which sends the same form twice.
        ("192.0.2.2", 7, &[], 200, json!(false)),
        ("192.0.2.2", 7, &[], 200, Value::Null),
    ] {
        let sent = send_from(&siaga.client, host, number, &[], others);
        assert_eq!((sent.0, &sent.1["waits"]), (status, &waits), "{number} from {host}");
    }
    assert_eq!(count(&siaga), before + 3);
}

#[test]
fn the_page_is_not_cached_not_indexed_and_sends_no_referrer() {
    let siaga = started(open());
    for address in ["/report".to_owned(), format!("/report/{}", siaga.card())] {
        let response = siaga.get(&address);
        let header = |name| response.headers().get_one(name).unwrap_or_default().to_owned();
        assert_eq!(header("Cache-Control"), "no-store");
        assert_eq!(header("Referrer-Policy"), "no-referrer");
        assert_eq!(header("X-Robots-Tag"), "noindex");
        assert!(header("Content-Security-Policy").contains("script-src 'self'"));
        assert_eq!(response.headers().get("Set-Cookie").count(), 0);
    }
}

#[test]
fn areas_are_chosen_from_lists_without_a_script_and_by_their_number_with_one() {
    let siaga = started(open());
    let page = siaga.get("/report").into_string().unwrap();
    assert!(page.contains("city=JAKARTA%20BARAT"), "{page}");
    let found = json_of(siaga.get("/reporting/places?area=1"))["result"].clone();
    let (lat, lng) = (&found["lat"], &found["lng"]);
    let at = siaga.result(&format!("/v1/areas/at?lat={lat}&lng={lng}&geoformat=geojson"));
    assert_eq!(at["features"][0]["properties"]["area_id"], "1");
    for unknown in ["?area=99999", "?area=x", ""] {
        let status = siaga.get(&format!("/reporting/places{unknown}")).status();
        assert_eq!(status, Status::NotFound, "{unknown}");
    }
    let fields = [("token", TOKEN), ("disaster", "wind"), ("wind.impact", "0"), ("area", "1")];
    location(&send(&siaga, "/report", &fields, None));
    assert_eq!(newest(&siaga)["tags"]["local_area_id"], "1");
}

#[test]
fn the_form_asks_about_the_hazards_of_the_country_in_its_languages() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/country/ph");
    let siaga = started(open().merge(("siaga.country.folder", folder)));
    let page = siaga.get("/report?lang=tl").into_string().unwrap();
    assert!(page.contains("Bagyo") && page.contains("Gaano kalala ang pinsala?"), "{page}");
    assert!(page.contains("name=\"typhoon.report_type\" value=\"storm\""), "{page}");
    assert!(!page.contains("Angin") && !page.contains("value=\"wind\"><span><svg"), "{page}");
    let typhoon = |report_type, depth| {
        // The disaster was changed after the flood fields were filled in.
        let responses = [("disaster", "typhoon"), ("flood.flood_depth", "150"), ("typhoon.impact", "1")];
        let more = [("typhoon.report_type", report_type), ("typhoon.flood_depth", depth)];
        flood(&[&[("token", TOKEN)][..], &responses, &more].concat())
    };
    for (report_type, depth, expected) in
        [("road", "20", "Piliin kung ano ang iniuulat mo."), ("flood", "10001", "mula 0 hanggang 10000.")]
    {
        let refused = send(&siaga, "/report?lang=tl", &typhoon(report_type, depth), None);
        assert_eq!(refused.status(), Status::BadRequest);
        let refused = refused.into_string().unwrap();
        assert!(refused.contains(expected), "{expected}: {refused}");
    }
    location(&send(&siaga, "/report?lang=tl", &typhoon("storm", "20"), Some(&photo(80, 60, 1))));
    let report = newest(&siaga);
    let storm = json!({ "report_type": "storm", "impact": 1, "flood_depth": 20 });
    assert_eq!((&report["disaster_type"], &report["report_data"]), (&json!("typhoon"), &storm));
}

#[test]
fn a_disaster_of_the_configuration_has_one_type_and_no_questions() {
    let siaga = started(open().merge(("siaga.disasters.also", ["tsunami"])));
    let fields = flood(&[("token", TOKEN), ("disaster", "tsunami")]);
    location(&send(&siaga, "/report", &fields, None));
    assert_eq!(newest(&siaga)["report_data"], json!({ "report_type": "tsunami" }));
}

#[test]
fn the_sender_of_a_report_can_add_a_photo_while_the_card_is_open() {
    let siaga = started(open());
    let address = format!("/report/{}", siaga.card());
    let late = format!("/report/{}", siaga.card());
    let photo_of = |address: &str| {
        let thanks = location(&send(&siaga, address, &flood(&[]), None));
        let token = thanks.split_once("&token=").unwrap().1;
        (format!("{address}/photo?lang=en&token={token}"), thanks.clone())
    };
    let page = |address: &str| siaga.get(address).into_string().unwrap();
    let offers = |address: &str| page(address).contains("type=\"file\"");
    let refused = |address: &str| {
        let refused = send(&siaga, address, &[], Some(&photo(80, 60, 1)));
        assert_eq!(refused.status(), Status::Forbidden, "{address}");
        let refused = refused.into_string().unwrap();
        assert!(refused.contains("role=\"alert\""), "{address}: {refused}");
    };
    let (to_late, late_thanks) = photo_of(&late);
    let (to_photo, thanks) = photo_of(&address);
    assert!(offers(&thanks));
    // The identifier is public now and gives no access without the token.
    let wrong = format!("?token={}", "0".repeat(64));
    for stranger in [address.clone(), format!("{address}/thanks"), format!("{address}/thanks{wrong}")] {
        assert!(!offers(&stranger), "{stranger}");
    }
    for query in ["", "?token=x", &wrong] {
        refused(&format!("{address}/photo{query}"));
        assert!(offers(&thanks), "nothing was taken: {query}");
    }
    for file in [None, Some(&b"%PDF-1.7 is not a photo"[..])] {
        let refused = send(&siaga, &to_photo, &[], file);
        assert_eq!(refused.status(), Status::BadRequest);
        assert!(refused.into_string().unwrap().contains("id=\"fault-photo\""));
    }
    for _ in 0..2 {
        let there = location(&send(&siaga, &to_photo, &[], Some(&photo(80, 60, 1))));
        assert_eq!(there, format!("{address}/thanks?lang=en"));
        assert!(page(&there).contains("Your photo has arrived."));
    }
    assert!(!offers(&thanks), "a report has one photo");
    shows_its_photo(&siaga);

    siaga.pass(Duration::from_hours(24));
    assert!(!offers(&late_thanks), "the card is closed");
    refused(&to_late);
    let unused = format!("/report/{}/photo", siaga.card());
    assert_eq!(send(&siaga, &unused, &[], Some(&photo(8, 6, 1))).status(), Status::NotFound);
}
