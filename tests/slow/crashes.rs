//! Crashes under load, of the service and of its database: what was acknowledged is there, and nothing is there by half.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::eventually::{LONG, eventually_blocking, patiently};
use crate::fixture::block_on;
use crate::kept::{Kept, add_areas, ask, connect, file_with_areas};
use crate::outcome::printed;
use crate::running::Running;

const WRITERS: u64 = 16;
const ROUNDS: u64 = 20;
/// The areas that each order for many sets.
const ORDERED: RangeInclusive<u64> = 61..=100;
/// How soon the service is back with its database.
const BACK: Duration = Duration::from_secs(2);

/// What was acknowledged.
#[derive(Default)]
pub(crate) struct Acknowledged {
    /// The marks of state changes, and of orders for many areas.
    pub(crate) marks: Mutex<Vec<String>>,
    pub(crate) posts: Mutex<Vec<i64>>,
    pub(crate) cards: Mutex<Vec<String>>,
}

impl Acknowledged {
    /// Waits until so many more were acknowledged.
    pub(crate) fn grow_by(&self, more: usize) {
        let expected = self.count() + more;
        eventually_blocking("more is acknowledged", LONG, || self.count(), |count| *count >= expected);
    }

    /// Waits for a moment under load, another one in each round.
    fn reach_moment(&self, round: u64) {
        self.grow_by(1);
        thread::sleep(Duration::from_millis(17 * round));
    }

    pub(crate) fn count(&self) -> usize {
        self.marks.lock().unwrap().len() + self.posts.lock().unwrap().len() + self.cards.lock().unwrap().len()
    }
}

/// A service on the database of this address, whose last responses do not hide that the database is away.
pub(crate) fn on(url: &str) -> Kept {
    Kept::in_database(url).with("SIAGA_LIMITS__TIMEOUT", "5s").with("SIAGA_LIMITS__STALE", "0")
}

/// Writes in all ways there are until told to stop; what is acknowledged is noted. Answers the statuses seen.
fn write(
    authority: &str,
    writer: u64,
    going: &AtomicBool,
    next: &AtomicU64,
    noted: &Acknowledged,
) -> Vec<u16> {
    let place = json!({ "lat": 0.5, "lng": 0.5 });
    let made = json!("2016-12-19T15:00:00Z");
    let mut statuses = Vec::new();
    while going.load(Ordering::Relaxed) {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let mark = format!("mark-{number}");
        let target = format!("/v1/floods/{}?username={mark}", writer + 1);
        let state = json!({ "state": 1 + number % 4 });
        let set = ask(authority, "PUT", &target, &state);
        if let Some((200, _)) = set {
            noted.marks.lock().unwrap().push(mark);
        }
        let mark = format!("order-{number}");
        let change = |area: u64| json!({ "area_id": area.to_string(), "state": 1 + number % 4 });
        let order = json!({ "changes": ORDERED.map(change).collect::<Vec<_>>() });
        let ordered = ask(authority, "POST", &format!("/v1/floods/changes?username={mark}"), &order);
        if let Some((200, _)) = ordered {
            noted.marks.lock().unwrap().push(mark);
        }
        let post = json!({ "post_id": number, "created_at": made, "partner_city": "bandung", "disaster_type": "flood",
                           "location": place });
        let posted = ask(authority, "POST", "/v1/feeds/partner", &post);
        if let Some((200, _)) = posted {
            noted.posts.lock().unwrap().push(number.cast_signed());
        }
        let holder = json!({ "username": "u", "network": "n", "language": "id" });
        let carded = ask(authority, "POST", "/v1/cards", &holder);
        let mut received = None;
        if let Some((200, card)) = &carded {
            let id = card["cardId"].as_str().unwrap();
            let report =
                json!({ "card_data": { "report_type": "wind" }, "created_at": made, "location": place });
            received = ask(authority, "PUT", &format!("/v1/cards/{id}"), &report);
            if let Some((200, _)) = received {
                noted.cards.lock().unwrap().push(id.to_owned());
            }
        }
        statuses
            .extend([set, ordered, posted, carded, received].into_iter().flatten().map(|(status, _)| status));
    }
    statuses
}

