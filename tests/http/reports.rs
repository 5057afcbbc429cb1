use rocket::http::{Method, Status};
use serde_json::{Value, json};
use siaga::model::Timestamp;

use crate::fixture;
use crate::suite::support::{Siaga, assert_invalid, each, figment, json_of, properties};

fn keys(siaga: &Siaga, address: &str) -> Vec<Value> {
    each(&siaga.result(address), "pkey")
}

#[test]
fn the_last_hour_of_the_whole_country_is_listed_newest_first_by_default() {
    let siaga = Siaga::start();
    assert_eq!(keys(&siaga, "/v1/reports"), ["1", "7", "6", "2", "5"]);
    assert_eq!(
        keys(&siaga, "/v1/reports?format=json&geoformat=topojson&timeperiod=3600"),
        ["1", "7", "6", "2", "5"]
    );
}

#[test]
fn a_report_has_the_documented_properties() {
    let result = Siaga::start().result("/v1/reports?timeperiod=7200");
    let all = properties(&result);
    assert_eq!(
        all[0],
        json!({
            "pkey": "1", "created_at": "2016-12-19T15:58:52.000Z", "source": "grasp", "status": "confirmed",
            "url": "used-card", "image_url": null, "disaster_type": "flood",
            "report_data": { "report_type": "flood", "flood_depth": 80 },
            "tags": { "instance_region_code": "ID-JK", "local_area_id": "1" },
            "title": "", "text": "Air \"setinggi\" lutut\n& <naik> ☔",
            "is_training": false, "partner_code": null, "partner_icon": null,
        })
    );
    assert_eq!(
        (&all[5]["source"], &all[5]["url"], &all[5]["report_data"]),
        (&json!("partner"), &Value::Null, &Value::Null)
    );
    assert_eq!(
        all[4]["tags"],
        json!({ "instance_region_code": null, "local_area_id": null }),
        "outside everything"
    );
    assert_eq!(result["arcs"], json!([]), "points have no arcs");
}

#[test]
fn one_point_lies_at_0_0_of_its_topology() {
    let result = Siaga::start().result("/v1/reports?disaster=wind");
    let point = &result["objects"]["output"]["geometries"][0];
    assert_eq!((&point["type"], &point["coordinates"]), (&json!("Point"), &json!([0, 0])));
    assert_eq!(result["transform"]["scale"], json!([1e-6, 1e-6]));
    let [lng, lat] = [106.8 + 3.5 / 100.0, -6.2 + 0.5 / 100.0];
    assert_eq!(result["transform"]["translate"], json!([lng, lat]));
    assert_eq!(result["bbox"], json!([lng, lat, lng, lat]));
}

#[test]
fn geoformat_geojson_gives_a_feature_collection() {
    let result = Siaga::start().result("/v1/reports?geoformat=geojson&disaster=haze");
    assert_eq!(result["type"], "FeatureCollection");
    assert_eq!(result["features"][0]["geometry"]["type"], "Point");
}

#[test]
fn disaster_admin_and_city_pick_reports() {
    let siaga = Siaga::start();
    for (query, expected) in [
        ("disaster=flood", vec!["1", "7", "6"]),
        ("disaster=wind", vec!["2"]),
        ("disaster=haze", vec!["5"]),
        ("disaster=volcano", vec![]),
        ("disaster=prep", vec!["3"]),
        ("admin=ID-JK", vec!["1", "7", "6"]),
        ("admin=ID-JB", vec!["2"]),
        ("admin=ID-AC", vec![]),
        ("city=bdg", vec!["2"]),
        ("city=ID-JB", vec!["2"]),
        ("city=ID-JK", vec!["1", "7", "6"]),
        ("admin=ID-JK&disaster=wind", vec![]),
        ("timeperiod=900", vec!["1", "7", "6"]),
        ("timeperiod=899", vec!["1"]),
        ("timeperiod=604800", vec!["1", "7", "6", "2", "5", "4"]),
    ] {
        let address = format!("/v1/reports?{query}");
        assert_eq!(keys(&siaga, &address), expected, "{query}");
    }
}

#[test]
fn timeperiod_is_1_to_604800_seconds() {
    let siaga = Siaga::start();
    for wrong in ["0", "604801", "-1", "1.5", "week", "%2B60"] {
        let response = siaga.client.get(format!("/v1/reports?timeperiod={wrong}")).dispatch();
        assert_invalid(response, "query", &["timeperiod"], "from 1 to 604800");
    }
}

#[test]
fn a_wrong_parameter_is_400_naming_it_and_what_is_allowed() {
    let siaga = Siaga::start();
    for (query, key, says) in [
        ("disaster=storm", "disaster", "one of [flood, earthquake, fire, haze, wind, volcano, prep]"),
        ("admin=ID-XX", "admin", "ID-AC, "),
        ("city=jkt", "city", "one of [bdg, jbd, sby, ID-AC, "),
        ("format=xml", "format", "one of [json]"),
        ("geoformat=cap", "geoformat", "one of [topojson, geojson]"),
    ] {
        let response = siaga.client.get(format!("/v1/reports?{query}")).dispatch();
        assert_invalid(response, "query", &[key], says);
    }
}

