//! Credentials of the storage in the environment.

use std::time::Duration;

use rocket::tokio::task::spawn_blocking;
use serde_json::{Value, json};

use crate::eventually::{LONG, eventually};
use crate::photos::photo;
use crate::running::Running;
use crate::storage::{SECRET_KEY, Storage};

fn body(response: &str) -> Value {
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 "), "{response}");
    serde_json::from_str(body).unwrap()
}

#[rocket::async_test]
async fn the_program_reads_the_credentials_of_its_storage_from_the_environment() {
    let storage = Storage::start().await;
    let mut variables = storage.variables();
    variables.insert("SIAGA_IMAGES__URL", "s3://bucket/prefix".to_owned());
    variables.insert("SIAGA_BASE_URL", "http://localhost/v1".to_owned());
    let program = spawn_blocking(move || {
        let variables: Vec<_> = variables.iter().map(|(&name, value)| (name, value.as_str())).collect();
        Running::demo(&variables)
    });
    let program = program.await.unwrap();
    let key = program.key();
    let request_json = |method: &str, target: &str, sent: &Value| {
        let sent = sent.to_string();
        let rest = format!("X-Api-Key: {key}\r\nContent-Length: {}\r\n\r\n{sent}", sent.len());
        body(&program.request(method, target, &rest))
    };
    let card =
        request_json("POST", "/v1/cards", &json!({ "username": "u", "network": "n", "language": "id" }));
    let card = card["cardId"].as_str().unwrap();
    let report = json!({ "card_data": { "report_type": "wind" }, "created_at": chrono::Utc::now(),
                             "location": { "lat": -6.2, "lng": 106.8 } });
    request_json("PUT", &format!("/v1/cards/{card}"), &report);
    let invitation = request_json("GET", &format!("/v1/cards/{card}/images"), &Value::Null);

    let http = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(20)).build().unwrap();
    let upload = http.put(invitation["signedRequest"].as_str().unwrap()).header("Content-Type", "image/jpeg");
    let sent = upload.body(photo(60, 30, 1)).send().await.unwrap();
    assert_eq!(sent.status().as_u16(), 200);
    let address = format!("http://localhost/v1/images/{card}.jpg");
    let reports = async || request_json("GET", "/v1/reports", &Value::Null).to_string();
    eventually("the photo is shown", LONG, reports, |reports| reports.contains(&address)).await;
    let printed = program.kill();
    assert!(!printed.contains(SECRET_KEY), "{printed}");
}
