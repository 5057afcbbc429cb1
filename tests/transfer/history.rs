//! Areas and the log of their states.

use std::time::Duration;

use serde_json::{Value, json};
use siaga::folder::FolderFile;
use siaga::model::{AreaSelector, FloodState, Period, Timestamp};
use siaga::stores::{EntryQuery, HistoryQuery};

use crate::fixture::{id, state};
use crate::folders::{area, collection, states};
use crate::operations::{WRONG_RUNS, state_codes, write};
use crate::operator::Operator;

#[rocket::async_test]
async fn changed_attributes_of_an_area_are_a_change_and_equal_ones_are_not() {
    let operator = Operator::with_fixture().await;
    let import = async |attributes: Value| {
        let mut area = area(40, 20.0, 20.0);
        area["properties"]["attributes"] = attributes;
        operator.add(&[(FolderFile::Areas, collection(&[area]))]).await;
        operator.snapshot().await.revisions
    };
    let first = import(json!({ "b": 1.0, "a": null })).await;
    assert_eq!(import(json!({ "b": 1.0, "a": null })).await, first);
    let other = import(json!({ "a": null, "b": 1.0 })).await;
    assert_ne!(other, first, "another order of members is stored");
    assert_ne!(import(Value::Null).await, other);
}

#[rocket::async_test]
async fn an_imported_log_is_merged_with_live_entries() {
    let (operator, store) = Operator::live().await;
    store.set_flood_state(write(1, Some(4))).await.unwrap();
    store.set_flood_state(write(30, None)).await.unwrap();
    let log = states("1,3,2016-12-16T00:00:00Z,,\n30,4,2016-12-16T01:00:00Z,,\n2,1,2016-12-17T00:00:00Z,,\n");
    operator.add(&[log]).await;
    assert_eq!(state_codes(&*store).await, [(1, 4), (2, 1), (5, 2)], "the newest stands");
    let log = store.flood_log(id(1)).await.unwrap();
    let codes: Vec<_> = log.iter().map(|change| change.state.map(FloodState::code)).collect();
    assert_eq!(codes, [Some(2), None, Some(3), Some(4)]);
}

#[rocket::async_test]
async fn a_corrected_entry_replaces_the_one_of_its_moment() {
    let (operator, store) = Operator::live().await;
    operator.add(&[states("5,,2016-12-14T09:00:35Z,bpbd,import\n")]).await;
    assert_eq!(state_codes(&*store).await, [(5, 2), (30, 3)], "a newer one stands");
    let moment = |time| Timestamp::parse(&format!("2016-12-14T{time}:00:00Z")).unwrap();
    let period = Period::new(moment("10"), moment("11"), Duration::MAX).unwrap();
    let query = HistoryQuery { selector: AreaSelector::default(), period };
    let archive = store.flood_archive(&query).await.unwrap().value;
    let highest = archive.iter().map(|record| (record.area_id.number(), record.max_state.code()));
    assert!(highest.eq([(1, 2), (30, 3)]), "{archive:?}");
    // The last of two rows with the same time counts.
    let newest = states("5,1,2016-12-19T13:41:35Z,,\n5,4,2016-12-19T13:41:35Z,bpbd,corrected\n");
    operator.add(&[newest]).await;
    assert_eq!(state_codes(&*store).await, [(5, 4), (30, 3)]);
    let last = store.flood_log(id(5)).await.unwrap().pop().unwrap();
    assert_eq!((last.state, last.by.subject.as_str()), (Some(state(4)), "corrected"));
    operator.add(&[states("5,,2016-12-19T13:41:35Z,,\n")]).await;
    assert_eq!(state_codes(&*store).await, [(30, 3)], "a clearing");
    assert_eq!(operator.count("SELECT count(*) FROM flood_changes").await, 6);
}

#[rocket::async_test]
async fn entries_imported_between_others_change_the_start_of_their_runs() {
    let (operator, store) = Operator::live().await;
    let moment = |day: &str| Timestamp::parse(&format!("{day}T00:00:00Z")).unwrap();
    let (selector, area) = (AreaSelector::default(), Some(id(5)));
    let everything = EntryQuery { selector, area, from: moment("2016-01-01"), until: moment("2017-01-01") };
    let runs = async || {
        let found = store.flood_entries(&everything).await.unwrap().value;
        let shown = found[0].1.iter().map(|entry| (entry.at.to_string(), entry.run.to_string()));
        shown.map(|(at, run)| format!("{} {}", &at[5..16], &run[5..16])).collect::<Vec<_>>()
    };
    let log = "5,2,2016-12-01T00:00:00Z,,\n5,2,2016-12-03T00:00:00Z,,\n5,3,2016-12-03T01:00:00Z,,\n";
    operator.add(&[states(log)]).await;
    let (first, last) = ("12-01T00:00 12-01T00:00", "12-03T01:00 12-03T01:00");
    assert_eq!(runs().await[..3], [first, "12-03T00:00 12-03T00:00", last]);
    operator.add(&[states("5,2,2016-12-02T00:00:00Z,,\n")]).await;
    assert_eq!(runs().await[..4], [first, "12-02T00:00 12-01T00:00", "12-03T00:00 12-01T00:00", last]);
    assert_eq!(operator.count(WRONG_RUNS).await, 0);
}

#[rocket::async_test]
async fn an_import_returns_the_number_of_areas_whose_past_it_changes() {
    // Area 2 has no log yet; area 5 has one until 13:41 of the 19th, and area 30 one entry of the 13th.
    let newer = "2,3,2016-12-19T10:00:00Z,,\n2,2,2016-12-19T09:00:00Z,,\n5,4,2016-12-19T16:00:00Z,,\n";
    let older = "2,4,2016-12-19T09:30:00Z,,\n5,1,2016-12-19T16:00:00Z,,\n30,2,2016-12-14T00:00:00Z,,\n";
    for operator in Operator::each_with_fixture().await {
        for (rows, expected) in [(newer, 0), (newer, 0), (older, 2)] {
            let imported = operator.import_files(&[states(rows)]).await.unwrap();
            assert_eq!(imported.rewritten, expected, "{rows} by {:?}", operator.place);
        }
    }
}