#[test]
fn every_province_of_the_country_can_be_asked_for_as_city_or_as_admin() {
    let siaga = Siaga::start();
    let response = siaga.get("/v1/reports?admin=x");
    let message = json_of(response)["message"].as_str().unwrap().to_owned();
    let codes: Vec<_> = message.split(['[', ']']).nth(1).unwrap().split(", ").collect();
    assert_eq!(codes.len(), 38);
    let period = "start=2016-12-19T13:30:00Z&end=2016-12-19T16:00:00Z";
    for code in codes {
        for address in
            ["reports?", &format!("reports/archive?{period}&"), &format!("reports/timeseries?{period}&")]
        {
            let [city, admin] =
                ["city", "admin"].map(|key| siaga.result(&format!("/v1/{address}{key}={code}")));
            assert_eq!(city, admin, "{address} {code}");
        }
    }
}

#[test]
fn a_report_dated_2099_is_stored_and_shows_when_its_time_has_come() {
    let siaga = Siaga::start();
    assert!(!keys(&siaga, "/v1/reports?timeperiod=604800").contains(&json!("8")));
    assert_eq!(keys(&siaga, "/v1/reports/8"), ["8"]);
    siaga.clock.set(Timestamp::parse("2099-01-01T00:00:00Z").unwrap());
    assert_eq!(keys(&siaga, "/v1/reports"), ["8"]);
}

#[test]
fn a_report_of_a_training_is_listed_and_counted_only_with_training_true() {
    let siaga = Siaga::start();
    let body = json!({
        "card_data": { "report_type": "flood", "flood_depth": 50 }, "is_training": true, "partnerCode": "PMI",
        "created_at": "2016-12-19T16:00:00Z", "location": { "lat": -6.195, "lng": 106.805 },
    });
    let response = siaga.ask(Method::Put, "/v1/cards/fresh-card", body.to_string());
    assert_eq!(response.status(), Status::Ok);
    let body = json!({
        "post_id": 1, "partner_city": "jabodetabek", "disaster_type": "flood", "is_training": true,
        "created_at": "2016-12-19T16:00:00Z", "location": { "lat": -6.195, "lng": 106.805 },
        "partner_code": "PMI", "partner_icon": "https://example.org/pmi.png",
    });
    assert_eq!(siaga.ask(Method::Post, "/v1/feeds/partner", body.to_string()).status(), Status::Ok);
    let period = "start=2016-12-19T15:30:00Z&end=2016-12-19T16:30:00Z";
    let archive = format!("/v1/reports/archive?{period}");
    for (query, trainings) in
        [("", false), ("&training=", false), ("&training=false", false), ("&training=true", true)]
    {
        let listed: &[&str] =
            if trainings { &["10", "9", "1", "7", "6", "2", "5"] } else { &["1", "7", "6", "2", "5"] };
        assert_eq!(keys(&siaga, &format!("/v1/reports?x{query}")), listed, "{query}");
        assert_eq!(keys(&siaga, &format!("{archive}{query}"))[..2], listed[..2], "{query}");
        let series = siaga.result(&format!("/v1/reports/timeseries?{period}{query}"));
        let counts: Vec<_> = series.as_array().unwrap().iter().map(|point| &point["count"]).collect();
        assert_eq!(counts, if trainings { ["3", "2"] } else { ["3", "0"] }, "{query}");
        let summary = siaga.result(&format!("/v1/stats/reportsSummary?x{query}"));
        assert_eq!(summary["total number of reports"], listed.len(), "{query}");
    }
    for (key, icon) in [("9", Value::Null), ("10", json!("https://example.org/pmi.png"))] {
        let report = &properties(&siaga.result(&format!("/v1/reports/{key}")))[0];
        assert_eq!(report["is_training"], true, "one is found by its number");
        assert_eq!((&report["partner_code"], &report["partner_icon"]), (&json!("PMI"), &icon));
    }
    for address in ["/v1/reports?training=1", "/v1/stats/reportsSummary?training=yes"] {
        assert_invalid(siaga.get(address), "query", &["training"], "one of [true, false]");
    }
}

#[test]
fn one_report_is_found_by_its_number() {
    let siaga = Siaga::start();
    assert_eq!(keys(&siaga, "/v1/reports/4"), ["4"]);
    assert_eq!(
        siaga.result("/v1/reports/3?geoformat=geojson")["features"][0]["properties"]["disaster_type"],
        "prep"
    );
}

