use rocket::http::{Method, Status};
use serde_json::{Value, json};
use siaga::model::Timestamp;

use crate::suite::support::{Siaga, assert_invalid, each, json_of, partner_report, properties};

fn keys(siaga: &Siaga, address: &str) -> Vec<Value> {
    each(&siaga.result(address), "pkey")
}

#[test]
fn a_report_has_the_documented_properties() {
    let result = Siaga::start().result("/v1/reports?timeperiod=7200");
    let all = properties(&result);
    let newest = json!({
        "pkey": "1", "created_at": "2016-12-19T15:58:52.000Z", "source": "grasp", "status": "confirmed",
        "url": "used-card", "image_url": null, "disaster_type": "flood",
        "report_data": { "report_type": "flood", "flood_depth": 80 },
        "tags": { "instance_region_code": "ID-JK", "local_area_id": "1" },
        "title": "", "text": "Air \"setinggi\" lutut\n& <naik> ☔",
        "is_training": false, "partner_code": null, "partner_icon": null,
    });
    assert_eq!(all[0], newest);
    for (key, expected) in [("source", json!("partner")), ("url", json!(null)), ("report_data", json!(null))]
    {
        assert_eq!(all[5][key], expected, "{key} of a partner's");
    }
    let nowhere = json!({ "instance_region_code": null, "local_area_id": null });
    assert_eq!(all[4]["tags"], nowhere, "outside everything");
    assert_eq!(result["arcs"], json!([]), "points have no arcs");
}

#[test]
fn reports_of_the_last_hour_are_listed_newest_first_and_filtered_by_disaster_admin_and_city() {
    let siaga = Siaga::start();
    for (query, expected) in [
        ("", vec!["1", "7", "6", "2", "5"]),
        ("format=json&geoformat=topojson&timeperiod=3600", vec!["1", "7", "6", "2", "5"]),
        ("disaster=flood", vec!["1", "7", "6"]),
        ("disaster=prep", vec!["3"]),
        ("admin=ID-JK", vec!["1", "7", "6"]),
        ("city=bdg", vec!["2"]),
        ("admin=ID-JK&disaster=wind", vec![]),
        ("timeperiod=900", vec!["1", "7", "6"]),
        ("timeperiod=604800", vec!["1", "7", "6", "2", "5", "4"]),
    ] {
        let address = format!("/v1/reports?{query}");
        assert_eq!(keys(&siaga, &address), expected, "{query}");
    }
}

#[test]
fn every_province_of_the_country_is_accepted_as_city_and_as_admin() {
    let siaga = Siaga::start();
    let response = siaga.get("/v1/reports?admin=x");
    let message = json_of(response)["message"].as_str().unwrap().to_owned();
    let codes: Vec<_> = message.split(['[', ']']).nth(1).unwrap().split(", ").collect();
    assert_eq!(codes.len(), 38);
    let period = "start=2016-12-19T13:30:00Z&end=2016-12-19T16:00:00Z";
    for code in codes {
        for path in [
            "reports",
            "reports/archive",
            "reports/timeseries",
            "stats/floodedRegionsSummary",
            "stats/floodedRWsSummary",
            "stats/reportsSummary",
        ] {
            let [city, admin] =
                ["city", "admin"].map(|key| siaga.result(&format!("/v1/{path}?{period}&{key}={code}")));
            assert_eq!(city, admin, "{path} {code}");
        }
    }
}

#[test]
fn a_report_dated_2099_is_found_by_number_and_listed_from_that_time() {
    let siaga = Siaga::start();
    assert!(!keys(&siaga, "/v1/reports?timeperiod=604800").contains(&json!("8")));
    assert_eq!(keys(&siaga, "/v1/reports/8"), ["8"]);
    siaga.clock.set(Timestamp::parse("2099-01-01T00:00:00Z").unwrap());
    assert_eq!(keys(&siaga, "/v1/reports"), ["8"]);
}

