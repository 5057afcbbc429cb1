//! `/push`: subscriptions of phones, with a push service on this machine.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rocket::http::{Header, Status};
use serde_json::{Value, json};

use crate::suite::support::{Siaga, figment, json_of};

/// The keys of the example of RFC 8291, appendix A.
const KEYS: [&str; 2] = [
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
    "BTBZMqHH6r4Tts7J_aSIgg",
];

/// A push service that responds with a status to all requests. Returns its address and the heads of the requests.
fn push_service(status: u16) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let received: Arc<Mutex<Vec<String>>> = Arc::default();
    let heads = Arc::clone(&received);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let (mut request, mut buffer) = (Vec::new(), [0; 8192]);
            // The body follows the head at once.
            while !request.windows(4).any(|end| end == b"\r\n\r\n") {
                let length = stream.read(&mut buffer).unwrap();
                request.extend(&buffer[..length]);
            }
            heads.lock().unwrap().push(String::from_utf8_lossy(&request).to_lowercase());
            let response = format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            stream.write_all(response.as_bytes()).unwrap();
        }
    });
    (format!("http://{address}"), received)
}

fn with_push(more: Value) -> Siaga {
    let mut settings = json!({ "enabled": true, "services": ["127.0.0.1"], "private": true });
    settings.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    Siaga::with(figment().merge(("siaga.push", settings)), |builder| builder)
}

fn subscription(service: &str) -> Value {
    json!({ "endpoint": format!("{service}/phone"), "keys": { "p256dh": KEYS[0], "auth": KEYS[1] }, "areas": ["1"], "language": "en" })
}

fn bearer(secret: &str) -> Header<'static> {
    Header::new("Authorization", format!("Bearer {secret}"))
}

fn subscribe(siaga: &Siaga, body: &Value) -> (Status, Value) {
    let response = siaga.client.post("/v1/push/subscriptions").body(body.to_string()).dispatch();
    (response.status(), response.into_json().unwrap())
}

#[test]
fn a_service_without_push_messages_has_no_key_and_no_subscriptions() {
    let siaga = Siaga::start();
    assert_eq!(siaga.get("/v1/push/key").status(), Status::NotFound);
    assert_eq!(subscribe(&siaga, &subscription("https://fcm.googleapis.com")).0, Status::NotFound);
}

#[test]
fn a_phone_subscribes_changes_tries_and_ends_its_subscription() {
    let siaga = with_push(json!({}));
    let key = siaga.result("/v1/push/key");
    assert_eq!((key["publicKey"].as_str().unwrap().len(), &key["actual"]), (87, &json!(true)), "{key}");
    assert_eq!(siaga.result("/v1/push/key"), key, "the key is stored");
    let (service, received) = push_service(201);
    let (status, body) = subscribe(&siaga, &subscription(&service));
    assert_eq!(status, Status::Ok, "{body}");
    assert_eq!(body["result"]["areas"], json!(["1"]));
    let (id, secret) = (&body["result"]["id"], body["result"]["secret"].as_str().unwrap());
    assert!(secret.len() == 53 && secret.starts_with("siaga-sub-"), "{secret}");
    let head = received.lock().unwrap()[0].clone();
    for line in [
        "post /phone http/1.1",
        "ttl: ",
        "urgency: normal",
        "content-encoding: aes128gcm",
        "authorization: vapid t=",
    ] {
        assert!(head.contains(line), "{head}");
    }
    let address = format!("/v1/push/subscriptions/{id}");
    // Area 999 was split since the phone chose it.
    let mut renewal = subscription(&service);
    renewal["areas"] = json!(["999", "1"]);
    let renewed = siaga.client.put(&*address).header(bearer(secret)).body(renewal.to_string()).dispatch();
    assert_eq!(json_of(renewed)["result"], json!({ "areas": ["1"] }));
    let trial = || siaga.client.post(format!("{address}/trial")).header(bearer(secret)).dispatch();
    let response = trial();
    assert_eq!(response.status(), Status::TooManyRequests, "the first message is less than a minute old");
    assert!(response.headers().get_one("Retry-After").is_some());
    siaga.pass(Duration::from_secs(61));
    assert_eq!(trial().status(), Status::Ok);
    assert_eq!(received.lock().unwrap().len(), 2);
    let end = || siaga.client.delete(&*address).header(bearer(secret)).dispatch().status();
    assert_eq!([end(), end()], [Status::Ok, Status::NotFound]);
}

