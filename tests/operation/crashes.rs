//! Crashes under load, of the service and of its database: what was acknowledged is there, and nothing is there by half.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use siaga::auth::KeyDigest;
use sqlx::{Connection, PgConnection};

use crate::cluster::Cluster;
use crate::eventually::{LONG, eventually_blocking, patiently};
use crate::fixture::block_on;
use crate::running::{Running, request, send};

pub(crate) const KEY: &str = "a key for everything";
const WRITERS: u64 = 16;
const ROUNDS: u64 = 20;
/// How soon the service is back with its database.
const BACK: Duration = Duration::from_secs(2);
/// The last line that is printed at startup.
pub(crate) const LAST: &str = "floodedRWsSummary";

/// What was acknowledged.
#[derive(Default)]
pub(crate) struct Acknowledged {
    /// The marks of state changes.
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

    pub(crate) fn count(&self) -> usize {
        self.marks.lock().unwrap().len() + self.posts.lock().unwrap().len() + self.cards.lock().unwrap().len()
    }
}

/// The setting of a key that allows everything.
pub(crate) fn keys() -> String {
    format!(r#"[{{name="root",sha256="{}",scopes=["admin"]}}]"#, KeyDigest::of(KEY).to_hex())
}

/// Starts a service on the database of this address.
pub(crate) fn start(url: &str) -> Running {
    let keys = keys();
    let variables = [
        ("SIAGA_STORE", "postgres"),
        ("DATABASE_URL", url),
        ("SIAGA_AUTH__API_KEYS", &keys),
        ("SIAGA_LIMITS__TIMEOUT", "5s"),
        // The last responses would hide that the database is away.
        ("SIAGA_LIMITS__STALE", "0"),
        ("SIAGA_IMAGES__SIGNING_KEY", "a key for uploads"),
        ("ROCKET_LOG_LEVEL", "critical"),
    ];
    Running::start(&variables, LAST)
}

/// The status and body of an answer that came whole; `None` when there was none.
pub(crate) fn ask(authority: &str, method: &str, target: &str, body: &Value) -> Option<(u16, Value)> {
    let body = body.to_string();
    let rest = format!("X-Api-Key: {KEY}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let answer = send(authority, &request(authority, method, target, &rest)).ok()?;
    let status = answer.split(' ').nth(1)?.parse().ok()?;
    let body = serde_json::from_str(answer.split("\r\n\r\n").nth(1)?).ok()?;
    Some((status, body))
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
        statuses.extend([set, posted, carded, received].into_iter().flatten().map(|(status, _)| status));
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

/// Makes the areas the writers write to.
pub(crate) async fn prepare(cluster: &Cluster) {
    let mut connection = PgConnection::connect(&cluster.url()).await.unwrap();
    sqlx::query(
        "INSERT INTO areas SELECT number, '', 'RW', '', '', 'jbd', 'ID-JK', ST_Multi(ST_MakeEnvelope(0, 0, 1, 1, 4326))
         FROM generate_series(1, 100) AS number",
    )
    .execute(&mut connection)
    .await
    .unwrap();
}

/// Makes sure that all that was acknowledged is there, and nothing by half.
pub(crate) async fn check(cluster: &Cluster, noted: &Acknowledged) {
    let mut connection = PgConnection::connect(&cluster.url()).await.unwrap();
    let marks = noted.marks.lock().unwrap().clone();
    let posts = noted.posts.lock().unwrap().clone();
    let cards = noted.cards.lock().unwrap().clone();
    for (what, sql) in [
        (
            "states",
            "SELECT count(*) FROM unnest($1::text[]) AS mark WHERE NOT EXISTS (SELECT FROM flood_changes WHERE username = mark)",
        ),
        (
            "cards",
            "SELECT count(*) FROM unnest($1::text[]) AS id WHERE NOT EXISTS (SELECT FROM reports WHERE card_id = id)",
        ),
    ] {
        let acknowledged = if what == "states" { &marks } else { &cards };
        let missing: i64 =
            sqlx::query_scalar(sql).bind(acknowledged).fetch_one(&mut connection).await.unwrap();
        assert_eq!(missing, 0, "{what} of {} acknowledged are missing", acknowledged.len());
    }
    let missing: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM unnest($1::bigint[]) AS id WHERE NOT EXISTS (SELECT FROM reports WHERE post_id = id)",
    )
    .bind(&posts)
    .fetch_one(&mut connection)
    .await
    .unwrap();
    assert_eq!(missing, 0, "posts of {} acknowledged are missing", posts.len());
    let halves: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM areas
         LEFT JOIN flood_states USING (area_id)
         LEFT JOIN LATERAL (
             SELECT state, changed_at FROM flood_changes WHERE flood_changes.area_id = areas.area_id
             ORDER BY changed_at DESC LIMIT 1
         ) newest ON true
         WHERE (flood_states.state, flood_states.changed_at) IS DISTINCT FROM (newest.state, newest.changed_at)",
    )
    .fetch_one(&mut connection)
    .await
    .unwrap();
    assert_eq!(halves, 0, "areas whose state is not their newest log entry");
}

#[test]
fn nothing_acknowledged_is_lost_when_the_service_is_killed_under_load() {
    let cluster = Cluster::new();
    let (next, noted) = (AtomicU64::new(0), Acknowledged::default());
    drop(start(&cluster.url()));
    block_on(prepare(&cluster));
    for round in 0..ROUNDS {
        let service = start(&cluster.url());
        let authority = service.authority.clone();
        under_load(&authority, &next, &noted, || {
            noted.grow_by(1);
            // Another moment in each round.
            thread::sleep(Duration::from_millis(17 * round));
            service.kill();
        });
        block_on(check(&cluster, &noted));
    }
}

#[test]
fn nothing_acknowledged_is_lost_when_postgres_crashes_under_load() {
    let cluster = Cluster::new();
    let (next, noted) = (AtomicU64::new(0), Acknowledged::default());
    drop(start(&cluster.url()));
    block_on(prepare(&cluster));
    let service = start(&cluster.url());
    for round in 0..ROUNDS {
        let statuses = under_load(&service.authority, &next, &noted, || {
            noted.grow_by(1);
            // Another moment in each round.
            thread::sleep(Duration::from_millis(17 * round));
            cluster.stop("immediate");
            cluster.start();
            // The service comes back by itself.
            let state = json!({ "state": 1 });
            let status = || ask(&service.authority, "PUT", "/v1/floods/1", &state).map(|(status, _)| status);
            eventually_blocking("it is back", BACK, status, |status| *status == Some(200));
        });
        assert!(statuses.iter().all(|status| [200, 503].contains(status)), "{statuses:?}");
        block_on(check(&cluster, &noted));
    }
}

#[test]
fn a_database_stopped_for_ten_seconds_is_503_and_nothing_else_in_the_log() {
    let cluster = Cluster::new();
    drop(start(&cluster.url()));
    block_on(prepare(&cluster));
    let service = start(&cluster.url());
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
    block_on(check(&cluster, &noted));
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
