//! Hidden and erased reports.

use std::fs;
use std::sync::Arc;

use serde_json::json;
use siaga::folder::{Dataset, FolderFile, FolderRules};
use siaga::model::{Actor, AreaLimit, Moderation, ModerationAction};
use siaga::stores::Store;
use tempfile::TempDir;

use crate::fixture;
use crate::folders::{canonical_folder, collection, contents, folder_of};
use crate::operator::Operator;

/// Hides reports 2, 4 and 5, and erases 1, which has a card, 4, which has a post, and 6.
async fn moderate(store: &Arc<dyn Store>) {
    use ModerationAction::{Erase, Hide};

    let moderations = [(2, Hide), (4, Hide), (5, Hide), (1, Erase), (4, Erase), (6, Erase)];
    for (report, action) in moderations {
        let by = Actor { subject: "moderators".to_owned(), username: Some("Ibu Ani, \"A\"".to_owned()) };
        let (report, reason) = (report.try_into().unwrap(), "spam".to_owned());
        assert!(
            store
                .moderate(&Moderation {
                    report,
                    made_at: None,
                    action,
                    by,
                    limit: AreaLimit::Everywhere,
                    reason
                })
                .await
                .unwrap()
        );
    }
    store.close().await;
}

/// The exported fixture, and a copy whose reports have no keys.
fn as_it_was() -> [TempDir; 2] {
    let all = canonical_folder(fixture::dataset());
    let reports = fs::read_to_string(all.path().join(FolderFile::Reports.name())).unwrap();
    let mut reports: serde_json::Value = serde_json::from_str(&reports).unwrap();
    let features = reports["features"].as_array_mut().unwrap();
    for feature in features.iter_mut() {
        feature["properties"]["pkey"] = json!(null);
    }
    let keyless =
        folder_of(&[(FolderFile::Reports, collection(&[features[0].clone(), features[5].clone()]))]);
    [all, keyless]
}

#[rocket::async_test]
async fn hidden_and_erased_reports_move_to_any_store_and_do_not_come_back() {
    let [postgres, file] = Operator::each_with_fixture().await;
    for operator in [&postgres, &file] {
        moderate(&operator.store().await).await;
    }
    let exported = postgres.export().await;
    let expected = contents(exported.path());
    let count = |file: FolderFile| expected[file.name()].lines().count();
    let kinds = [
        FolderFile::Reports,
        FolderFile::HiddenReports,
        FolderFile::ErasedReports,
        FolderFile::Cards,
        FolderFile::PartnerPosts,
        FolderFile::ModerationLog,
    ];
    // A feature file has two lines more than features, and a table one more than rows.
    assert_eq!(kinds.map(count), [3 + 2, 2 + 2, 3 + 1, 1 + 1, 1 + 1, 6 + 1]);
    let [new, new_file] = Operator::each_empty().await;
    for operator in [&new, &new_file] {
        operator.import(exported.path()).await.unwrap();
    }
    for operator in [postgres, file, new, new_file] {
        assert_eq!(contents(operator.export().await.path()), expected);
        for old in as_it_was() {
            operator.import(old.path()).await.unwrap();
            assert_eq!(contents(operator.export().await.path()), expected);
        }
    }
    let path = exported.path().to_str().unwrap();
    let in_memory = Dataset::load(path, &FolderRules::default(), fixture::now()).unwrap();
    assert_eq!(contents(canonical_folder(in_memory).path()), expected, "the memory store has the same");
}
