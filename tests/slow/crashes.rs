//! Crashes of the service and its database under load: acknowledged writes survive, and none is stored partially.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::eventually::{LONG, eventually_blocking, patiently};
use crate::fixture::block_on;
use crate::outcome::printed;
use crate::service_config::{ServiceConfig, add_areas, connect, file_with_areas, request_json};

const WRITERS: u64 = 16;
const ROUNDS: u64 = 20;
/// Limit for the recovery of the service.
const BACK: Duration = Duration::from_secs(2);

/// Acknowledged writes.
#[derive(Default)]
pub(crate) struct Acknowledged {
    /// The marks of flood states.
    marks: Mutex<Vec<String>>,
    posts: Mutex<Vec<i64>>,
    cards: Mutex<Vec<String>>,
}

impl Acknowledged {
    /// Waits for a number of further acknowledged writes.
    pub(crate) fn grow_by(&self, more: usize) {
        let expected = self.count() + more;
        eventually_blocking("more is acknowledged", LONG, || self.count(), |count| *count >= expected);
    }

    /// Waits under load, for a different time in each round.
    fn reach_moment(&self, round: u64) {
        self.grow_by(1);
        thread::sleep(Duration::from_millis(17 * round));
    }

    fn count(&self) -> usize {
        self.marks.lock().unwrap().len() + self.posts.lock().unwrap().len() + self.cards.lock().unwrap().len()
    }
}

/// A service on a database, without stale responses, which would hide an outage.
pub(crate) fn on(url: &str) -> ServiceConfig {
    ServiceConfig::in_database(url).with("SIAGA_LIMITS__TIMEOUT", "5s").with("SIAGA_LIMITS__STALE", "0")
}

/// Writes in all ways until stopped, and records acknowledged writes. Returns the statuses.
fn write(
    authority: &str,
    writer: u64,
    going: &AtomicBool,
    next: &AtomicU64,
    noted: &Acknowledged,
) -> Vec<u16> {
    let place = json!({ "lat": 0.5, "lng": 0.5 });
    let date = json!("2016-12-19T15:00:00Z");
    let mut statuses = Vec::new();
    let mut send = |method: &str, target: &str, body: Value| {
        let (status, response) = request_json(authority, method, target, &body)?;
        statuses.push(status);
        (status == 200).then_some(response)
    };
    while going.load(Ordering::Relaxed) {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let target = format!("/v1/floods/{}?username=mark-{number}", writer + 1);
        if send("PUT", &target, json!({ "state": 1 + number % 4 })).is_some() {
            noted.marks.lock().unwrap().push(format!("mark-{number}"));
        }
        let post = json!({ "post_id": number, "created_at": date, "partner_city": "bandung", "disaster_type": "flood",
                           "location": place });
        if send("POST", "/v1/feeds/partner", post).is_some() {
            noted.posts.lock().unwrap().push(number.cast_signed());
        }
        let holder = json!({ "username": "u", "network": "n", "language": "id" });
        let Some(card) = send("POST", "/v1/cards", holder) else { continue };
        let id = card["cardId"].as_str().unwrap();
        let report = json!({ "card_data": { "report_type": "wind" }, "created_at": date, "location": place });
        if send("PUT", &format!("/v1/cards/{id}"), report).is_some() {
            noted.cards.lock().unwrap().push(id.to_owned());
        }
    }
    statuses
}

/// Waits until a write succeeds.
fn writes_succeed(authority: &str, limit: Duration) {
    let status =
        || request_json(authority, "PUT", "/v1/floods/1", &json!({ "state": 1 })).map(|(status, _)| status);
    eventually_blocking("a write succeeds", limit, status, |status| *status == Some(200));
}

/// Stops writers, also when a test fails.
pub(crate) struct Stop<'a>(pub(crate) &'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// Runs the writers during an event; returns their statuses.
pub(crate) fn under_load(
    authority: &str,
    next: &AtomicU64,
    noted: &Acknowledged,
    happening: impl FnOnce(),
) -> Vec<u16> {
    let going = AtomicBool::new(true);
    thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let going = &going;
                scope.spawn(move || write(authority, writer, going, next, noted))
            })
            .collect();
        let stop = Stop(&going);
        happening();
        drop(stop);
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    })
}

/// Two columns of an exported file.
fn rows(folder: &Path, file: &str, columns: [&str; 2]) -> Vec<[String; 2]> {
    let mut reader = csv::Reader::from_path(folder.join(file)).unwrap();
    let names = reader.headers().unwrap().clone();
    let at = columns.map(|column| names.iter().position(|name| name == column).unwrap());
    reader.records().map(|row| row.unwrap()).map(|row| at.map(|at| row[at].to_owned())).collect()
}

