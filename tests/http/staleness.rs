//! Whoever asks after a change was acknowledged sees it, however many ask and change meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rocket::futures::future::join_all;
use rocket::http::Status;
use rocket::local::asynchronous::Client;
use rocket::tokio;
use serde_json::{Value, json};

use crate::fixture::block_on;
use crate::suite::support::{ADMIN_KEY, figment, key, properties, service};

const AREAS: [u64; 4] = [1, 2, 5, 10];
/// Of each area.
const WRITES: u64 = 2_500;
const READERS: usize = 8;
/// How often is read between two writes of an area, at least.
const READS: u64 = 4;
const ADDRESSES: [&str; 4] =
    ["/v1/floods/states", "/v1/floods", "/v1/floods?minimum_state=1", "/v1/floods/states?city=jbd"];

struct Race {
    client: Client,
    /// By area.
    progress: [Progress; AREAS.len()],
    reads: AtomicU64,
    written: AtomicBool,
}

/// How often the state of an area was sent, and how often that was acknowledged.
#[derive(Default)]
struct Progress {
    sent: AtomicU64,
    acknowledged: AtomicU64,
}

/// The states of an area go round, so that one tells how new it is.
fn state(number: u64) -> u64 {
    number % 4 + 1
}

/// What an answer says of the state of an area.
fn shown(answer: &Value, area: u64) -> Option<u64> {
    let records = match answer {
        Value::Array(records) => records.clone(),
        topology => properties(topology),
    };
    let area = area.to_string();
    records.into_iter().find(|of| of["area_id"] == *area).and_then(|of| of["state"].as_u64())
}

impl Race {
    /// Sets the state of an area again and again, not faster than it is read: of states that come and go meanwhile nobody
    /// could tell the old from the new.
    async fn write(&self, area: u64, progress: &Progress) {
        for number in 1..=WRITES {
            progress.sent.store(number, Ordering::SeqCst);
            let body = json!({ "state": state(number) }).to_string();
            let request = self.client.put(format!("/v1/floods/{area}")).header(key(ADMIN_KEY)).body(body);
            assert_eq!(request.dispatch().await.status(), Status::Ok);
            progress.acknowledged.store(number, Ordering::SeqCst);
            let seen = self.reads.load(Ordering::SeqCst);
            while self.reads.load(Ordering::SeqCst) < seen + READS {
                tokio::task::yield_now().await;
            }
        }
    }

    /// Asks until all is written; answers how many states it could tell to be new enough.
    async fn read(&self, address: &str) -> u64 {
        let mut told = 0;
        while !self.written.load(Ordering::SeqCst) {
            let before = self.progress.each_ref().map(|of| of.acknowledged.load(Ordering::SeqCst));
            let answer: Value = self.client.get(address).dispatch().await.into_json().await.unwrap();
            for ((area, before), progress) in AREAS.into_iter().zip(before).zip(&self.progress) {
                let sent = progress.sent.load(Ordering::SeqCst);
                if before == 0 || sent - before > 2 {
                    continue;
                }
                let found = shown(&answer["result"], area);
                let possible: Vec<_> = (before..=sent).map(state).collect();
                let new = found.is_some_and(|found| possible.contains(&found));
                assert!(new, "{address}: area {area} shows {found:?}, none of {possible:?}");
                told += 1;
            }
            self.reads.fetch_add(1, Ordering::SeqCst);
        }
        told
    }
}

#[test]
fn of_10_000_writes_beside_readers_none_is_hidden_once_it_is_acknowledged() {
    block_on(async {
        let (rocket, _, _opener) = service(figment(), |builder| builder).await;
        let client = Client::untracked(rocket).await.unwrap();
        let (reads, written) = (AtomicU64::new(0), AtomicBool::new(false));
        let race = Arc::new(Race { client, progress: Default::default(), reads, written });
        let readers: Vec<_> = (0..READERS)
            .map(|number| {
                let race = Arc::clone(&race);
                tokio::spawn(async move { race.read(ADDRESSES[number % ADDRESSES.len()]).await })
            })
            .collect();
        let writers = AREAS.into_iter().enumerate().map(|(number, area)| {
            let race = Arc::clone(&race);
            tokio::spawn(async move { race.write(area, &race.progress[number]).await })
        });
        let outcomes = join_all(writers).await;
        race.written.store(true, Ordering::SeqCst);
        assert!(outcomes.into_iter().all(|outcome| outcome.is_ok()));
        let told: u64 = join_all(readers).await.into_iter().map(Result::unwrap).sum();
        assert!(told >= 10_000, "{told} states were told");
    });
}
