//! Health while the database fails and recovers.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sqlx::{Connection, Executor, PgConnection};

use crate::eventually::{LONG, eventually, patiently};
use crate::postgres::Database;
use crate::proxy::Proxy;
use crate::running::Running;
use crate::server::Server;

/// Waits until readiness has a status, and checks the matching response code.
pub(crate) async fn until(server: &Server, status: &str) -> Value {
    let result = async || {
        let (code, body) = server.get("/health/ready").await;
        assert_eq!(code == 503, body["result"]["status"] == "unready", "{code}: {body}");
        body["result"].clone()
    };
    eventually(status, LONG, result, |result| result["status"] == status).await
}

fn failed(result: &Value) -> Vec<&str> {
    let checks = result["checks"].as_array().unwrap().iter();
    checks.filter(|check| check["ok"] == json!(false)).map(|check| check["name"].as_str().unwrap()).collect()
}

#[rocket::async_test]
async fn a_server_is_unready_while_its_database_is_unreachable_and_ready_afterwards() {
    let database = Database::with_fixture().await;
    let proxy = Proxy::before(&database.url());
    let server = Server::on(&proxy.through(&database.url())).await;
    until(&server, "ready").await;
    for stalled in [false, true] {
        if stalled {
            proxy.stall();
        } else {
            proxy.cut();
        }
        let unready = until(&server, "unready").await;
        assert!(failed(&unready).contains(&"store"), "{unready}");
        assert!(!unready.to_string().contains("siaga migrate"), "{unready}");
        let start = Instant::now();
        assert_eq!(server.get("/health/live").await.0, 200);
        assert_eq!(server.get("/health/ready").await.0, 503);
        assert!(start.elapsed() < patiently(Duration::from_secs(4)), "{:?}", start.elapsed());
        proxy.restore();
        assert_eq!(failed(&until(&server, "ready").await), Vec::<&str>::new());
    }
}

#[rocket::async_test]
async fn an_older_schema_is_unready_and_a_newer_one_ready() {
    let database = Database::with_fixture().await;
    let server = Server::on(&database.url()).await;
    let mut connection = PgConnection::connect(&database.url()).await.unwrap();
    let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
            VALUES (9999, 'newer', true, '', 0)";
    connection.execute(newer).await.unwrap();
    until(&server, "ready").await;
    connection.execute("DELETE FROM _sqlx_migrations WHERE version > 1").await.unwrap();
    let unready = until(&server, "unready").await;
    assert_eq!(failed(&unready), ["migrations"]);
    assert!(unready.to_string().contains("siaga migrate"), "{unready}");
}

#[test]
fn a_full_disk_degrades_the_service() {
    // Like a full disk: no file can be written.
    let service =
        Running::start_after("trap '' XFSZ; ulimit -f 0", &[("SIAGA_DATASET", "empty")], "The map: ");
    let ready = service.request("GET", "/health/ready", "\r\n");
    let body: Value = serde_json::from_str(ready.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    assert_eq!((&body["result"]["status"], failed(&body["result"])), (&json!("degraded"), vec!["images"]));
    assert!(service.request("GET", "/v1/floods", "\r\n").starts_with("HTTP/1.1 200 OK\r\n"));
}

#[rocket::async_test]
async fn a_server_whose_listener_cannot_connect_is_degraded() {
    let database = Database::with_fixture().await;
    let server = Server::on(&database.url()).await;
    until(&server, "ready").await;
    let mut connection = PgConnection::connect(&database.url()).await.unwrap();
    // Locks the table that only the listener reads here.
    let mut locking = connection.begin().await.unwrap();
    locking.execute("LOCK TABLE revisions IN ACCESS EXCLUSIVE MODE").await.unwrap();
    assert_eq!(failed(&until(&server, "degraded").await), ["listener"]);
    locking.rollback().await.unwrap();
    until(&server, "ready").await;
}