/// Asserts by an export that acknowledged writes are complete, and none is partial.
fn check(config: &ServiceConfig, noted: &Acknowledged) {
    let folder = tempfile::tempdir().unwrap();
    let exported = folder.path().join("exported");
    printed(&config.siaga(&["export", exported.to_str().unwrap()]));
    let log = rows(&exported, "flood_states.csv", ["username", "area_id"]);
    let posts = rows(&exported, "partner_posts.csv", ["post_id", "pkey"]);
    let mut cards = rows(&exported, "cards.csv", ["card_id", "report"]);
    cards.retain(|[_, report]| !report.is_empty());
    let reports: Value =
        serde_json::from_slice(&fs::read(exported.join("reports.geojson")).unwrap()).unwrap();
    assert_eq!(reports["features"].as_array().unwrap().len(), posts.len() + cards.len(), "reports by half");
    let sent = noted.posts.lock().unwrap().iter().map(ToString::to_string).collect();
    for (case, acknowledged, stored) in [
        ("states", noted.marks.lock().unwrap().clone(), &log),
        ("cards", noted.cards.lock().unwrap().clone(), &cards),
        ("posts", sent, &posts),
    ] {
        let stored: BTreeSet<_> = stored.iter().map(|[name, _]| name).collect();
        let missing: Vec<_> = acknowledged.iter().filter(|name| !stored.contains(name)).collect();
        assert!(missing.is_empty(), "{case}: of {} acknowledged are missing {missing:?}", acknowledged.len());
    }
}

fn assert_nothing_lost_under_kills(config: &ServiceConfig, mut look: impl FnMut()) {
    let (next, noted) = (AtomicU64::new(0), Acknowledged::default());
    let mut service = config.start();
    for round in 0..ROUNDS {
        let authority = service.authority.clone();
        under_load(&authority, &next, &noted, || {
            noted.reach_moment(round);
            service.process.kill().unwrap();
        });
        look();
        service = config.start();
        check(config, &noted);
    }
}

#[test]
fn nothing_acknowledged_is_lost_when_a_service_on_a_database_is_killed_under_load() {
    let cluster = Cluster::new();
    add_areas(&cluster.url());
    assert_nothing_lost_under_kills(&on(&cluster.url()), || ());
}

/// The epoch and the changes of a file; its surplus of flood revisions over changes, each of which has a mark, and of
/// report revisions over reports; and the number of unused report keys.
async fn revisions(path: &Path) -> (i64, i64, i64, i64, i64) {
    const GROWN: &str = "
        SELECT epoch, changes, floods - (SELECT count(DISTINCT username) FROM flood_states),
            reports - (SELECT count(*) FROM reports),
            (SELECT coalesce(max(pkey), 0) - count(*) FROM reports) FROM counts";
    sqlx::query_as(GROWN).fetch_one(&mut connect(path).await).await.unwrap()
}

#[test]
fn nothing_acknowledged_is_lost_when_a_service_on_a_file_is_killed_under_load_and_revisions_go_on() {
    let file = file_with_areas();
    let path = file.path();
    let (epoch, mut changes, ..) = block_on(revisions(&path));
    assert_nothing_lost_under_kills(&ServiceConfig::in_file(&path), || {
        let (epoch_now, changes_now, floods, reports, gaps) = block_on(revisions(&path));
        assert!(
            epoch_now == epoch && changes_now > changes,
            "{epoch_now} {changes_now} after {epoch} {changes}"
        );
        assert_eq!((floods, reports, gaps), (1, 1, 0), "each is one change");
        changes = changes_now;
    });
}

#[test]
fn when_postgres_crashes_under_load_requests_are_503_nothing_acknowledged_is_lost_and_nothing_else_is_logged()
{
    let cluster = Cluster::new();
    let (next, noted) = (AtomicU64::new(0), Acknowledged::default());
    add_areas(&cluster.url());
    let config = on(&cluster.url());
    let service = config.start();
    for round in 0..ROUNDS {
        let statuses = under_load(&service.authority, &next, &noted, || {
            noted.reach_moment(round);
            cluster.stop("immediate");
            let begin_time = Instant::now();
            let away = request_json(&service.authority, "GET", "/v1/floods/states", &Value::Null);
            assert!(matches!(away, Some((503, _))), "{away:?}");
            assert!(begin_time.elapsed() < patiently(Duration::from_secs(6)), "{:?}", begin_time.elapsed());
            cluster.start();
            // The service recovers by itself.
            writes_succeed(&service.authority, BACK);
        });
        assert!(statuses.iter().all(|status| [200, 503].contains(status)), "{statuses:?}");
        check(&config, &noted);
    }
    const OF_THE_OUTAGE: [&str; 6] = [
        "status=503",
        "the database is",
        "before_acquire",
        "on-release",
        "the store cannot be reached",
        "the changes cannot be read",
    ];
    for line in service.kill().lines().filter(|line| line.contains("rror")) {
        assert!(OF_THE_OUTAGE.iter().any(|part| line.contains(part)), "{line}");
    }
}
