//! Whether the service can answer, asked while its database comes and goes.

use std::time::{Duration, Instant};

use rocket::tokio::time;
use serde_json::{Value, json};
use siaga::conformance::block_on;
use sqlx::{Connection, Executor, PgConnection};

use crate::postgres::Database;
use crate::proxy::Proxy;
use crate::server::Server;

/// The answer once it is of this status.
async fn until(server: &Server, status: u16) -> Value {
    let since = Instant::now();
    loop {
        let (answered, body) = server.get("/health/ready").await;
        if answered == status {
            return body["result"].clone();
        }
        assert!(since.elapsed() < Duration::from_secs(15), "{answered}: {body}");
        time::sleep(Duration::from_millis(50)).await;
    }
}

/// The names of the checks that failed.
fn failed(result: &Value) -> Vec<&str> {
    let checks = result["checks"].as_array().unwrap().iter();
    checks.filter(|check| check["ok"] == json!(false)).map(|check| check["name"].as_str().unwrap()).collect()
}

#[test]
fn a_server_is_unready_while_its_database_is_lost_and_ready_when_it_is_back() {
    block_on(async {
        let database = Database::with_fixture().await;
        let proxy = Proxy::before(&database.url());
        let server = Server::on(&proxy.through(&database.url())).await;
        assert_eq!(until(&server, 200).await["status"], "ready");
        for stalled in [false, true] {
            if stalled {
                proxy.stall();
            } else {
                proxy.cut();
            }
            let unready = until(&server, 503).await;
            assert!(failed(&unready).contains(&"store") || failed(&unready) == ["listener"], "{unready}");
            assert!(!unready.to_string().contains("siaga migrate"), "{unready}");
            let asked = Instant::now();
            assert_eq!(server.get("/health/live").await.0, 200);
            assert_eq!(server.get("/health/ready").await.0, 503);
            assert!(asked.elapsed() < Duration::from_secs(4), "{:?}", asked.elapsed());
            proxy.restore();
            assert_eq!(failed(&until(&server, 200).await), Vec::<&str>::new());
        }
    });
}

#[test]
fn a_schema_that_is_not_the_one_needed_is_unready_and_a_newer_one_ready() {
    block_on(async {
        let database = Database::with_fixture().await;
        let server = Server::on(&database.url()).await;
        let mut connection = PgConnection::connect(&database.url()).await.unwrap();
        let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
            VALUES (9999, 'newer', true, '', 0)";
        connection.execute(newer).await.unwrap();
        assert_eq!(until(&server, 200).await["status"], "ready");
        connection.execute("DELETE FROM _sqlx_migrations WHERE version > 1").await.unwrap();
        let unready = until(&server, 503).await;
        assert_eq!(failed(&unready), ["migrations"]);
        assert!(unready.to_string().contains("siaga migrate"), "{unready}");
    });
}