/// Tells writers to stop, also when a test fails.
pub(crate) struct Stop<'a>(pub(crate) &'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// Runs the writers while something happens; answers the statuses they saw.
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

/// The rows of a file of an export: the values of two columns.
fn rows(folder: &Path, file: &str, columns: [&str; 2]) -> Vec<[String; 2]> {
    let mut reader = csv::Reader::from_path(folder.join(file)).unwrap();
    let names = reader.headers().unwrap().clone();
    let at = columns.map(|column| names.iter().position(|name| name == column).unwrap());
    reader.records().map(|row| row.unwrap()).map(|row| at.map(|at| row[at].to_owned())).collect()
}

/// Makes sure, by an export and by the interface, that all that was acknowledged is there, and nothing by half.
pub(crate) fn check(kept: &Kept, service: &Running, noted: &Acknowledged) {
    let folder = tempfile::tempdir().unwrap();
    let exported = folder.path().join("exported");
    printed(&kept.siaga(&["export", exported.to_str().unwrap()]));
    let log = rows(&exported, "flood_states.csv", ["username", "area_id"]);
    let posts = rows(&exported, "partner_posts.csv", ["post_id", "pkey"]);
    let mut cards = rows(&exported, "cards.csv", ["card_id", "report"]);
    cards.retain(|[_, report]| !report.is_empty());
    let reports: Value =
        serde_json::from_slice(&fs::read(exported.join("reports.geojson")).unwrap()).unwrap();
    assert_eq!(reports["features"].as_array().unwrap().len(), posts.len() + cards.len(), "reports by half");
    let sent = noted.posts.lock().unwrap().iter().map(ToString::to_string).collect();
    for (what, acknowledged, stored) in [
        ("states", noted.marks.lock().unwrap().clone(), &log),
        ("cards", noted.cards.lock().unwrap().clone(), &cards),
        ("posts", sent, &posts),
    ] {
        let stored: BTreeSet<_> = stored.iter().map(|[name, _]| name).collect();
        let missing: Vec<_> = acknowledged.iter().filter(|name| !stored.contains(name)).collect();
        assert!(missing.is_empty(), "{what}: of {} acknowledged are missing {missing:?}", acknowledged.len());
    }
    let mut orders: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for [mark, area] in log.iter().filter(|[mark, _]| mark.starts_with("order-")) {
        orders.entry(mark).or_default().insert(area);
    }
    let halves: Vec<_> = orders.iter().filter(|(_, areas)| areas.len() != ORDERED.count()).collect();
    assert!(halves.is_empty(), "orders by half: {halves:?}");
    // Entries are exported in the order of their times.
    let newest =
        |columns| rows(&exported, "flood_states.csv", columns).into_iter().map(<(String, String)>::from);
    let logged: BTreeMap<_, _> = newest(["area_id", "state"]).collect();
    let states = service.expect_ok("GET", "/v1/floods/states", &Value::Null);
    let shown = states["result"].as_array().unwrap().iter();
    let shown = shown.map(|area| (area["area_id"].as_str().unwrap().to_owned(), area["state"].to_string()));
    assert_eq!(shown.collect::<BTreeMap<_, _>>(), logged, "the state of an area is its newest log entry");
}

fn nothing_is_lost_when_it_is_killed_under_load(kept: &Kept, mut look: impl FnMut()) {
    let (next, noted) = (AtomicU64::new(0), Acknowledged::default());
    let mut service = kept.start();
    for round in 0..ROUNDS {
        let authority = service.authority.clone();
        under_load(&authority, &next, &noted, || {
            noted.reach_moment(round);
            service.process.kill().unwrap();
        });
        look();
        service = kept.start();
        check(kept, &service, &noted);
    }
}

#[test]
fn nothing_acknowledged_is_lost_when_a_service_on_a_database_is_killed_under_load() {
    let cluster = Cluster::new();
    add_areas(&cluster.url());
    nothing_is_lost_when_it_is_killed_under_load(&on(&cluster.url()), || ());
}

