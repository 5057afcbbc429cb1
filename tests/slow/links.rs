//! A link to the database that is cut or stalled.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rocket::futures::future::join_all;
use rocket::tokio::task::JoinHandle;
use rocket::tokio::{self, time};

use crate::eventually::{LONG, eventually, patiently};
use crate::fixture::block_on;
use crate::postgres::Database;
use crate::proxy::Proxy;
use crate::server::{Server, get};

/// Slightly above the configured limit of the servers.
const LIMIT: Duration = Duration::from_millis(2_500);

const READERS: usize = 16;

struct Load {
    going: Arc<AtomicBool>,
    readers: Vec<JoinHandle<Vec<(u16, Duration)>>>,
}

impl Load {
    /// Starts the clients, and waits for their first reads.
    async fn start(server: &Server) -> Self {
        let going = Arc::new(AtomicBool::new(true));
        let responded = Arc::new(AtomicUsize::new(0));
        let readers = (0..READERS).map(|_| {
            let (client, going) = (Arc::clone(&server.client), Arc::clone(&going));
            let responded = Arc::clone(&responded);
            tokio::spawn(async move {
                let mut responses = Vec::new();
                while going.load(Ordering::Relaxed) {
                    let begin_time = Instant::now();
                    let (status, _) = get(&client, "/v1/floods/states").await;
                    responses.push((status, begin_time.elapsed()));
                    responded.fetch_add(1, Ordering::Relaxed);
                    // The pace of a client.
                    time::sleep(Duration::from_millis(5)).await;
                }
                responses
            })
        });
        let readers = readers.collect();
        let responded = async || responded.load(Ordering::Relaxed);
        eventually("reads are under way", LONG, responded, |responded| *responded >= 10 * READERS).await;
        Self { going, readers }
    }

    /// Ends it; returns the statuses and durations of each client.
    async fn end(self) -> Vec<Vec<(u16, Duration)>> {
        self.going.store(false, Ordering::Relaxed);
        join_all(self.readers).await.into_iter().map(Result::unwrap).collect()
    }
}

/// Breaks the link of a server under load for a while.
async fn outage(break_link: impl FnOnce(&Proxy), lasting: Duration) {
    let database = Database::with_fixture().await;
    let proxy = Proxy::before(&database.url());
    let server = Server::on(&proxy.through(&database.url())).await;
    assert_eq!(server.get("/v1/floods/states").await.0, 200);
    let load = Load::start(&server).await;

    break_link(&proxy);
    time::sleep(lasting).await;
    let response = server.client.get("/v1/reports").dispatch().await;
    assert_eq!((response.status().code, response.headers().get_one("Retry-After")), (503, Some("1")));
    let body = response.into_string().await.unwrap();
    let says_the_cause = ["127.0.0.1", "pool", "SELECT"].iter().any(|cause| body.contains(cause));
    assert!(body.contains(r#""statusCode":503"#) && !says_the_cause, "{body}");
    assert_eq!(server.set(5, 1).await, 503);

    proxy.restore();
    let restored = Instant::now();
    let status = async || server.get("/v1/reports").await.0;
    eventually("reads succeed", Duration::from_secs(2), status, |status| *status == 200).await;
    println!("reads succeed after {:?}", restored.elapsed());
    let status = async || server.set(5, 3).await;
    eventually("writes succeed", LIMIT * 2, status, |status| *status == 200).await;
    let responses = load.end().await.concat();
    assert!(responses.iter().all(|&(status, _)| status == 200 || status == 503));
    assert!(responses.iter().filter(|&&(status, _)| status == 503).count() >= READERS);
    let longest = responses.iter().map(|&(_, took)| took).max().unwrap();
    assert!(longest < patiently(LIMIT), "a response took {longest:?}");
}

#[test]
fn a_cut_link_is_503_within_the_limit_and_comes_back_within_two_seconds() {
    block_on(outage(Proxy::cut, Duration::from_secs(3)));
}

#[test]
fn a_stalled_link_is_503_within_the_limit_and_comes_back_within_two_seconds() {
    block_on(outage(Proxy::stall, Duration::from_secs(5)));
}

#[test]
fn silently_dropped_links_are_replaced_by_new_ones_within_two_seconds() {
    block_on(async {
        let database = Database::with_fixture().await;
        let proxy = Proxy::before(&database.url());
        let server = Server::on(&proxy.through(&database.url())).await;
        let load = Load::start(&server).await;
        // As after a change of the database's address, or an expired firewall entry.
        proxy.abandon();
        let abandoned = Instant::now();
        time::sleep(Duration::from_secs(2)).await;
        for state in [1, 4] {
            assert_eq!(server.set(5, state).await, 200, "{:?} later", abandoned.elapsed());
            assert_eq!(server.state(5).await, Some(state));
        }
        for responses in load.end().await {
            let (status, _) = *responses.last().unwrap();
            assert_eq!(status, 200);
        }
    });
}
