//! Images in processing while other sessions lock or change their rows.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use rocket::tokio::{join, time};
use siaga::model::Upload;
use siaga::stores::postgres::OpenPostgres;
use siaga::stores::{OpenStore, Store, StoreError};
use sqlx::{Connection, Executor, PgConnection};

use crate::eventually::{LONG, eventually};
use crate::fixture::now;
use crate::postgres::Database;

const URL: &str = "http://example.org/used-card.jpg";
const LEASE: Duration = Duration::from_mins(2);

/// A store with a received upload of `used-card` (report 1), and a separate connection to its database.
async fn with_received() -> (Database, Arc<dyn Store>, Upload, PgConnection) {
    let database = Database::with_fixture().await;
    let store = OpenPostgres.open(&database.settings()).await.unwrap().store;
    let upload = store.expect_image(&"used-card".parse().unwrap(), now()).await.unwrap();
    assert!(store.receive_upload(&upload, "a").await.unwrap());
    let other = PgConnection::connect(&database.url()).await.unwrap();
    (database, store, upload, other)
}

async fn image(store: &dyn Store) -> Option<String> {
    let report = store.report(1.try_into().unwrap()).await.unwrap().value;
    report.content.image_url.clone().map(Into::into)
}

async fn moment(connection: &mut PgConnection) -> DateTime<Utc> {
    sqlx::query_scalar("SELECT clock_timestamp()").fetch_one(connection).await.unwrap()
}

/// Waits until the store has sent a statement about images after a moment.
async fn until_queried(database: &Database, moment: DateTime<Utc>) {
    let mut watching = PgConnection::connect(&database.url()).await.unwrap();
    let queries = async || {
        let sql = "
            SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND application_name = 'siaga' AND query LIKE '%images%'
              AND query_start > $1";
        sqlx::query_scalar::<_, i64>(sql).bind(moment).fetch_one(&mut watching).await.unwrap()
    };
    eventually("the store asks", LONG, queries, |queries| *queries > 0).await;
}

#[rocket::async_test]
async fn photo_addresses_stored_by_earlier_versions_become_names() {
    const MIGRATION: &str = include_str!("../../migrations/0011_photo_names.sql");
    let (_database, store, upload, mut other) = with_received().await;
    let card = "INSERT INTO cards (card_id, username, network, language) VALUES ('kartu é/%', '', '', '')";
    other.execute(card).await.unwrap();
    assert!(store.publish_image(&upload, "https://old.example/v1/images/used-card.jpg").await.unwrap());
    other.execute(MIGRATION).await.unwrap();
    assert_eq!(image(&*store).await.as_deref(), Some("used-card.jpg"));
    for (card, state, address, expected) in [
        ("used-card", "published", "used-card.jpg", "used-card.jpg"),
        ("used-card", "published", "http://a/used-card.jpg", "used-card.jpg"),
        ("used-card", "published", "http://a/an-used-card.jpg", "http://a/an-used-card.jpg"),
        ("used-card", "published", "theirs/used-card.jpg", "theirs/used-card.jpg"),
        ("used-card", "expected", "http://a/used-card.jpg", "http://a/used-card.jpg"),
        ("kartu é/%", "published", "http://a/kartu=20=C3=A9=2F=25.jpg", "kartu=20=C3=A9=2F=25.jpg"),
    ] {
        let object = (state == "published").then_some("a");
        let change = "WITH image AS (
                    INSERT INTO images (card_id, state, object, expected_until) VALUES ($1, $2, $3, now())
                    ON CONFLICT (card_id) DO UPDATE SET state = $2, object = $3
                )
                UPDATE reports SET card_id = $1, image_url = $4 WHERE pkey = 1";
        let change = sqlx::query(change).bind(card).bind(state).bind(object).bind(address);
        change.execute(&mut other).await.unwrap();
        other.execute(MIGRATION).await.unwrap();
        assert_eq!(image(&*store).await.as_deref(), Some(expected), "{card} {state} {address}");
    }
}

