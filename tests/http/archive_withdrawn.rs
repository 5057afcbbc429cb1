//! The public archive under moderation and store failures: it never contains a hidden report.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use rocket::http::{Method, Status};
use rocket::local::blocking::Client;
use rocket::tokio::time;
use serde_json::json;
use siaga::model::alerts::LogEntry;
use siaga::model::{
    Actor, AreaId, AreaLimit, Moderation, ModerationAction, ModerationEntry, ReportLayer, Timestamp,
};
use siaga::stores::{
    Decorator, EntryQuery, ModerationQuery, ReportQuery, Store, StoreError, Versioned, Window,
};
use tempfile::TempDir;

use super::archive::{Archived, DESCRIPTION, await_file, server};
use crate::suite::eventually::{LONG, eventually_blocking};
use crate::suite::support::{ADMIN_KEY, Siaga, figment, key};
use crate::suite::wrapped::Wrapped;

const REPORTS: &str = "/archive/2016-12/reports.csv";
/// Limit until a server sees the moderation of another one.
const SOON: Duration = Duration::from_secs(5);

/// Faults to inject into the store of a server.
#[derive(Clone, Debug, Default)]
struct Faults {
    /// The database is unreachable.
    is_away: Arc<AtomicBool>,
    /// The reports of the first month cannot be read.
    has_bad_report: bool,
    /// Reading the last day of the first month blocks.
    holds: Arc<AtomicBool>,
    is_held: Arc<AtomicBool>,
}

type StoreResult<T> = Result<T, StoreError>;

#[async_trait]
impl Decorator for Wrapped<Faults> {
    fn inner(&self) -> &dyn Store {
        &*self.inner
    }

    async fn moderation_log(&self, query: ModerationQuery) -> StoreResult<Versioned<Vec<ModerationEntry>>> {
        if self.by.is_away.load(Ordering::SeqCst) {
            let retry_after = Duration::from_secs(1);
            return Err(StoreError::Unavailable { retry_after, source: "refused".into() });
        }
        self.inner.moderation_log(query).await
    }

    async fn flood_entries(
        &self,
        query: &EntryQuery,
    ) -> StoreResult<Versioned<Vec<(AreaId, Vec<LogEntry>)>>> {
        assert!(query.from > Timestamp::EPOCH, "the log is never read as a whole");
        self.inner.flood_entries(query).await
    }

    async fn reports(&self, query: &ReportQuery) -> StoreResult<Versioned<ReportLayer>> {
        let is_in = |month| matches!(query.window, Window::Within(item) if item.start().to_string().starts_with(month));
        if self.by.has_bad_report && is_in("2016-12") {
            return Err(StoreError::Backend { source: "a report cannot be read".into() });
        }
        while is_in("2016-12-31") && self.by.holds.load(Ordering::SeqCst) {
            self.by.is_held.store(true, Ordering::SeqCst);
            time::sleep(Duration::from_millis(10)).await;
        }
        self.inner.reports(query).await
    }
}

/// A service whose months up to January 2017 are finished, and a server with an archive that reads its store with faults.
fn faulty(faults: &Faults) -> (Siaga, TempDir, Client) {
    let (siaga, folder) = (Siaga::start(), TempDir::new().unwrap());
    siaga.clock.set(Timestamp::parse("2017-02-02T00:00:00Z").unwrap());
    let server = faulty_server(&siaga, &folder, faults);
    (siaga, folder, server)
}

fn faulty_server(siaga: &Siaga, folder: &TempDir, faults: &Faults) -> Client {
    siaga.another_server_with(figment().merge(("siaga.archive.folder", folder.path())), faults.clone())
}

fn moderate(server: &Client, hidden: bool) {
    let moderation = json!({ "hidden": hidden, "reason": "shows a name" }).to_string();
    let request = server.put("/v1/reports/7/visibility").header(key(ADMIN_KEY)).body(moderation);
    assert_eq!(request.dispatch().status(), Status::Ok);
}

/// Hides and shows the last report more often than a page of the log has entries.
fn moderate_last_often(siaga: &Siaga) {
    let store = siaga.client.rocket().state::<Arc<dyn Store>>().unwrap();
    siaga.wait(async {
        let report = store.reports_from(None, 1).await.unwrap()[0].key;
        for number in 0..1_002 {
            let action = if number % 2 == 0 { ModerationAction::Hide } else { ModerationAction::Show };
            let by = Actor { subject: "test".to_owned(), username: None };
            let moderation = Moderation {
                report,
                made_at: None,
                action,
                by,
                limit: AreaLimit::Everywhere,
                reason: "test".to_owned(),
            };
            assert!(store.moderate(&moderation).await.unwrap());
        }
    });
}

fn status(server: &Client, address: &str) -> Status {
    server.get(address.to_owned()).dispatch().status()
}

/// Whether the archive has the moderated report; `None` without its month.
fn has_report(server: &Client) -> Option<bool> {
    let response = server.get(REPORTS).dispatch();
    (response.status() == Status::Ok).then(|| response.into_string().unwrap().contains("\n7,"))
}

#[test]
fn hiding_or_showing_a_report_withdraws_its_month_until_it_is_written_again() {
    let mut archived = Archived::start(&[]);
    for hidden in [true, false] {
        assert_eq!(has_report(&archived.server), Some(hidden));
        moderate(&archived.server, hidden);
        for file in ["datapackage.json", "reports.csv", "reports.geojson", "flood_changes.csv"] {
            assert_eq!(
                status(&archived.server, &format!("/archive/2016-12/{file}")),
                Status::NotFound,
                "{file}"
            );
        }
        let list = archived.text("/archive");
        assert!(!list.contains("2016-12"), "{list}");
        assert!(!archived.folder.path().join("2016-12").exists());
        archived = archived.restart();
        await_file(&archived.server, DESCRIPTION);
        assert_eq!(has_report(&archived.server), Some(!hidden));
    }
}

