//! A write-ahead log truncated as by a power cut: the file has the changes before the cut, each complete.

use std::fs;
use std::path::Path;

use siaga::model::bodies::{GaugeReadings, PartnerReport, SettingsUpdate};
use siaga::model::{Actor, AreaLimit, DisasterType};
use siaga::stores::file::OpenFile;
use siaga::stores::{OpenStore, SetFloodState, Store};
use sqlx::{AssertSqlSafe, Connection};

use crate::fixture::{block_on, content, id, place, reading, state};
use crate::service_config::connect;
use crate::store_file::StoreFile;

const CHANGES: i64 = 24;
/// `SQLite`'s log: a header, then pages, each with a header of its own (<https://www.sqlite.org/fileformat2.html#walformat>).
const LOG_HEADER: u64 = 32;
const PAGE: u64 = 24 + 4096;

/// Writes one row, a few rows, or many pages.
async fn change(store: &dyn Store, number: i64) {
    let place = place(0.5, 0.5);
    match number % 3 {
        0 => {
            let by = Actor { subject: "test".to_owned(), username: None };
            let write =
                SetFloodState { area: id(1), state: Some(state(2)), by, limit: AreaLimit::Everywhere };
            drop(store.set_flood_state(write).await.unwrap());
        }
        1 => {
            let content = content(DisasterType::Flood, 0, place);
            let report = PartnerReport { post_id: 1_000 + number, content };
            store.receive_partner_report(report).await.unwrap();
        }
        _ => {
            let observations =
                (0..400).map(|minutes| reading(minutes + number.cast_unsigned(), 1.5).into()).collect();
            let (id, name) = (format!("NEW{number}"), "new".to_owned());
            store
                .store_gauge(GaugeReadings {
                    id,
                    name,
                    location: place,
                    settings: SettingsUpdate::default(),
                    observations,
                })
                .await
                .unwrap();
        }
    }
}

/// Everything in a file, as text.
async fn dump(path: &Path) -> String {
    const COLUMNS: &str = "
        SELECT 'SELECT group_concat(' || group_concat('quote(' || column.name || ')', '||'',''||') || ', x''0a'') FROM '
               || tables.name
        FROM sqlite_master AS tables, pragma_table_info(tables.name) AS column
        WHERE tables.type = 'table' GROUP BY tables.name ORDER BY tables.name";
    let mut connection = connect(path).await;
    let whole: String =
        sqlx::query_scalar("PRAGMA integrity_check").fetch_one(&mut connection).await.unwrap();
    assert_eq!(whole, "ok");
    let queries: Vec<String> = sqlx::query_scalar(COLUMNS).fetch_all(&mut connection).await.unwrap();
    let mut all = String::new();
    for query in queries {
        let rows: Option<String> =
            sqlx::query_scalar(AssertSqlSafe(query)).fetch_one(&mut connection).await.unwrap();
        all.push_str(&rows.unwrap_or_default());
        all.push('\n');
    }
    // The next file may have the same name.
    connection.close().await.unwrap();
    all
}

#[test]
fn a_truncated_log_keeps_the_changes_before_the_cut() {
    block_on(async {
        let file = StoreFile::with_fixture().await;
        let path = file.path();
        let log = path.with_extension("db-wal");
        let store = OpenFile.open(&file.settings()).await.unwrap().store;
        let length = || fs::metadata(&log).map_or(0, |log| log.len());
        let mut expected = vec![(length(), dump(&path).await)];
        for number in 0..CHANGES {
            change(&*store, number).await;
            expected.push((length(), dump(&path).await));
        }
        assert!(expected.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 != pair[1].1));
        let (data, whole) = (fs::read(&path).unwrap(), fs::read(&log).unwrap());
        let pages = (whole.len() as u64 - LOG_HEADER) / PAGE;
        assert!(pages > CHANGES.cast_unsigned() * 2, "{pages}");
        let cut = tempfile::tempdir().unwrap();
        let target = cut.path().join("siaga.db");
        for page in 0..=pages {
            let end = LOG_HEADER + page * PAGE;
            // Between two pages, and within one.
            for cut_at in [end, end + 12, end + PAGE / 2] {
                for suffix in ["-wal", "-shm"] {
                    let _ = fs::remove_file(target.with_extension(format!("db{suffix}")));
                }
                fs::write(&target, &data).unwrap();
                let left = usize::try_from(cut_at).unwrap().min(whole.len());
                fs::write(target.with_extension("db-wal"), &whole[..left]).unwrap();
                let (_, before) = expected.iter().rev().find(|(length, _)| *length <= left as u64).unwrap();
                assert!(dump(&target).await == *before, "cut at {cut_at} of {}", whole.len());
            }
        }
        store.close().await;
    });
}