/// How the revisions of a file have grown.
#[derive(Debug, sqlx::FromRow)]
struct Revisions {
    epoch: i64,
    changes: i64,
    /// How many more there are than changes and orders, each of which has a mark, and than reports; and keys that no report has.
    floods: i64,
    reports: i64,
    gaps: i64,
}

async fn revisions(path: &Path) -> Revisions {
    const GROWN: &str =
        "SELECT epoch, changes, floods - (SELECT count(DISTINCT username) FROM flood_states) AS floods,
            reports - (SELECT count(*) FROM reports) AS reports,
            (SELECT coalesce(max(pkey), 0) - count(*) FROM reports) AS gaps FROM counts";
    sqlx::query_as(GROWN).fetch_one(&mut connect(path).await).await.unwrap()
}

#[test]
fn nothing_acknowledged_is_lost_when_a_service_on_a_file_is_killed_under_load_and_revisions_go_on() {
    let file = file_with_areas();
    let path = file.path();
    let mut before = block_on(revisions(&path));
    nothing_is_lost_when_it_is_killed_under_load(&Kept::in_file(&path), || {
        let after = block_on(revisions(&path));
        assert!(after.epoch == before.epoch && after.changes > before.changes, "{before:?}, {after:?}");
        assert_eq!((after.floods, after.reports, after.gaps), (1, 1, 0), "each is one change");
        before = after;
    });
}

#[test]
fn nothing_acknowledged_is_lost_when_postgres_crashes_under_load() {
    let cluster = Cluster::new();
    let (next, noted) = (AtomicU64::new(0), Acknowledged::default());
    add_areas(&cluster.url());
    let kept = on(&cluster.url());
    let service = kept.start();
    for round in 0..ROUNDS {
        let statuses = under_load(&service.authority, &next, &noted, || {
            noted.reach_moment(round);
            cluster.stop("immediate");
            cluster.start();
            // The service comes back by itself.
            let state = json!({ "state": 1 });
            let status = || ask(&service.authority, "PUT", "/v1/floods/1", &state).map(|(status, _)| status);
            eventually_blocking("it is back", BACK, status, |status| *status == Some(200));
        });
        assert!(statuses.iter().all(|status| [200, 503].contains(status)), "{statuses:?}");
        check(&kept, &service, &noted);
    }
}

#[test]
fn a_database_stopped_for_ten_seconds_is_503_and_nothing_else_in_the_log() {
    let cluster = Cluster::new();
    add_areas(&cluster.url());
    let kept = on(&cluster.url());
    let service = kept.start();
    let (next, noted) = (AtomicU64::new(0), Acknowledged::default());
    let longest = Mutex::new(Duration::ZERO);
    let statuses = under_load(&service.authority, &next, &noted, || {
        noted.grow_by(100);
        cluster.stop("fast");
        let stopped = Instant::now();
        while stopped.elapsed() < Duration::from_secs(10) {
            let asked = Instant::now();
            let (status, _) = ask(&service.authority, "GET", "/v1/floods/states", &Value::Null).unwrap();
            assert_eq!(status, 503);
            let mut longest = longest.lock().unwrap();
            *longest = longest.max(asked.elapsed());
        }
        cluster.start();
        let status = || ask(&service.authority, "GET", "/v1/floods/states", &Value::Null);
        eventually_blocking("it is back", BACK, status, |answer| matches!(answer, Some((200, _))));
        noted.grow_by(300);
    });
    assert!(longest.into_inner().unwrap() < patiently(Duration::from_secs(6)));
    assert!(statuses.iter().all(|status| [200, 503].contains(status)), "{statuses:?}");
    assert!(statuses.contains(&503) && statuses.last() == Some(&200));
    check(&kept, &service, &noted);
    for line in service.kill().lines() {
        let of_the_outage = [
            "status=503",
            "the database is",
            "before_acquire",
            "on-release",
            "the store cannot be reached",
            "the changes cannot be read",
        ];
        let known =
            line.is_empty() || !line.contains("rror") || of_the_outage.iter().any(|part| line.contains(part));
        assert!(known, "{line}");
    }
}
