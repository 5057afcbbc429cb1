//! Crashes of a service on the store in one file: acknowledged changes are there, and no change is there by half.

use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::thread;
use std::time::Duration;

use serde_json::json;
use siaga::folder::{Folder, FolderFile};
use siaga::stores::file::OpenFile;
use siaga::stores::{OpenStore, Replace};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, SqliteConnection};

use crate::crashes::{Acknowledged, keys, under_load};
use crate::fixture::block_on;
use crate::running::Running;
use crate::store_file::StoreFile;

const ROUNDS: u64 = 40;
/// The last line that is printed at startup.
const LAST: &str = "floodedRWsSummary";

/// Starts a service on a file.
pub(crate) fn start(path: &Path) -> Running {
    let (keys, path) = (keys(), path.to_str().unwrap());
    let variables = [
        ("SIAGA_STORE", "file"),
        ("SIAGA_FILE__PATH", path),
        ("SIAGA_AUTH__API_KEYS", &*keys),
        ("SIAGA_IMAGES__SIGNING_KEY", "a key for uploads"),
        ("ROCKET_LOG_LEVEL", "critical"),
    ];
    Running::start(&variables, LAST)
}

/// Makes a file with the areas that the writers write to.
pub(crate) fn prepared() -> StoreFile {
    let file = StoreFile::none();
    let folder = tempfile::tempdir().unwrap();
    let ring = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]];
    let areas = (1..=100).map(|number| {
        let properties =
            json!({ "area_id": number, "area_name": "RW", "city": "jbd", "instance_region_code": "ID-JK" });
        let geometry = json!({ "type": "Polygon", "coordinates": [ring] });
        json!({ "type": "Feature", "properties": properties, "geometry": geometry })
    });
    let collection = json!({ "type": "FeatureCollection", "features": areas.collect::<Vec<_>>() });
    std::fs::write(folder.path().join(FolderFile::Areas.name()), collection.to_string()).unwrap();
    let folder = Folder::open(folder.path()).unwrap();
    block_on(async {
        let upkeep = OpenFile.upkeep().unwrap();
        upkeep.import(&file.settings(), &folder, Replace::Nothing).await.unwrap();
    });
    file
}

pub(crate) async fn connect(path: &Path) -> SqliteConnection {
    SqliteConnectOptions::new().filename(path).disable_statement_logging().connect().await.unwrap()
}

async fn count(connection: &mut SqliteConnection, sql: &'static str) -> i64 {
    sqlx::query_scalar(sql).fetch_one(connection).await.unwrap()
}

/// The identifiers and revisions that were given.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
struct Given {
    changes: i64,
    floods: i64,
    reports: i64,
    last_report: i64,
    last_card: i64,
}

/// Makes sure that all acknowledged changes are there, and none by half. Returns what was given so far.
async fn check(path: &Path, noted: &Acknowledged) -> (i64, Given) {
    let mut connection = connect(path).await;
    let marks = noted.marks.lock().unwrap().clone();
    let cards = noted.cards.lock().unwrap().clone();
    let posts = noted.posts.lock().unwrap().iter().map(ToString::to_string).collect();
    for (what, acknowledged, sql) in [
        ("states", marks, "SELECT username FROM flood_states"),
        ("cards", cards, "SELECT card_id FROM cards JOIN reports ON reports.pkey = cards.report"),
        ("posts", posts, "SELECT CAST(post_id AS TEXT) FROM partner_posts JOIN reports USING (pkey)"),
    ] {
        let stored: Vec<String> = sqlx::query_scalar(sql).fetch_all(&mut connection).await.unwrap();
        let stored: std::collections::HashSet<_> = stored.into_iter().collect();
        let missing: Vec<_> = acknowledged.iter().filter(|mark| !stored.contains(*mark)).collect();
        assert!(missing.is_empty(), "{what}: of {} acknowledged are missing {missing:?}", acknowledged.len());
    }
    let halves = "SELECT (SELECT count(*) FROM reports)
                       - (SELECT count(*) FROM cards JOIN reports ON reports.pkey = cards.report)
                       - (SELECT count(*) FROM partner_posts JOIN reports USING (pkey))";
    assert_eq!(count(&mut connection, halves).await, 0, "reports without their card or post");
    let gaps = "SELECT coalesce(max(pkey), 0) - count(*) FROM reports";
    assert_eq!(count(&mut connection, gaps).await, 0, "keys that no report has");
    let given = Given {
        changes: count(&mut connection, "SELECT changes FROM counts").await,
        floods: count(&mut connection, "SELECT floods FROM counts").await,
        reports: count(&mut connection, "SELECT reports FROM counts").await,
        last_report: count(&mut connection, "SELECT coalesce(max(pkey), 0) FROM reports").await,
        last_card: count(&mut connection, "SELECT coalesce(max(pkey), 0) FROM cards").await,
    };
    assert_eq!(given.floods, count(&mut connection, "SELECT count(*) FROM flood_states").await + 1);
    assert_eq!(given.reports, given.last_report + 1, "each report is one change");
    (count(&mut connection, "SELECT epoch FROM counts").await, given)
}

#[test]
fn nothing_acknowledged_is_lost_when_a_service_on_a_file_is_killed_under_load() {
    let file = prepared();
    let path = file.path();
    let (next, noted) = (AtomicU64::new(0), Acknowledged::default());
    let (epoch, mut before) = block_on(check(&path, &noted));
    for round in 0..ROUNDS {
        let service = start(&path);
        let authority = service.authority.clone();
        under_load(&authority, &next, &noted, || {
            noted.grow_by(1);
            // Another moment in each round.
            thread::sleep(Duration::from_millis(17 * round));
            service.kill();
        });
        let (epoch_after, after) = block_on(check(&path, &noted));
        assert_eq!(epoch_after, epoch, "revisions go on");
        assert!(after > before && after.floods >= before.floods && after.last_report >= before.last_report);
        before = after;
    }
}