#[test]
fn a_wrong_secret_and_an_unknown_number_are_the_same_and_the_secret_is_no_credential_elsewhere() {
    let siaga = with_push(json!({}));
    let (service, _) = push_service(201);
    let (_, first) = subscribe(&siaga, &subscription(&service));
    let secret = first["result"]["secret"].as_str().unwrap().to_owned();
    let own = format!("/v1/push/subscriptions/{}", first["result"]["id"]);
    let wrong = format!("siaga-sub-{}", "A".repeat(43));
    let mut bodies = Vec::new();
    for (address, secret) in
        [(&*own, &wrong), ("/v1/push/subscriptions/999", &secret), ("/v1/push/subscriptions/999", &wrong)]
    {
        let response = siaga.client.delete(address).header(bearer(secret)).dispatch();
        assert_eq!(response.status(), Status::NotFound);
        bodies.push(response.into_string());
    }
    assert!(bodies.iter().all(|body| *body == bodies[0]), "{bodies:?}");
    assert_eq!(siaga.client.delete(&*own).dispatch().status(), Status::NotFound, "without a secret");
    for address in ["/v1/floods", "/v1/push/key"] {
        let response = siaga.client.get(address).header(bearer(&secret)).dispatch();
        assert_eq!(response.status(), Status::Forbidden, "{address}");
    }
}

#[test]
fn a_wrong_body_names_the_field() {
    let siaga = with_push(json!({}));
    let (service, received) = push_service(201);
    let right = subscription(&service);
    for (field, value) in [
        ("endpoint", json!("https://push.example/phone")),
        ("endpoint", json!(7)),
        ("endpoint", json!("x".repeat(1_001))),
        ("keys", json!({ "p256dh": KEYS[0], "auth": "AA" })),
        ("keys.auth", json!({ "p256dh": KEYS[0] })),
        ("areas", json!([])),
        ("areas", json!(["998", "999"])),
        ("areas", json!(["1", "1"])),
        ("areas", json!((0..11).collect::<Vec<_>>())),
        ("areas", Value::Null),
        ("language", json!("xx")),
        ("minimum_state", json!(5)),
    ] {
        let mut body = right.clone();
        body[field.split('.').next().unwrap()] = value;
        let (status, problem) = subscribe(&siaga, &body);
        assert_eq!(
            (status, &problem["validation"]["keys"]),
            (Status::BadRequest, &json!([field])),
            "{problem}"
        );
    }
    let mut both = right.clone();
    both["parent"] = json!({ "parent_name": "GROGOL" });
    assert_eq!(subscribe(&siaga, &both).0, Status::BadRequest);
    both["areas"] = Value::Null;
    both["parent"] = json!({ "parent_name": "NOWHERE" });
    assert_eq!(subscribe(&siaga, &both).1["validation"]["keys"], json!(["parent"]));
    both["parent"] = json!({ "parent_name": "GROGOL", "city_name": "JAKARTA BARAT" });
    assert!(received.lock().unwrap().is_empty(), "nothing was sent before");
    assert_eq!(subscribe(&siaga, &both).0, Status::Ok);
}

#[test]
fn a_subscription_that_its_service_rejects_is_not_stored_and_the_most_are_limited() {
    let siaga = with_push(json!({ "max": 1 }));
    let (gone, _) = push_service(410);
    let (status, problem) = subscribe(&siaga, &subscription(&gone));
    assert_eq!(
        (status, &problem["validation"]["keys"]),
        (Status::BadRequest, &json!(["endpoint"])),
        "{problem}"
    );
    let (broken, _) = push_service(500);
    assert_eq!(subscribe(&siaga, &subscription(&broken)).0, Status::ServiceUnavailable);
    let (service, _) = push_service(201);
    assert_eq!(subscribe(&siaga, &subscription(&service)).0, Status::Ok);
    let mut other = subscription(&service);
    other["endpoint"] = json!(format!("{service}/other"));
    assert_eq!(subscribe(&siaga, &other).0, Status::Conflict);
}

/// A grey PNG of so many pixels in width and height.
fn square(side: u32) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, side, side);
    encoder.set_color(png::ColorType::Grayscale);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&vec![128; (side * side) as usize]).unwrap();
    drop(writer);
    file
}

#[test]
fn an_agency_has_its_own_icon_on_the_home_screen() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("icon.png");
    std::fs::write(&path, square(512)).unwrap();
    let siaga = Siaga::with(figment().merge(("siaga.site.icon", &path)), |builder| builder);
    let icons = json_of(siaga.get("/map/app.webmanifest"))["icons"].clone();
    assert_eq!(icons, json!([{ "src": "/map/icon-512.png", "sizes": "512x512", "type": "image/png" }]));
    for name in ["icon-180.png", "icon-512.png"] {
        assert_eq!(siaga.get(&format!("/map/{name}")).into_bytes().unwrap(), square(512));
    }
    let own = Siaga::start();
    assert_eq!(json_of(own.get("/map/app.webmanifest"))["icons"].as_array().unwrap().len(), 2);
    assert!(own.get("/map/icon-192.png").into_bytes().unwrap().starts_with(b"\x89PNG"));
}
