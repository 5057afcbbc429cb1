//! Network failures while a resident reports: each report is stored exactly once, with its photo.

use std::collections::BTreeMap;
use std::env;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};

use serde_json::{Value, json};
use siaga::model::{Clock, SystemClock};

use crate::eventually::{LONG, eventually_blocking};
use crate::fixture::block_on;
use crate::form;
use crate::photos::photo;
use crate::postgres::Database;
use crate::running::{KEY, Running, decode_chunked, request, upload_path};
use crate::service_config::ServiceConfig;

/// Reports per route; overridden by the variable `CUTS`.
const ROUNDS: u32 = 8;
/// Approximate length of a response in bytes.
const RESPONSE: u64 = 600;

/// A phone whose network fails once in each request, at a different byte.
struct Phone<'s> {
    service: &'s Running,
    state: u64,
    /// Number of interrupted requests that had arrived.
    arrived: u32,
}

impl Phone<'_> {
    /// A deterministic pseudo-random number below `limit`.
    fn below(&mut self, limit: u64) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state % limit
    }

    /// Sends an interrupted request, then repeats it until the response has one of these statuses; returns that response.
    fn send_until(&mut self, method: &str, target: &str, rest: &[u8], statuses: &[u16]) -> String {
        let sent = [request(&self.service.authority, method, target, "").as_bytes(), rest].concat();
        let cut = self.below(sent.len() as u64 + RESPONSE);
        exchange(&self.service.authority, &sent, Some(cut as usize));
        // The service may still read the interrupted request and be busy.
        let again = || {
            let response = exchange(&self.service.authority, &sent, None);
            let known = [statuses, &[409, 429, 503]].concat();
            assert!(known.contains(&status(&response)), "{method} {target}: {response}");
            response
        };
        let condition = format!("{method} {target} returns {statuses:?}");
        let response =
            eventually_blocking(&condition, LONG, again, |response| statuses.contains(&status(response)));
        let is_known = status(&response) != 200 || response.contains("\"created\":false");
        self.arrived += u32::from(is_known);
        response
    }
}

/// Sends a request and returns the response. `cut` breaks the connection after that many bytes of both.
fn exchange(authority: &str, sent: &[u8], cut: Option<usize>) -> String {
    let mut connection = TcpStream::connect(authority).unwrap();
    connection.set_read_timeout(Some(LONG)).unwrap();
    let most = cut.unwrap_or(usize::MAX);
    let mut response = Vec::new();
    // A service that refuses a request early may close the connection before it has read all of it.
    let _ = connection.write_all(&sent[..most.min(sent.len())]);
    if most > sent.len() {
        let _ = Read::by_ref(&mut connection).take((most - sent.len()) as u64).read_to_end(&mut response);
    }
    let _ = connection.shutdown(Shutdown::Both);
    decode_chunked(String::from_utf8_lossy(&response).into_owned())
}

fn status(response: &str) -> u16 {
    response.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default()
}

fn body(response: &str) -> Value {
    let (_, body) = response.split_once("\r\n\r\n").unwrap();
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {response}"))
}

fn json_body(body: &Value) -> Vec<u8> {
    let body = body.to_string();
    format!("Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// Sends the requests of the card app in order. Returns the identifier of the card.
fn report_by_card(phone: &mut Phone<'_>, photo: &[u8]) -> String {
    let holder = json_body(&json!({ "username": "u", "network": "n", "language": "id" }));
    let holder = [format!("X-API-Key: {KEY}\r\n").as_bytes(), &holder].concat();
    let created = body(&phone.send_until("POST", "/v1/cards", &holder, &[200]));
    let id = created["cardId"].as_str().unwrap().to_owned();
    let card = format!("/v1/cards/{id}");
    phone.send_until("GET", &card, b"\r\n", &[200]);
    let invitation = body(&phone.send_until(
        "GET",
        &format!("{card}/images"),
        b"Content-Type: image/jpeg\r\n\r\n",
        &[200],
    ));
    let address = upload_path(&invitation);
    let head = format!("Content-Type: image/jpeg\r\nContent-Length: {}\r\n\r\n", photo.len());
    // 403: the interrupted request has arrived.
    phone.send_until("PUT", &address, &[head.as_bytes(), photo].concat(), &[200, 403]);
    let report = json!({
        "disaster_type": "flood", "card_data": { "report_type": "flood", "flood_depth": 40 },
        "created_at": SystemClock.now(), "location": { "lat": -6.195, "lng": 106.805 },
    });
    // 409: the interrupted request has arrived.
    phone.send_until("PUT", &card, &json_body(&report), &[200, 409]);
    phone.send_until(
        "PATCH",
        &card,
        &json_body(&json!({ "image_url": "https://elsewhere.example/x" })),
        &[200],
    );
    id
}

/// Sends a form. Returns the identifier of the card.
fn report_by_form(phone: &mut Phone<'_>, photo: &[u8], number: u32) -> String {
    let form = form::whole(&format!("{number:032x}"), &[], Some(photo));
    let head = format!(
        "Accept: application/json\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: {}\r\n\r\n",
        form.len()
    );
    // While the service still reads the interrupted photo, its upload slots are full. The form retries.
    let send = || body(&phone.send_until("POST", "/report", &[head.as_bytes(), &form].concat(), &[200]));
    let sent = eventually_blocking("the photo is stored", LONG, send, |sent| sent["photo"] == "stored");
    sent["cardId"].as_str().unwrap().to_owned()
}

/// Returns the number of reports of each card, and how many of them have a photo.
fn reports(service: &Running) -> BTreeMap<String, (usize, usize)> {
    let target = "/v1/reports?geoformat=geojson&timeperiod=86400";
    let response =
        exchange(&service.authority, request(&service.authority, "GET", target, "\r\n").as_bytes(), None);
    let mut found = BTreeMap::<String, (usize, usize)>::new();
    for feature in body(&response)["result"]["features"].as_array().unwrap() {
        let report = &feature["properties"];
        let count = found.entry(report["url"].as_str().unwrap().to_owned()).or_default();
        count.0 += 1;
        count.1 += usize::from(report["image_url"].is_string());
    }
    found
}

#[test]
fn a_report_whose_requests_are_cut_off_is_stored_once() {
    let rounds = env::var("CUTS").map_or(ROUNDS, |rounds| rounds.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let images = url::Url::from_directory_path(folder.path()).unwrap();
    let database = block_on(Database::empty());
    let config = ServiceConfig::in_database(&database.url()).with("SIAGA_CARDS__OPEN", "true");
    let service = config.with("SIAGA_IMAGES__URL", images.as_str()).start();
    let mut phone = Phone { service: &service, state: 2016, arrived: 0 };
    let photo = photo(80, 60, 1);
    let mut sent = Vec::new();
    for number in 0..rounds {
        sent.push(report_by_card(&mut phone, &photo));
        sent.push(report_by_form(&mut phone, &photo, number));
    }
    println!("{} of {} reports had arrived when their request was cut off", phone.arrived, 2 * rounds);
    assert!(phone.arrived > 0);
    let expected: BTreeMap<_, _> = sent.into_iter().map(|card| (card, (1, 1))).collect();
    assert_eq!(expected.len() as u32, 2 * rounds);
    let others = || {
        let mut all = reports(&service);
        let lacking = expected.keys().filter(|card| all.remove(*card) != Some((1, 1))).collect::<Vec<_>>();
        (format!("{lacking:?}"), all)
    };
    eventually_blocking("each report is there once, with its photo", LONG, others, |(lacking, further)| {
        lacking == "[]" && further.is_empty()
    });
}
