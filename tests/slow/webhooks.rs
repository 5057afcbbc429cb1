//! Webhooks on a database that others write to as well.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rocket::tokio::io::{AsyncReadExt, AsyncWriteExt};
use rocket::tokio::net::{TcpListener, TcpStream};
use rocket::tokio::{self, time};
use serde_json::Value;
use sqlx::{Connection, Executor, PgConnection};

use crate::eventually::{LONG, eventually};
use crate::fixture::block_on;
use crate::postgres::Database;
use crate::running::KEY;
use crate::server::{Server, build, figment};
use crate::service_config::ServiceConfig;

/// Several polling intervals of a webhook.
const LOOKS: Duration = Duration::from_secs(2);

/// A program that receives webhook requests.
struct Receiver {
    url: String,
    bodies: Arc<Mutex<Vec<Value>>>,
}

impl Receiver {
    async fn listen() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let bodies = Arc::new(Mutex::new(Vec::new()));
        let received = Arc::clone(&bodies);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(receive(stream, Arc::clone(&received)));
            }
        });
        Self { url, bodies }
    }

    fn bodies(&self) -> Vec<Value> {
        self.bodies.lock().unwrap().clone()
    }
}

async fn receive(mut stream: TcpStream, received: Arc<Mutex<Vec<Value>>>) {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes);
        let body = text.split_once("\r\n\r\n").and_then(|(_, body)| serde_json::from_str(body).ok());
        if let Some(body) = body {
            received.lock().unwrap().push(body);
            bytes.clear();
            stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.unwrap();
        } else if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
            return;
        }
    }
}

/// A server with a webhook, the database, and the connections of two others.
async fn served(on: &str) -> (Receiver, Server, [PgConnection; 2], Database) {
    let (receiver, database) = (Receiver::listen().await, Database::with_fixture().await);
    let figment = figment(&database.url())
        .merge(("siaga.webhooks.test.url", &receiver.url))
        .merge(("siaga.webhooks.test.event", on))
        .merge(("siaga.webhooks.test.private", true));
    let server = Server::new(build(figment).await.unwrap()).await;
    let url = database.url();
    let other = async || PgConnection::connect(&url).await.unwrap();
    let mut others = [other().await, other().await];
    let begun = "SELECT count(*) FROM calls WHERE name = 'test'";
    let look = async || sqlx::query_scalar::<_, i64>(begun).fetch_one(&mut others[0]).await.unwrap();
    eventually("the webhook starts", LONG, look, |count| *count == 1).await;
    (receiver, server, others, database)
}

async fn report(connection: &mut PgConnection) -> i64 {
    let insert = "INSERT INTO reports (created_at, source, disaster_type, title, text, location, is_training)
        VALUES (now(), 'qlue', 'flood', '', 'water', ST_SetSRID(ST_Point(106.8, -6.2), 4326), false) RETURNING pkey";
    sqlx::query_scalar(insert).fetch_one(connection).await.unwrap()
}

async fn set(connection: &mut PgConnection, area: i64, state: i16) {
    let insert = "WITH moment AS (SELECT date_trunc('milliseconds', clock_timestamp()) AS at), logged AS (
            INSERT INTO flood_changes (area_id, changed_at, state, subject) SELECT $1, at, $2, 'sql' FROM moment
        )
        INSERT INTO flood_states (area_id, changed_at, state) SELECT $1, at, $2 FROM moment
        ON CONFLICT (area_id) DO UPDATE SET state = excluded.state, changed_at = excluded.changed_at";
    sqlx::query(insert).bind(area).bind(state).execute(connection).await.unwrap();
}

