//! Imports that remove areas.

use siaga::folder::FolderFile;
use siaga::model::{AreaLimit, AreaRule, BatchItem, BatchOperation, BatchOutcome, BatchRequest, Condition};
use siaga::stores::{RemovedRows, Replace, SetFloodState, StoreError};

use crate::fixture::id;
use crate::folders::{area, collection, folder_of, reports};
use crate::operations::{post, state_codes, write};
use crate::operator::Operator;

const AREAS: &str = "SELECT area_id FROM areas ORDER BY area_id";

#[rocket::async_test]
async fn areas_in_the_log_are_removed_only_with_it() {
    let operator = Operator::with_fixture().await;
    let before = operator.snapshot().await;
    // Areas 1 and 5, and one that covers area 2; the others of the fixture are not in it.
    let new = [area(1, 0.0, 0.0), area(5, 2.0, 0.0), area(77, 1.0, 0.0)];
    let folder = folder_of(&[(FolderFile::Areas, collection(&new))]);
    let error = operator.import_replacing(folder.path(), Replace::Areas).await.unwrap_err();
    assert!(error.contains("are in the log of flood states: ") && error.contains("30 ("), "{error}");
    assert!(error.contains("--replace areas-and-log") && error.lines().count() == 1, "{error}");
    assert!(operator.snapshot().await == before, "nothing was imported");
    let store = operator.store().await;
    let imported = operator.import_replacing(folder.path(), Replace::AreasAndLog).await.unwrap();
    assert_eq!(operator.numbers(AREAS).await, [1, 5, 77]);
    assert_eq!(imported.removed.areas, 3);
    let left = operator.count("SELECT count(*) FROM flood_changes WHERE area_id NOT IN (1, 5, 77)").await;
    assert_eq!((left, imported.removed.changes > 0), (0, true));
    // A running server shows it at once.
    assert_eq!(state_codes(&*store).await, [(5, 2)]);
    assert!(store.set_flood_state(write(30, Some(1))).await.is_err());
    store.receive_partner_report(post(1, 1.5, 0.5)).await.unwrap();
    let located = operator.numbers("SELECT local_area_id FROM reports WHERE post_id = 1").await;
    assert_eq!(located, [77]);
}

#[rocket::async_test]
async fn an_import_moves_an_area_out_of_a_limit_at_once() {
    let limit = AreaLimit::Within(
        [AreaRule::new([vec![], vec![], vec![], vec!["Grogol".to_owned()]]).unwrap()].into(),
    );
    for operator in Operator::each_with_fixture().await {
        let store = operator.store().await;
        let set = async |area| {
            store.set_flood_state(SetFloodState { limit: limit.clone(), ..write(area, Some(1)) }).await
        };
        set(1).await.unwrap();
        let item = |area| BatchItem { area: id(area), state: None, after: Condition::Any };
        let batch = BatchRequest {
            changes: BatchOperation::Set([1, 5].map(item).to_vec()),
            by: write(1, None).by,
            limit: limit.clone(),
            note: None,
            request: None,
            preview: false,
        };
        let BatchOutcome::Done { batch: stored, .. } = store.change_floods(batch.clone()).await.unwrap()
        else {
            panic!("the batch is inside")
        };
        // Its larger area is NEW.
        operator.add(&[(FolderFile::Areas, collection(&[area(1, 0.0, 0.0)]))]).await;
        let refused = set(1).await.unwrap_err();
        assert!(matches!(&refused, StoreError::OutsideLimit { areas } if *areas == [id(1)]), "{refused:?}");
        set(5).await.unwrap();
        let undo = BatchRequest { changes: BatchOperation::Undo(stored.number), ..batch };
        let outcome = store.change_floods(undo).await.unwrap();
        assert_eq!(outcome, BatchOutcome::OutsideLimit(vec![id(1)]));
        store.close().await;
    }
}

#[rocket::async_test]
async fn areas_without_a_log_are_removed_and_their_contents_relocated() {
    let operator = Operator::with_fixture().await;
    let log = "WITH states AS (DELETE FROM flood_states) DELETE FROM flood_changes RETURNING area_id";
    operator.numbers(log).await;
    // In place of area 1.
    let folder = folder_of(&[(FolderFile::Areas, collection(&[area(77, 0.0, 0.0)]))]);
    let tagged = "SELECT (SELECT count(*) FROM reports WHERE local_area_id IS NOT NULL)
                       + (SELECT count(*) FROM infrastructure WHERE local_area_id IS NOT NULL)";
    let before = operator.count(tagged).await;
    let of_one = operator.count("SELECT count(*) FROM reports WHERE local_area_id = 1").await;
    let gone = "SELECT (SELECT count(*) FROM reports WHERE local_area_id NOT IN (SELECT area_id FROM areas))
                     + (SELECT count(*) FROM infrastructure WHERE local_area_id NOT IN (SELECT area_id FROM areas))";
    let imported = operator.import_replacing(folder.path(), Replace::Areas).await.unwrap();
    assert_eq!(imported.removed, RemovedRows { areas: 5, changes: 0 });
    assert_eq!(imported.relocated, before.cast_unsigned());
    let of_new = operator.count("SELECT count(*) FROM reports WHERE local_area_id = 77").await;
    assert_eq!((operator.count(gone).await, of_new), (0, of_one));
    assert!(of_one > 0 && before > of_one);
    let again = operator.import_replacing(folder.path(), Replace::Areas).await.unwrap();
    assert_eq!(again.removed, RemovedRows::default());
}

#[rocket::async_test]
async fn a_folder_without_areas_removes_no_areas() {
    let operator = Operator::with_fixture().await;
    for files in [vec![reports(&[])], vec![(FolderFile::Areas, collection(&[""; 0]))]] {
        let folder = folder_of(&files);
        let error = operator.import_replacing(folder.path(), Replace::AreasAndLog).await.unwrap_err();
        assert!(error.starts_with("areas.geojson is missing or has no area"), "{error}");
    }
    assert_eq!(operator.numbers(AREAS).await.len(), 5);
}