#[test]
fn a_report_of_a_training_is_listed_and_counted_only_with_training_true() {
    let siaga = Siaga::start();
    let icon = json!("https://example.org/pmi.png");
    let body = partner_report(json!({ "is_training": true, "partner_code": "PMI", "partner_icon": icon }));
    assert_eq!(siaga.request(Method::Post, "/v1/feeds/partner", body.to_string()).status(), Status::Ok);
    let period = "start=2016-12-19T15:30:00Z&end=2016-12-19T16:30:00Z";
    for (query, trainings) in [("", 0), ("&training=", 0), ("&training=false", 0), ("&training=true", 1)] {
        let listed = keys(&siaga, &format!("/v1/reports?x{query}"));
        assert_eq!((listed.len(), listed.contains(&json!("9"))), (5 + trainings, trainings > 0), "{query}");
        let archive = keys(&siaga, &format!("/v1/reports/archive?{period}{query}"));
        assert_eq!(archive.contains(&json!("9")), trainings > 0, "{query}");
        let series = siaga.result(&format!("/v1/reports/timeseries?{period}{query}"));
        assert_eq!(series[1]["count"], trainings.to_string(), "{query}");
        let summary = siaga.result(&format!("/v1/stats/reportsSummary?x{query}"));
        assert_eq!(summary["total number of reports"], listed.len(), "{query}");
    }
    let report = &properties(&siaga.result("/v1/reports/9"))[0];
    assert_eq!(report["is_training"], true, "one is found by its number");
    assert_eq!((&report["partner_code"], &report["partner_icon"]), (&json!("PMI"), &icon));
}

#[test]
fn one_report_is_found_by_its_number_and_an_unknown_one_is_404() {
    let siaga = Siaga::start();
    let found = siaga.result("/v1/reports/3?geoformat=geojson");
    assert_eq!(found["features"][0]["properties"]["disaster_type"], "prep");
    let response = siaga.get("/v1/reports/99");
    assert_eq!(response.status(), Status::NotFound);
    assert_eq!(json_of(response)["message"], "report 99 does not exist");
}

#[test]
fn the_archive_lists_a_period_including_both_ends() {
    let siaga = Siaga::start();
    let archive = "/v1/reports/archive?start=2016-12-19T14:08:52Z&end=2016-12-19T22:53:52%2B0700";
    assert_eq!(keys(&siaga, archive), ["7", "6", "2", "5", "4"]);
    assert_eq!(keys(&siaga, &format!("{archive}&admin=ID-JK&disaster=flood")), ["7", "6", "4"]);
    let collection = siaga.result(&format!("{archive}&geoformat=geojson"));
    assert_eq!(collection["features"].as_array().unwrap().len(), 5);
}

#[test]
fn the_time_series_counts_flood_reports_hour_by_hour() {
    let siaga = Siaga::start();
    let series = "/v1/reports/timeseries?start=2016-12-19T13:30:00Z&end=2016-12-19T16:00:00Z";
    let expected = json!([
        { "ts": "2016-12-19T13:00:00.000Z", "count": "0" },
        { "ts": "2016-12-19T14:00:00.000Z", "count": "1" },
        { "ts": "2016-12-19T15:00:00.000Z", "count": "3" },
        { "ts": "2016-12-19T16:00:00.000Z", "count": "0" },
    ]);
    assert_eq!(siaga.result(series), expected);
    assert_eq!(siaga.result(&format!("{series}&disaster=wind"))[2]["count"], "1");
    assert_eq!(siaga.result(&format!("{series}&admin=ID-JB"))[2]["count"], "0");
}

#[test]
fn a_long_list_of_reports_has_the_newest_and_a_long_archive_is_400_with_the_parameters_that_narrow_it() {
    let siaga = Siaga::with_setting("siaga.limits.features", 5);
    assert_eq!(keys(&siaga, "/v1/reports").len(), 5);
    let whole = siaga.get("/v1/reports");
    assert_eq!(whole.headers().get_one("Siaga-Truncated"), None);
    assert_eq!(json_of(whole).get("truncated"), None);
    // The newest, for every kind of query.
    for (address, says_so) in [
        ("/v1/reports?timeperiod=7200", Some(true)),
        ("/v1/reports?timeperiod=7200&bbox=100,-10,110,0", Some(true)),
        ("/v1/reports.geojson?timeperiod=7200", None),
        // From the cache.
        ("/v1/reports?timeperiod=7200", Some(true)),
    ] {
        let response = siaga.get(address);
        assert_eq!(response.headers().get_one("Siaga-Truncated"), Some("true"), "{address}");
        assert_eq!(json_of(response).get("truncated").and_then(Value::as_bool), says_so, "{address}");
    }
    assert_eq!(keys(&siaga, "/v1/reports?timeperiod=7200"), keys(&siaga, "/v1/reports"));
    let ends = "start=2016-12-19T00:00:00Z&end=2016-12-20T00:00:00Z";
    let address = format!("/v1/reports/archive?{ends}");
    assert_invalid(siaga.get(&address), "query", &["start", "end"], "more than 5 reports between them");
    assert_eq!(keys(&siaga, &format!("{address}&disaster=wind")).len(), 1, "another way to narrow it");
    // Only lists of reports are limited.
    assert_eq!(siaga.get(&format!("/v1/reports/timeseries?{ends}")).status(), Status::Ok);
    assert!(properties(&siaga.result("/v1/floods")).len() >= 5);
}
