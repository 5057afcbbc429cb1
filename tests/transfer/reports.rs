//! Reports, cards and posts.

use serde_json::value::RawValue;
use serde_json::{Value, json};
use siaga::folder::FolderRules;
use siaga::model::bodies::CardRules;
use siaga::model::{AreaId, Disasters, ReportKey};
use siaga::stores::{ReceiveOutcome, StoreError};

use crate::fixture;
use crate::folders::{cards, posts, report, reports};
use crate::operations::{KEYS, card_id, post, receive};
use crate::operator::Operator;

#[rocket::async_test]
async fn reports_imported_alone_are_tagged_with_the_areas_of_the_store() {
    let (operator, store) = Operator::live().await;
    let mut elsewhere = report(Some(22), 1, 0.5, 0.5);
    elsewhere["properties"]["tags"] = json!({ "instance_region_code": "ID-JB", "local_area_id": null });
    let features = [report(Some(20), 1, 3.5, 0.5), report(Some(21), 1, 6.5, 0.5), elsewhere];
    operator.add(&[reports(&features)]).await;
    for (key, region, area) in [(20, "ID-JB", Some(30)), (21, "ID-JB", None), (22, "ID-JB", None)] {
        let found = store.report(key.try_into().unwrap()).await.unwrap().value;
        assert_eq!(found.tags.instance_region_code.as_deref(), Some(region), "{key}");
        assert_eq!(found.tags.local_area_id.map(AreaId::number), area, "{key}");
    }
}

#[rocket::async_test]
async fn reports_without_a_key_get_new_numbers_once() {
    let operator = Operator::with_fixture().await;
    let twice = [report(None, 1, 0.5, 0.5), report(Some(20), 2, 0.5, 0.5), report(None, 1, 0.5, 0.5)];
    operator.add(&[reports(&twice)]).await;
    assert_eq!(
        operator.numbers(KEYS).await,
        [1, 2, 3, 4, 5, 6, 7, 8, 20, 21, 22],
        "after the highest of the file"
    );
    let before = operator.snapshot().await;
    operator.add(&[reports(&twice)]).await;
    assert_eq!(operator.snapshot().await, before, "nothing is added");
    let mut pictured = report(None, 1, 0.5, 0.5);
    pictured["properties"]["image_url"] = json!("http://example.org/2.jpg");
    let mut without_data = report(None, 1, 0.5, 0.5);
    without_data["properties"]["report_data"] = Value::Null;
    let mut training = report(None, 1, 0.5, 0.5);
    training["properties"]["is_training"] = json!(true);
    let third = twice[0].clone();
    for more in [[pictured, without_data, training], [third.clone(), third.clone(), third]] {
        for _ in 0..2 {
            operator.add(&[reports(&more)]).await;
        }
    }
    let added = "three that say something else, and a third one";
    assert_eq!(operator.numbers(KEYS).await[11..], [23, 24, 25, 26], "{added}");
    let store = operator.store().await;
    assert_eq!(receive(&*store, "fresh-card").await.unwrap().key.number(), 27);
    operator.add(&[reports(&[report(None, 3, 0.5, 0.5)])]).await;
    assert_eq!(operator.numbers(KEYS).await.last(), Some(&28), "after the highest of the store");
}

#[rocket::async_test]
async fn the_next_report_follows_the_highest_imported_key() {
    let (operator, store) = Operator::live().await;
    operator.add(&[reports(&[report(Some(1000), 1, 0.5, 0.5)]), cards("new-card,70,,,,,\n")]).await;
    assert_eq!(receive(&*store, "fresh-card").await.unwrap().key.number(), 1001);
    assert_eq!(receive(&*store, "new-card").await.unwrap().key.number(), 1002);
    let holder = fixture::cards()[0].holder.clone();
    assert_eq!(store.create_card(holder).await.unwrap().pkey, 71);
    operator.add(&[reports(&[report(Some(500), 1, 0.5, 0.5)]), cards("low-card,60,,,,,\n")]).await;
    assert_eq!(receive(&*store, "low-card").await.unwrap().key.number(), 1003, "a lower one changes nothing");
}

