//! Read-your-writes under concurrent reads and writes.

use std::sync::Arc;

use rocket::futures::future::join_all;
use rocket::http::Status;
use rocket::local::asynchronous::Client;
use rocket::tokio;
use serde_json::{Value, json};

use crate::fixture::block_on;
use crate::suite::support::{ADMIN_KEY, figment, key, properties, service};

/// Changes per area, by one client.
const CHANGES: u64 = 1_000;
const ADDRESSES: [&str; 4] =
    ["/v1/floods/states", "/v1/floods", "/v1/floods?minimum_state=1", "/v1/floods/states?city=jbd"];

/// Sets the state of an area repeatedly, and reads it each time.
async fn write_and_read(client: Arc<Client>, area: u64) {
    for number in 0..CHANGES {
        let state = number % 4 + 1;
        let address = format!("/v1/floods/{area}");
        let change = client.put(address).header(key(ADMIN_KEY)).body(json!({ "state": state }).to_string());
        assert_eq!(change.dispatch().await.status(), Status::Ok);
        for address in ADDRESSES {
            let body: Value = client.get(address).dispatch().await.into_json().await.unwrap();
            let listed = body["result"].as_array().cloned().unwrap_or_else(|| properties(&body["result"]));
            let shown = listed.iter().find(|record| record["area_id"] == *area.to_string());
            assert_eq!(
                shown.map(|record| &record["state"]),
                Some(&json!(state)),
                "{address}, change {number}"
            );
        }
    }
}

#[test]
fn an_acknowledged_change_is_in_every_later_response_under_concurrent_reads_and_writes() {
    block_on(async {
        let (rocket, _, _opener) = service(figment(), |builder| builder).await;
        let client = Arc::new(Client::untracked(rocket).await.unwrap());
        let clients = [1, 2, 5, 10].map(|area| tokio::spawn(write_and_read(Arc::clone(&client), area)));
        join_all(clients).await.into_iter().for_each(Result::unwrap);
    });
}
