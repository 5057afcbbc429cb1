//! Expected results of a store with the rows of a CogniCity database, `tests/common/cognicity.sql`. The suite of
//! `siaga-conformance` covers all other behaviour.

use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use siaga::model::{AreaSelector, FloodChange, FloodState, Layer, Period, ReportKey, Timestamp};
use siaga::stores::{FloodQuery, GaugeQuery, ReportQuery, Store, StoreError, Window};

use crate::fixture::{id, now};

/// Returns a window from before the first row up to the time of the tests.
fn ever() -> Window {
    let start = Timestamp::parse("2016-01-01T00:00:00Z").unwrap();
    Window::Within(Period::new(start, now(), Duration::MAX).unwrap())
}

fn features(layer: &Layer) -> Vec<Value> {
    layer.features().map(|feature| serde_json::to_value(feature.properties).unwrap()).collect()
}

pub(crate) fn everywhere() -> AreaSelector {
    AreaSelector::default()
}

fn selected(city: Option<&str>, admin: Option<&str>) -> AreaSelector {
    AreaSelector { city: city.map(str::to_owned), region: admin.map(str::to_owned) }
}

/// Asserts that a store has the data of the database.
pub(crate) async fn assert_agrees(store: &dyn Store) {
    assert_floods(store).await;
    assert_reports(store).await;
    assert_cards(store).await;
    assert_gauges(store).await;
    assert_places(store).await;
}

async fn assert_floods(store: &dyn Store) {
    let floods = store.floods(&FloodQuery::default()).await.unwrap().value;
    let areas = features(&Layer::Floods(floods));
    assert_eq!(
        areas[0],
        json!({
            "area_id": "1", "geom_id": "3174040004009000", "area_name": "RW 09", "parent_name": "GROGOL",
            "city_name": "JAKARTA BARAT", "state": 3, "last_updated": "2016-12-19T13:41:35.500Z",
            "flooded_since": "2016-12-19T13:41:35.500Z", "confirmed": "2016-12-19T13:41:35.500Z",
            "attributes": { "district_id": 3174.0, "b": null },
        })
    );
    // The current state was set before the end of the log, so its added entry is 1 ms after that end.
    assert_eq!(
        (&areas[1]["state"], &areas[1]["last_updated"]),
        (&json!(4), &json!("2016-12-15T02:00:00.001Z"))
    );
    assert_eq!((&areas[1]["area_name"], areas[1].get("attributes")), (&json!(""), None));
    assert_eq!((&areas[2]["area_name"], &areas[2]["state"]), (&json!("RW 03 \"X\""), &Value::Null));
    assert_eq!(areas[2]["attributes"], json!({ "district_id": 3273, "population": 1250.50 }));
    assert_eq!(areas[3]["state"], 2, "a current state that is wrong says nothing against the log");
    assert_eq!(areas.len(), 4);
    for (selector, expected) in [
        (selected(None, Some("ID-JK")), &[1][..]),
        // Area 1 has the code of its province, and lies in the city jbd.
        (selected(Some("jbd"), None), &[1, 2]),
        (selected(None, Some("ID-JB")), &[5]),
    ] {
        let query = FloodQuery { selector, minimum_state: Some(FloodState::Minor) };
        let states = store.flood_states(&query).await.unwrap().value;
        let ids: Vec<_> = states.iter().map(|state| state.area_id.number()).collect();
        assert_eq!(ids, expected);
    }
    let log = store.flood_log(id(1)).await.unwrap();
    let entry = |change: &FloodChange| (change.at.to_string(), change.state.map(FloodState::code));
    let expected = [
        ("2016-12-14T06:10:35.123Z", Some(2)),
        ("2016-12-14T09:00:00.000Z", Some(4)),
        ("2016-12-15T01:00:00.000Z", None),
        ("2016-12-19T13:41:35.500Z", Some(3)),
    ];
    let expected = expected.map(|(at, state)| (at.to_owned(), state));
    assert_eq!(log.iter().map(entry).collect::<Vec<_>>(), expected);
    let names: Vec<_> = log.iter().map(|change| change.by.username.as_deref()).collect();
    assert_eq!(names, [Some("bpbd"), None, None, None]);
}

/// Returns all reports, including reports from trainings.
pub(crate) async fn reports(store: &dyn Store, selector: AreaSelector) -> Vec<Value> {
    let query = ReportQuery { selector, disaster: None, training: true, window: ever() };
    features(&Layer::Reports(store.reports(&query).await.unwrap().value))
}

fn pkeys(reports: &[Value]) -> Vec<&str> {
    reports.iter().map(|report| report["pkey"].as_str().unwrap()).collect()
}