#[test]
fn a_report_of_an_open_transaction_comes_before_a_later_one_that_is_committed() {
    block_on(async {
        let (receiver, _server, [mut slow, mut fast], _database) = served("report").await;
        slow.execute("BEGIN").await.unwrap();
        let first = report(&mut slow).await;
        let second = report(&mut fast).await;
        assert!(first < second);
        // The first one may still come.
        time::sleep(LOOKS).await;
        assert_eq!(receiver.bodies(), [Value::Null; 0]);
        slow.execute("COMMIT").await.unwrap();
        let arrived = async || receiver.bodies();
        let bodies = eventually("both reports", LONG, arrived, |bodies| bodies.len() == 2).await;
        let keys: Vec<_> = bodies.iter().map(|body| body["data"]["pkey"].as_str().unwrap()).collect();
        assert_eq!(keys, [first.to_string(), second.to_string()]);
        // One that is rolled back does not hold up the next for ever.
        slow.execute("BEGIN").await.unwrap();
        report(&mut slow).await;
        let third = report(&mut fast).await;
        time::sleep(LOOKS).await;
        assert_eq!(receiver.bodies().len(), 2);
        slow.execute("ROLLBACK").await.unwrap();
        let bodies = eventually("the third report", LONG, arrived, |bodies| bodies.len() == 3).await;
        assert_eq!(bodies[2]["data"]["pkey"], third.to_string());
    });
}

#[test]
fn a_state_of_an_open_transaction_is_sent_although_a_later_one_is_committed_first() {
    block_on(async {
        let (receiver, _server, [mut slow, mut fast], _database) = served("state").await;
        slow.execute("BEGIN").await.unwrap();
        set(&mut slow, 1, 2).await;
        set(&mut fast, 2, 3).await;
        let told = async || {
            let all = receiver.bodies();
            let areas = all.iter().flat_map(|body| body["data"]["areas"].as_array().unwrap());
            areas.map(|area| area["area_id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        eventually("the committed one", LONG, told, |areas| *areas == ["2"]).await;
        slow.execute("COMMIT").await.unwrap();
        eventually("both areas", LONG, told, |areas| *areas == ["2", "1"]).await;
    });
}

/// The identifiers of the alerts and the areas that need attention that a receiver was told of, in the order they came.
fn told(receiver: &Receiver) -> [Vec<String>; 2] {
    let bodies = receiver.bodies();
    let of = |list: &str, id: &str| {
        let lists = bodies.iter().filter_map(|body| body["data"][list].as_array());
        lists.flatten().map(|entry| entry[id].as_str().unwrap().to_owned()).collect()
    };
    [of("alerts", "identifier"), of("areas", "area_id")]
}

#[test]
fn exactly_one_of_two_processes_sends_alerts_and_attention_and_the_other_takes_over_after_a_kill() {
    block_on(async {
        let (receiver, database) = (Receiver::listen().await, Database::with_fixture().await);
        let url = database.url();
        let kept = ServiceConfig::in_database(&url)
            .with("SIAGA_WEBHOOKS__ALERT__URL", &receiver.url)
            .with("SIAGA_WEBHOOKS__ALERT__EVENT", "alert")
            .with("SIAGA_WEBHOOKS__ALERT__PRIVATE", "true")
            .with("SIAGA_WEBHOOKS__ATTENTION__URL", &receiver.url)
            .with("SIAGA_WEBHOOKS__ATTENTION__EVENT", "attention")
            .with("SIAGA_WEBHOOKS__ATTENTION__PRIVATE", "true");
        let (first, second) = (kept.start(), kept.start());
        let mut begun = PgConnection::connect(&url).await.unwrap();
        let count = "SELECT count(*) FROM calls WHERE name IN ('alert', 'attention')";
        let look = async || sqlx::query_scalar::<_, i64>(count).fetch_one(&mut begun).await.unwrap();
        eventually("both webhooks start", LONG, look, |count| *count == 2).await;
        assert_eq!(second.set(KEY, 5, 4), 200);
        let alerts = async || told(&receiver)[0].clone();
        eventually("the alert", LONG, alerts, |alerts| alerts.len() == 1).await;
        time::sleep(LOOKS).await;
        assert_eq!(alerts().await.len(), 1, "by one of the two servers");
        // One of the two has the lease: whichever it is, the other one goes on.
        first.kill();
        assert_eq!(second.set(KEY, 1, 4), 200);
        eventually("the next alert", LONG, alerts, |alerts| alerts.len() == 2).await;
        time::sleep(LOOKS).await;
        let [alerts, attention] = told(&receiver);
        let distinct: BTreeSet<_> = alerts.iter().collect();
        assert_eq!((alerts.len(), distinct.len()), (2, 2), "{alerts:?}");
        let distinct: BTreeSet<_> = attention.iter().collect();
        assert_eq!(distinct.len(), attention.len(), "{attention:?}");
    });
}