#[test]
fn hiding_a_report_on_another_server_withdraws_its_month_within_seconds_or_at_startup() {
    let mut archived = Archived::start(&[]);
    moderate(&archived.siaga.client, true);
    let look = || has_report(&archived.server);
    eventually_blocking("it is withdrawn", SOON, look, |found| *found != Some(true));
    moderate(&archived.siaga.client, false);
    archived = archived.restart();
    await_file(&archived.server, DESCRIPTION);

    let Archived { siaga, folder, server: old } = archived;
    drop(old);
    moderate(&siaga.client, true);
    let restarted = server(&siaga, &folder, &[]);
    assert_ne!(has_report(&restarted), Some(true));
}

#[test]
fn erasing_an_old_report_withdraws_its_month() {
    let archived = Archived::start(&[]);
    let old = server(&archived.siaga, &archived.folder, &[("siaga.reports.keep", json!("24h"))]);
    let look = || has_report(&old);
    assert_ne!(look(), Some(true), "the old file is not served");
    eventually_blocking("the month is written without it", LONG, look, |found| *found == Some(false));
}

#[test]
fn many_moderated_reports_withdraw_only_their_own_month() {
    let archived = Archived::start(&[]);
    let siaga = &archived.siaga;
    let report = json!({ "card_data": { "report_type": "wind" }, "created_at": siaga.now().to_string(),
                         "location": { "lat": 0.5, "lng": 0.5 } });
    let card = format!("/v1/cards/{}", siaga.card());
    assert_eq!(siaga.request(Method::Put, &card, report.to_string()).status(), Status::Ok);
    let before = archived.text(DESCRIPTION);
    moderate_last_often(siaga);
    assert_eq!(archived.text(DESCRIPTION), before);
    siaga.pass(Duration::from_mins(1));
    let archived = archived.restart();
    assert_eq!(archived.text(DESCRIPTION), before, "it was not written again");

    let Archived { siaga, folder, server: old } = archived;
    drop(old);
    moderate(&siaga.client, true);
    moderate_last_often(&siaga);
    assert_ne!(
        has_report(&server(&siaga, &folder, &[])),
        Some(true),
        "the entry is not among the last 1,000"
    );
}

#[test]
fn a_month_from_before_a_backup_was_restored_is_written_again() {
    let archived = Archived::start(&[]);
    moderate(&archived.server, true);
    moderate(&archived.server, false);
    let archived = archived.restart();
    await_file(&archived.server, DESCRIPTION);
    let Archived { folder, server: old, .. } = archived;
    drop(old);

    // Its moderation log is empty.
    let siaga = Siaga::start();
    siaga.clock.set(Timestamp::parse("2017-01-02T00:00:00Z").unwrap());
    let restored = server(&siaga, &folder, &[]);
    await_file(&restored, DESCRIPTION);
    assert_eq!(has_report(&restored), Some(true));
    moderate(&restored, true);
    assert_eq!(has_report(&restored), None);
}

#[test]
fn folders_left_by_a_crash_do_not_block_writing() {
    let archived = Archived::start(&[]);
    for left in [".2016-12.old", ".2016-12.part"] {
        fs::create_dir(archived.folder.path().join(left)).unwrap();
        fs::write(archived.folder.path().join(left).join("reports.csv"), "pkey\n7,").unwrap();
    }
    moderate(&archived.siaga.client, true);
    let archived = archived.restart();
    let look = || has_report(&archived.server);
    eventually_blocking("the month is written", LONG, look, |found| *found == Some(false));
    let entries = fs::read_dir(archived.folder.path()).unwrap();
    let left = entries.filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with('.'));
    assert_eq!(left.count(), 0);
}

#[test]
fn a_month_that_cannot_be_written_does_not_block_the_others() {
    let (_siaga, folder, server) = faulty(&Faults { has_bad_report: true, ..Faults::default() });
    await_file(&server, "/archive/2017-01/reports.csv");
    assert_eq!(status(&server, DESCRIPTION), Status::NotFound);
    assert!(!folder.path().join("2016-12").exists());
}

#[test]
fn a_month_is_not_published_if_a_report_is_hidden_while_it_is_written() {
    let faults = Faults::default();
    faults.holds.store(true, Ordering::SeqCst);
    let (_siaga, folder, server) = faulty(&faults);
    let is_held = || faults.is_held.load(Ordering::SeqCst);
    eventually_blocking("the report was read", LONG, is_held, |is_held| *is_held);
    moderate(&server, true);
    faults.holds.store(false, Ordering::SeqCst);
    await_file(&server, "/archive/2017-01/reports.csv");
    assert_eq!(has_report(&server), None);
    assert!(!folder.path().join("2016-12").exists());
}

#[test]
fn downloads_work_without_the_database_unless_the_hidden_reports_are_unknown() {
    let faults = Faults::default();
    let (siaga, folder, server) = faulty(&faults);
    await_file(&server, "/archive/2017-01/reports.csv");
    faults.is_away.store(true, Ordering::SeqCst);
    for address in [REPORTS, DESCRIPTION, "/archive/areas.geojson", "/archive"] {
        assert_eq!(status(&server, address), Status::Ok, "{address}");
    }
    let started = faulty_server(&siaga, &folder, &faults);
    for address in [REPORTS, DESCRIPTION, "/archive"] {
        assert_eq!(status(&started, address), Status::ServiceUnavailable, "{address}");
    }
    assert_eq!(status(&started, "/archive/areas.geojson"), Status::Ok);
}