async fn assert_reports(store: &dyn Store) {
    let all = reports(store, everywhere()).await;
    assert_eq!(pkeys(&all), ["8", "1", "2", "3", "4"]);
    assert_eq!(
        all[1],
        json!({
            "pkey": "1", "created_at": "2016-12-19T16:00:00.123Z", "source": "grasp", "status": "confirmed",
            "url": "aaaaaaaa-0000-4000-8000-000000000001", "image_url": "https://images.example.org/a.jpg",
            "disaster_type": "flood", "report_data": { "report_type": "flood", "flood_depth": 101, "points": -2 },
            "tags": { "instance_region_code": "ID-JK", "local_area_id": "1", "district_id": "3174" }, "title": "",
            "text": "Air \"setinggi\" lutut\n☔", "is_training": false, "partner_code": null, "partner_icon": null,
        })
    );
    let of_partner = ["source", "url", "image_url", "title", "partner_code", "partner_icon"];
    assert_eq!(
        of_partner.map(|name| all[2][name].as_str().unwrap()),
        ["detik", "http://detik.example.org/2", "", "Banjir", "pmi", "https://icons.example.org/pmi.png"]
    );
    assert_eq!(all[3]["tags"], json!({ "instance_region_code": null, "local_area_id": "2" }));
    assert_eq!((&all[3]["partner_code"], &all[3]["partner_icon"]), (&json!("bare"), &Value::Null));
    assert_eq!((&all[4]["image_url"], &all[4]["report_data"]), (&Value::Null, &Value::Null));
    assert_eq!((&all[4]["disaster_type"], &all[3]["is_training"]), (&json!("typhoon"), &json!(true)));
    let in_city = reports(store, selected(Some("jbd"), None)).await;
    assert_eq!(pkeys(&in_city), ["8", "1", "2", "3", "4"], "all lie inside its boundary");
}

async fn assert_cards(store: &dyn Store) {
    let card = async |number: u64| {
        store.card(&format!("aaaaaaaa-0000-4000-8000-{number:012}").parse().unwrap()).await
    };
    let used = card(1).await.unwrap();
    assert_eq!((used.pkey, used.report.map(ReportKey::number)), (1, Some(1)), "the first of two reports");
    assert_eq!((&*used.holder.username, &*used.holder.network), ("Ibu, \"O'Neil\"", "telegram"));
    assert_eq!(used.holder.network_data.as_deref().map(RawValue::get), Some("{\"chat\": 5}"));
    let unused = card(2).await.unwrap();
    assert_eq!((unused.report, &*unused.holder.language), (None, "en"));
    assert!(card(5).await.unwrap().report.is_none());
    for number in [3, 4] {
        assert!(matches!(card(number).await, Err(StoreError::NotFound { .. })), "{number} was used");
    }
}

async fn assert_gauges(store: &dyn Store) {
    let query = GaugeQuery { selector: everywhere(), window: ever(), with_failed: true };
    let found = store.gauges(&query).await.unwrap().value;
    let gauges = features(&Layer::Gauges(found));
    assert_eq!(
        gauges,
        [
            json!({ "gaugeid": "TMA1", "gaugenameid": "Katulampa", "observations": [
            { "f1": "2016-12-19T15:40:00+00:00", "f2": 70, "f3": 4, "f4": "SIAGA IV" },
            { "f1": "2016-12-19T15:50:00+00:00", "f2": 95, "f3": 3, "f4": "SIAGA III" },
        ] }),
            json!({ "gaugeid": "TMA2", "gaugenameid": "TMA2", "observations": [
            { "f1": "2016-12-19T16:00:00+00:00", "f2": -5, "f3": 1, "f4": "SIAGA I" },
        ] }),
        ]
    );
    let query = GaugeQuery { selector: selected(None, Some("ID-JB")), window: ever(), with_failed: true };
    assert_eq!(features(&Layer::Gauges(store.gauges(&query).await.unwrap().value)).len(), 1);
}

async fn assert_places(store: &dyn Store) {
    let places = store.places().await.unwrap().value;
    let infrastructure = places.infrastructure_layer(&AreaSelector::default(), None);
    let found = features(&Layer::Infrastructure(infrastructure));
    let none = json!({ "instance_region_code": null, "local_area_id": null });
    assert_eq!(
        found,
        [
            json!({ "name": "", "type": "floodgates", "tags": none }),
            json!({
                "name": "Pintu Air Karet", "type": "floodgates",
                "tags": { "instance_region_code": "jbd", "local_area_id": "1", "district_id": "3174" },
            }),
            json!({
                "name": "Kali Krukut", "type": "waterways",
                "tags": { "instance_region_code": "ID-JK", "local_area_id": null },
            }),
        ]
    );
    let regions = features(&Layer::Boundaries(places.boundary_layer(None)));
    assert_eq!(
        regions,
        [json!({ "code": "ID-JB", "name": "Jawa Barat" }), json!({ "code": "ID-JK", "name": "DKI Jakarta" }),]
    );
}
