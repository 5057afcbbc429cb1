//! Cities with a boundary of their own.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use siaga::folder::{Dataset, FolderFile, FolderRules};
use siaga::model::{AreaSelector, ManualClock, Timestamp};
use siaga::stores::memory::MemoryStore;
use siaga::stores::{ReportQuery, Store, Window};

use crate::fixture;
use crate::folders::{canonical_folder, collection, folder_of, report, reports, square};
use crate::operations::{post, receive};
use crate::operator::Operator;

/// Cities of 0.01°, with their lower left corners at places of the fixture.
fn cities(places: &[(&str, f64, f64)]) -> (FolderFile, String) {
    let city = |&(code, x, y): &(&str, f64, f64)| square(json!({ "code": code, "name": code }), x, y);
    (FolderFile::Cities, collection(&places.iter().map(city).collect::<Vec<_>>()))
}

/// The keys of all reports in a city, and the names of its infrastructure.
async fn contents_of_city(store: &dyn Store, city: &str) -> (Vec<u64>, String) {
    let selector = AreaSelector { city: Some(city.to_owned()), region: None };
    let window = Window::Last(Duration::from_hours(3));
    let query = ReportQuery { selector: selector.clone(), disaster: None, training: false, window };
    let reports = store.reports(&query).await.unwrap().value.reports;
    let mut keys: Vec<_> = reports.iter().map(|report| report.key.number()).collect();
    keys.sort_unstable();
    assert_eq!(store.count_reports(&query, 1_000).await.unwrap(), keys.len() as u64);
    let infrastructure = store.places().await.unwrap().value.infrastructure_layer(&selector, None);
    (keys, infrastructure.0.iter().map(|piece| &*piece.name).collect::<Vec<_>>().join(", "))
}

#[rocket::async_test]
async fn stored_and_new_reports_are_located_in_imported_cities() {
    let (operator, store) = Operator::live().await;
    assert_eq!(contents_of_city(&*store, "jbd").await.0, [1, 4, 6, 7]);
    assert_eq!(contents_of_city(&*store, "bdg").await, (vec![2], "Pompa A".to_owned()));
    // jbd is now where only area 2 and one report of the same folder are, bdg moves to area 1.
    let folder = folder_of(&[
        cities(&[("jbd", 1.0, 0.0), ("bdg", 0.0, 0.0)]),
        reports(&[report(Some(20), 1, 1.5, 0.5), report(Some(21), 1, 60.0, 0.5)]),
    ]);
    let imported = operator.import(folder.path()).await.unwrap();
    assert_eq!(imported.relocated, 4, "reports 1, 3, 4 and 8, which lie in area 1");
    assert_eq!(contents_of_city(&*store, "jbd").await, (vec![20], "Pompa B".to_owned()));
    assert_eq!(contents_of_city(&*store, "bdg").await, (vec![1, 4], "Pintu Air, Ciliwung".to_owned()));
    assert_eq!(contents_of_city(&*store, "sby").await.0, [5]);
    let again = operator.import(folder.path()).await.unwrap();
    assert_eq!(again.relocated, 0);
    let key = receive(&*store, "fresh-card").await.unwrap().key.number();
    store.receive_partner_report(post(99, 0.5, 0.5)).await.unwrap();
    assert_eq!(contents_of_city(&*store, "bdg").await.0, [1, 4, key, key + 1]);
}

#[rocket::async_test]
async fn all_stores_find_the_same_in_each_city() {
    let folder = canonical_folder(fixture::dataset());
    let (file, content) = cities(&[("jbd", 0.0, 0.0), ("sby", 1.0, 0.0)]);
    std::fs::write(folder.path().join(file.name()), content).unwrap();
    let path = folder.path().to_str().unwrap();
    let dataset = Dataset::load(path, &FolderRules::default(), Timestamp::LAST).unwrap();
    let memory = MemoryStore::new(dataset, Arc::new(ManualClock::new(fixture::now())));
    assert!(!contents_of_city(&memory, "jbd").await.0.is_empty());
    for operator in Operator::each_empty().await {
        operator.import(folder.path()).await.unwrap();
        let store = operator.store().await;
        for city in ["jbd", "bdg", "sby", "ID-JK", "ID-JB"] {
            assert_eq!(
                contents_of_city(&*store, city).await,
                contents_of_city(&memory, city).await,
                "{city}"
            );
        }
    }
}