#[test]
fn an_unknown_report_is_404_and_a_wrong_number_400() {
    let siaga = Siaga::start();
    let response = siaga.get("/v1/reports/99");
    assert_eq!(response.status(), Status::NotFound);
    assert_eq!(json_of(response)["message"], "report 99 does not exist");
    for wrong in ["0", "x", "-1", "1.5", "%2B1", "9223372036854775808", "%00"] {
        let address = format!("/v1/reports/{wrong}");
        assert_invalid(siaga.get(&address), "params", &["id"], "must be a whole number");
    }
}

#[test]
fn the_archive_lists_a_period_with_both_ends() {
    let siaga = Siaga::start();
    let archive = "/v1/reports/archive?start=2016-12-19T14:08:52Z&end=2016-12-19T22:53:52%2B0700";
    assert_eq!(keys(&siaga, archive), ["7", "6", "2", "5", "4"]);
    assert_eq!(keys(&siaga, &format!("{archive}&admin=ID-JK&disaster=flood")), ["7", "6", "4"]);
    assert_eq!(
        siaga.result(&format!("{archive}&geoformat=geojson"))["features"].as_array().unwrap().len(),
        5
    );
    for (query, key) in [("", "start"), ("?start=2016-12-19T14:08:52Z", "end")] {
        let address = format!("/v1/reports/archive{query}");
        assert_invalid(siaga.get(&address), "query", &[key], "is required");
    }
}

#[test]
fn the_time_series_counts_flood_reports_hour_by_hour() {
    let siaga = Siaga::start();
    let series = "/v1/reports/timeseries?start=2016-12-19T13:30:00Z&end=2016-12-19T16:00:00Z";
    assert_eq!(
        siaga.result(series),
        json!([
            { "ts": "2016-12-19T13:00:00.000Z", "count": "0" },
            { "ts": "2016-12-19T14:00:00.000Z", "count": "1" },
            { "ts": "2016-12-19T15:00:00.000Z", "count": "3" },
            { "ts": "2016-12-19T16:00:00.000Z", "count": "0" },
        ])
    );
    assert_eq!(siaga.result(&format!("{series}&disaster=wind"))[2]["count"], "1");
    assert_eq!(siaga.result(&format!("{series}&admin=ID-JB"))[2]["count"], "0");
    assert_invalid(siaga.get("/v1/reports/timeseries"), "query", &["start"], "is required");
}

#[test]
fn an_empty_answer_has_the_bbox_of_the_areas_and_a_transform() {
    let siaga = Siaga::start();
    siaga.clock.set(fixture::now().after(std::time::Duration::from_hours(48)));
    let result = siaga.result("/v1/reports");
    assert_eq!(result["arcs"], json!([]));
    assert_eq!(result["bbox"], json!([106.8, -6.2, 106.85, -6.16]));
    assert_eq!(result["transform"], json!({ "scale": [1, 1], "translate": [0, 0] }));
}

#[test]
fn a_list_of_too_many_reports_has_the_newest_and_an_archive_is_400_naming_what_narrows_it() {
    let figment = figment().merge(("siaga.limits.features", 5));
    let siaga = Siaga::with(figment, |builder| builder);
    assert_eq!(keys(&siaga, "/v1/reports").len(), 5);
    let whole = siaga.get("/v1/reports");
    assert_eq!(whole.headers().get_one("Siaga-Truncated"), None);
    assert_eq!(json_of(whole).get("truncated"), None);
    // The newest, however they are asked for.
    for address in [
        "/v1/reports?timeperiod=7200",
        "/v1/reports?timeperiod=7200&geoformat=geojson",
        "/v1/reports?timeperiod=7200&bbox=100,-10,110,0",
        "/v1/reports.geojson?timeperiod=7200",
    ] {
        let response = siaga.get(address);
        assert_eq!(response.headers().get_one("Siaga-Truncated"), Some("true"), "{address}");
        let body = json_of(response);
        let expected = if address.contains(".geojson") { None } else { Some(&json!(true)) };
        assert_eq!(body.get("truncated"), expected, "{address}");
    }
    assert_eq!(keys(&siaga, "/v1/reports?timeperiod=7200"), keys(&siaga, "/v1/reports"));
    let cached = siaga.get("/v1/reports?timeperiod=7200");
    assert_eq!(cached.headers().get_one("Siaga-Truncated"), Some("true"));
    let ends = "start=2016-12-19T00:00:00Z&end=2016-12-20T00:00:00Z";
    let address = format!("/v1/reports/archive?{ends}");
    assert_invalid(siaga.get(&address), "query", &["start", "end"], "more than 5 reports between them");
    assert_eq!(keys(&siaga, &format!("{address}&disaster=wind")).len(), 1, "another way to narrow it");
    // What counts is a list of reports.
    assert_eq!(siaga.get(&format!("/v1/reports/timeseries?{ends}")).status(), Status::Ok);
    assert!(siaga.result("/v1/floods")["objects"]["output"]["geometries"].as_array().unwrap().len() >= 5);
}
