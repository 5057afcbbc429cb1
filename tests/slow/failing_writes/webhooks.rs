//! The checkpoint of a webhook: each report is sent at least once, and none blocks the next.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::{LazyLock, Mutex};
use std::thread;

use serde_json::json;

use super::{Operation, SOON, Site};
use crate::eventually::eventually_blocking;
use crate::service_config::ServiceConfig;

/// What the receiver of all tests has received.
static RECEIVED: Mutex<String> = Mutex::new(String::new());
static URL: LazyLock<String> = LazyLock::new(|| {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            let mut reader = BufReader::new(&connection);
            let (mut line, mut length) = (String::new(), 0);
            while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                let header = line.to_ascii_lowercase();
                length = header
                    .strip_prefix("content-length: ")
                    .map_or(length, |length| length.trim().parse().unwrap());
                line.clear();
            }
            let mut body = String::new();
            if reader.take(length).read_to_string(&mut body).is_ok() {
                RECEIVED.lock().unwrap().push_str(&body);
                // A killed server receives no response.
                let _ = (&connection).write_all(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
            }
        }
    });
    url
});

/// Sends a report of a partner; returns whether it is acknowledged.
fn post(site: &Site, (number, text): &(usize, String)) -> bool {
    let report = json!({ "post_id": number, "created_at": chrono::Utc::now(), "partner_city": "bandung",
                         "text": text, "disaster_type": "flood", "location": { "lat": 0.5, "lng": 0.5 } });
    site.status("POST", "/v1/feeds/partner", &report) == 200
}

fn is_received(text: &str) -> bool {
    RECEIVED.lock().unwrap().contains(&format!("\"{text}\""))
}

pub(super) struct Checkpoint;

impl Operation for Checkpoint {
    type Subject = (usize, String);

    const ADAPT: fn(ServiceConfig, &Path) -> ServiceConfig = |config, _| {
        config
            .with("SIAGA_WEBHOOKS__TEST__URL", &URL)
            .with("SIAGA_WEBHOOKS__TEST__EVENT", "report")
            .with("SIAGA_WEBHOOKS__TEST__PRIVATE", "true")
    };

    fn prepare(&self, site: &mut Site, number: usize) -> (usize, String) {
        (2 * number, format!("{} {number}", site.folder.path().display()))
    }

    fn attempt(&self, site: &mut Site, (number, text): &(usize, String)) -> bool {
        let (first, next) = ((*number, text.clone()), (number + 1, format!("{text} next")));
        // The next report is sent once the checkpoint is past this one.
        let is_sent = post(site, &first);
        if is_sent && site.is_armed() {
            eventually_blocking("the next report", SOON, || post(site, &next), |sent| *sent);
            let is_past = || is_received(&next.1) || site.has_failed();
            eventually_blocking("the next report is received", SOON, is_past, |past| *past);
        }
        is_sent
    }

    fn parts(&self, site: &Site, (_, text): &(usize, String)) -> Vec<bool> {
        vec![site.reports().iter().any(|report| report["text"] == **text)]
    }

    fn has_settled(&self, _: &Site, (_, text): &(usize, String)) -> bool {
        is_received(text)
    }
}