/// Calls a store while another session has changed the row of the image or report and commits a little later.
async fn call_during<T: Send + 'static>(
    change: &'static str,
    call: impl AsyncFnOnce(Arc<dyn Store>, Upload) -> T,
) -> T {
    let (database, store, upload, mut other) = with_received().await;
    other.execute("BEGIN").await.unwrap();
    other.execute(change).await.unwrap();
    let changed = moment(&mut other).await;
    let committing = async {
        until_queried(&database, changed).await;
        other.execute("COMMIT").await.unwrap();
    };
    join!(call(store, upload), committing).0
}

#[rocket::async_test]
async fn publishing_an_image_keeps_the_concurrent_changes_of_an_editor() {
    let publish = async |store: Arc<dyn Store>, upload: Upload| {
        let published = store.publish_image(&upload, URL).await.unwrap();
        assert_eq!(store.take_upload(LEASE).await.unwrap(), None, "the upload is done with");
        let expecting = store.expect_image(&upload.card, now()).await;
        assert!(matches!(expecting, Err(StoreError::Conflict { .. })), "{expecting:?}");
        let report = store.report(1.try_into().unwrap()).await.unwrap().value;
        (published, image(&*store).await, report.content.title.to_string())
    };
    for (edit, expected) in [
        ("UPDATE reports SET title = 'edited' WHERE pkey = 1", (true, Some(URL), "edited")),
        ("UPDATE reports SET image_url = 'theirs' WHERE pkey = 1", (false, Some("theirs"), "")),
    ] {
        let (published, image, title) = call_during(edit, publish).await;
        assert_eq!((published, image.as_deref(), &*title), expected, "{edit}");
    }
}

#[rocket::async_test]
async fn concurrent_changes_of_an_image_are_respected() {
    const REFUSED: &str = "UPDATE images SET state = 'expected', turn = 1, object = NULL, due_at = NULL";
    const PUBLISHED: &str = "UPDATE images SET state = 'published', due_at = NULL";
    const OTHER_OBJECT: &str = "UPDATE images SET object = 'b'";
    let receive = async |store: Arc<dyn Store>, upload: Upload| store.receive_upload(&upload, "a").await;
    for change in [REFUSED, PUBLISHED, OTHER_OBJECT] {
        assert!(!call_during(change, receive).await.unwrap(), "{change}");
    }
    let publish = async |store: Arc<dyn Store>, upload: Upload| {
        assert!(!store.publish_image(&upload, URL).await.unwrap());
        image(&*store).await
    };
    for change in [REFUSED, PUBLISHED] {
        assert_eq!(call_during(change, publish).await, None, "{change}");
    }
    let expect = async |store: Arc<dyn Store>, upload: Upload| store.expect_image(&upload.card, now()).await;
    assert_eq!(call_during(REFUSED, expect).await.map(|upload| upload.turn).ok(), Some(1));
    let expected = call_during(PUBLISHED, expect).await;
    assert!(matches!(expected, Err(StoreError::Conflict { .. })), "{expected:?}");
}

#[rocket::async_test]
async fn a_locked_upload_is_skipped() {
    let (_database, store, upload, mut other) = with_received().await;
    other.execute("BEGIN; SELECT FROM images FOR UPDATE").await.unwrap();
    let taking = time::timeout(Duration::from_secs(1), store.take_upload(LEASE));
    assert_eq!(taking.await.unwrap().unwrap(), None);
    other.execute("ROLLBACK").await.unwrap();
    assert_eq!(store.take_upload(LEASE).await.unwrap().map(|taken| taken.upload), Some(upload));
}

#[rocket::async_test]
async fn the_schema_rejects_an_unknown_state_of_an_image() {
    let (_database, _store, _upload, mut other) = with_received().await;
    for wrong in [
        "state = 'expected'",
        "state = 'published'",
        "state = 'refused'",
        "object = NULL",
        "due_at = NULL",
        "turn = -1",
        "state = 'expected', object = NULL, due_at = NULL, attempts = 1",
    ] {
        let update = sqlx::AssertSqlSafe(format!("UPDATE images SET {wrong}"));
        let error = other.execute(update).await.unwrap_err();
        assert!(error.to_string().contains("violates check constraint"), "{wrong}: {error}");
    }
}