#[rocket::async_test]
async fn a_failed_import_uses_no_keys() {
    let (operator, store) = Operator::live().await;
    let highest = [report(Some(ReportKey::MAX), 1, 0.5, 0.5)];
    let files = [reports(&highest), cards(&format!("new-card,{},,,,,\nmy-card,5,,,,,99\n", ReportKey::MAX))];
    assert!(operator.import_files(&files).await.is_err());
    let files = [reports(&highest), posts("1,99\n")];
    assert!(operator.import_files(&files).await.is_err());
    assert_eq!(receive(&*store, "fresh-card").await.unwrap().key.number(), 9);
    assert_eq!(store.create_card(fixture::cards()[0].holder.clone()).await.unwrap().pkey, 3);
}

#[rocket::async_test]
async fn imported_cards_and_posts_behave_like_native_ones() {
    let (operator, store) = Operator::live().await;
    let files = [
        reports(&[report(Some(20), 1, 0.5, 0.5), report(Some(21), 1, 0.5, 0.5)]),
        cards("new-card-1,10,\"Ibu, O\",telegram,id,\"{\"\"a\"\": 1.0}\",20\nnew-card-2,11,,,,,\n"),
        posts("-5,21\n"),
    ];
    operator.add(&files).await;
    let card = store.card(&card_id("new-card-1")).await.unwrap();
    assert_eq!((card.pkey, card.report.map(ReportKey::number)), (10, Some(20)));
    assert_eq!(card.holder.network_data.as_deref().map(RawValue::get), Some("{\"a\": 1.0}"));
    assert!(matches!(receive(&*store, "new-card-1").await, Err(StoreError::Conflict { .. })));
    let received = receive(&*store, "new-card-2").await.unwrap();
    assert!(matches!(receive(&*store, "new-card-2").await, Err(StoreError::Conflict { .. })));
    assert_eq!(store.receive_partner_report(post(-5, 0.5, 0.5)).await.unwrap(), ReceiveOutcome::Existing);
    assert_eq!(store.receive_partner_report(post(-6, 0.5, 0.5)).await.unwrap(), ReceiveOutcome::Created);

    // Cards used since then stay used.
    let before = operator.snapshot().await;
    operator.add(&files).await;
    assert_eq!(operator.snapshot().await, before);
    assert_eq!(store.card(&card_id("new-card-2")).await.unwrap().report, Some(received.key));
}

#[rocket::async_test]
async fn cards_and_disasters_of_another_installation_are_imported_when_the_configuration_allows_them() {
    let mut typhoon = report(Some(30), 1, 0.5, 0.5);
    typhoon["properties"]["disaster_type"] = json!("typhoon");
    let uuid = "0f6a1c1e-3f0d-4c5e-9a61-5b8f2f0c7d11";
    let files = [reports(&[typhoon]), cards(&format!("{uuid},50,a,b,id,,30\n"))];
    let mut operator = Operator::with_fixture().await;
    let refused = operator.import_files(&files).await.unwrap_err();
    assert!(refused.contains("not \"typhoon\"; siaga.disasters.also adds types"), "{refused}");
    let disasters = Disasters { also: vec!["typhoon".parse().unwrap()] };
    let mut rules = CardRules::default();
    operator.settings.rules = FolderRules::new(&disasters, &rules);
    let refused = operator.import_files(&files).await.unwrap_err();
    assert!(refused.contains("7 to 14 characters"), "{refused}");
    rules.max_id_length = serde_json::from_value(json!(36)).unwrap();
    operator.settings.rules = FolderRules::new(&disasters, &rules);
    operator.add(&files).await;
    let store = operator.store().await;
    assert_eq!(store.card(&card_id(uuid)).await.unwrap().report.map(ReportKey::number), Some(30));
    let found = store.report(30.try_into().unwrap()).await.unwrap().value;
    assert_eq!(found.content.disaster_type.name(), "typhoon");
}
