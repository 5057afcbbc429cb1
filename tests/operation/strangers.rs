//! Abuse of the form for residents over real connections.

use std::io::Read;
use std::net::TcpStream;

use serde_json::Value;

use crate::eventually::{LONG, eventually_blocking};
use crate::form;
use crate::photos::photo;
use crate::running::{Running, memory_of, request};

/// The last line of startup.
const LAST: &str = "The map: ";
const SETTINGS: [(&str, &str); 2] = [("SIAGA_CARDS__OPEN", "true"), ("SIAGA_DATASET", "empty")];

/// The head of a form with a declared length.
fn head(service: &Running, length: usize) -> String {
    let kind = "Accept: application/json\r\nContent-Type: multipart/form-data; boundary=x";
    let rest = format!("{kind}\r\nContent-Length: {length}\r\n\r\n");
    request(&service.authority, "POST", "/report", &rest)
}

/// Begins a form of 19 MB.
fn begin_form(service: &Running, beginning: &[u8]) -> TcpStream {
    service.begin(&head(service, 19_000_000), beginning)
}

fn response(mut connection: TcpStream) -> String {
    let mut response = Vec::new();
    let _ = connection.read_to_end(&mut response);
    String::from_utf8_lossy(&response).into_owned()
}

/// Peak memory of the service in bytes.
fn peak(service: &Running) -> u64 {
    memory_of(&service.process.id().to_string(), "VmHWM").unwrap()
}

#[test]
fn forms_with_endless_parts_are_rejected_before_they_use_memory() {
    let service = Running::start(&SETTINGS, LAST);
    let warm = response(begin_form(&service, &vec![b'x'; 20_000]));
    assert!(warm.starts_with("HTTP/1.1 400 ") && warm.contains("4096 bytes"), "{warm}");
    let before = peak(&service);
    let endless = |beginning: &str, piece: &str| {
        let mut body = beginning.as_bytes().to_vec();
        body.extend(piece.as_bytes().iter().cycle().take(2_000_000));
        body
    };
    let part = "--x\r\nContent-Disposition: form-data; name=\"";
    for body in [
        endless(part, "a"),
        endless("", "before the first part "),
        endless("--x\r\n", "X-A: b\r\n"),
        endless(&format!("{part}text\"\r\n\r\n"), "text "),
        endless(&format!("{part}text\"\r\n\r\nshort\r\n--x\r\n"), "X-A: b\r\n"),
    ] {
        let connections: Vec<_> = (0..8).map(|_| begin_form(&service, &body)).collect();
        for connection in connections {
            // The connection may be reset before the response is read, because the service does not read the rest of the body.
            let response = response(connection);
            assert!(response.is_empty() || response.starts_with("HTTP/1.1 400 "), "{response:.300}");
        }
    }
    let used = peak(&service).saturating_sub(before);
    assert!(used < 64 << 20, "40 forms have used {used} bytes");
}

#[test]
fn a_report_is_stored_without_its_photo_while_uploads_are_full_and_the_photo_can_follow() {
    // Two upload slots per client.
    let service = Running::start(&[&SETTINGS[..], &[("SIAGA_IMAGES__MAX_UPLOADS", "8")]].concat(), LAST);
    let photo = photo(80, 60, 1);
    let token = |number: u32| format!("{number:032x}");
    let outside = [("outside", "yes")];
    let send = |number: u32| -> Value {
        let whole = form::whole(&token(number), &outside, Some(&photo));
        let response = response(service.begin(&head(&service, whole.len()), &whole));
        assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
        serde_json::from_str(response.split_once("\r\n\r\n").unwrap().1).unwrap()
    };
    let mut number = 0;
    // Each poll begins new uploads: a report that arrives first takes the slot of one.
    let sent = || {
        number += 3;
        let form = |number| form::begun(&token(number), &outside, Some(&photo));
        let slow = [number - 2, number - 1].map(|number| begin_form(&service, &form(number)));
        (slow, send(number))
    };
    let (slow, first) =
        eventually_blocking("both places are taken", LONG, sent, |(_, sent)| sent["photo"] == "none");
    assert_eq!(first["created"], true, "{first}");
    drop(slow);
    let again = || send(number);
    let again = eventually_blocking("the photo is stored", LONG, again, |sent| sent["photo"] == "stored");
    assert_eq!((&again["created"], &again["cardId"]), (&false.into(), &first["cardId"]));
}

#[test]
fn a_form_of_another_origin_waits_for_review_and_one_of_the_requested_origin_does_not() {
    let service = Running::start(&SETTINGS, LAST);
    let waits = |number: u32, origin: &str| -> Value {
        let form = String::from_utf8(form::whole(&format!("{number:032x}"), &[], None)).unwrap();
        let head = head(&service, form.len());
        let head = head.replacen("\r\n", &format!("\r\nOrigin: {origin}\r\n"), 1);
        let response = service.send(&(head + &form));
        assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
        let body: Value = serde_json::from_str(response.split_once("\r\n\r\n").unwrap().1).unwrap();
        body["waits"].clone()
    };
    assert_eq!(waits(1, &format!("http://{}", service.authority)), false);
    assert_eq!(waits(2, "https://evil.example"), true);
}
