//! Hidden and erased reports.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use siaga::folder::{Dataset, FolderFile, FolderRules, FolderWriter};
use siaga::model::{Actor, Moderation, ModerationAction};
use siaga::stores::file::OpenFile;
use siaga::stores::{OpenStore, Replace, Store};
use tempfile::TempDir;

use crate::database::Database;
use crate::fixture::{self, block_on};
use crate::folders::{collection, contents, folder_of, saved};
use crate::in_file::{export, import};
use crate::operator::Operator;
use crate::store_file::StoreFile;

/// Hides reports 2, 4 and 5, and erases 1, which has a card, 4, which has a post, and 6.
async fn moderate(store: &Arc<dyn Store>) {
    use ModerationAction::{Erase, Hide};

    let orders = [(2, Hide), (4, Hide), (5, Hide), (1, Erase), (4, Erase), (6, Erase)];
    for (report, action) in orders {
        let by = Actor { subject: "moderators".to_owned(), username: Some("Ibu Ani, \"A\"".to_owned()) };
        let (report, reason) = (report.try_into().unwrap(), "spam".to_owned());
        assert!(store.moderate(&Moderation { report, made_at: None, action, by, reason }).await.unwrap());
    }
    store.close().await;
}

/// Checks what an export has of the moderated fixture.
fn assert_moderated(folder: &Path) {
    let lines = |file: FolderFile| fs::read_to_string(folder.join(file.name())).unwrap().lines().count();
    let counts = [
        FolderFile::Reports,
        FolderFile::HiddenReports,
        FolderFile::ErasedReports,
        FolderFile::Cards,
        FolderFile::PartnerPosts,
        FolderFile::ModerationLog,
    ];
    // A feature file has two lines more than features, and a table one more than rows.
    assert_eq!(counts.map(lines), [3 + 2, 2 + 2, 3 + 1, 1 + 1, 1 + 1, 6 + 1]);
}

/// The fixture as it was exported before; and once more with the reports without their keys.
fn as_it_was() -> [TempDir; 2] {
    let all = saved(fixture::dataset());
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

#[test]
fn hidden_and_erased_reports_move_to_any_store_and_do_not_come_back() {
    block_on(async {
        let operator = Operator::with_fixture().await;
        moderate(&operator.store().await).await;
        let file = StoreFile::with_fixture().await;
        moderate(&OpenFile.open(&file.settings()).await.unwrap().store).await;
        let (first, second) = (operator.export().await, export(&file).await);
        assert_moderated(first.path());
        assert_eq!(contents(first.path()), contents(second.path()), "the two stores export the same");

        let new = Operator::of(Database::empty().await);
        new.import(first.path()).await.unwrap();
        assert_eq!(contents(new.export().await.path()), contents(first.path()));
        let new_file = StoreFile::none();
        import(&new_file, first.path(), Replace::Nothing).await.unwrap();
        assert_eq!(contents(export(&new_file).await.path()), contents(first.path()));
        let loaded =
            Dataset::load(first.path().to_str().unwrap(), &FolderRules::default(), fixture::now()).unwrap();
        let again = tempfile::tempdir().unwrap();
        loaded.save(&FolderWriter::create(again.path()).unwrap()).unwrap();
        assert_eq!(contents(again.path()), contents(first.path()), "the memory store has the same");

        for old in as_it_was() {
            for operator in [&operator, &new] {
                operator.import(old.path()).await.unwrap();
                assert_eq!(contents(operator.export().await.path()), contents(first.path()));
            }
            for file in [&file, &new_file] {
                import(file, old.path(), Replace::Nothing).await.unwrap();
                assert_eq!(contents(export(file).await.path()), contents(first.path()));
            }
        }
    });
}
