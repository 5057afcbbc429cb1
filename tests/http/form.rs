//! The form on which residents report, as a browser and the script of the page send it.

use std::net::SocketAddr;

use figment::Figment;
use rocket::http::{Accept, ContentType, Header, Method, Status};
use rocket::local::blocking::{Client, LocalResponse};
use serde_json::{Value, json};

use crate::suite::support::{Siaga, figment, json_of, properties};

pub(crate) const TOKEN: &str = "0123456789abcdef0123456789abcdef";
pub(crate) const BOUNDARY: &str = "a-boundary";
/// A flood in area 1.
pub(crate) const FLOOD: [(&str, &str); 5] = [
    ("disaster", "flood"),
    ("flood.flood_depth", "40"),
    ("lat", "-6.195"),
    ("lng", "106.805"),
    ("text", "Air setinggi lutut <b>"),
];

pub(crate) fn open() -> Figment {
    figment().merge(("siaga.cards.open", true))
}

pub(crate) fn started(figment: Figment) -> Siaga {
    Siaga::with(figment, |builder| builder)
}

/// The body of a form.
pub(crate) fn form(fields: &[(&str, &str)], file: Option<&[u8]>) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, text) in fields {
        let part =
            format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{text}\r\n");
        body.extend(part.as_bytes());
    }
    let (name, file) = file.map_or(("", &[][..]), |file| ("photo.jpg", file));
    let head = format!(
        "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"{name}\"\r\n\
         Content-Type: image/jpeg\r\n\r\n"
    );
    body.extend(head.as_bytes());
    body.extend(file);
    body.extend(format!("\r\n--{BOUNDARY}--\r\n").as_bytes());
    body
}

pub(crate) fn send<'c>(
    siaga: &'c Siaga,
    address: &'c str,
    fields: &[(&str, &str)],
    file: Option<&[u8]>,
) -> LocalResponse<'c> {
    let kind = ContentType::new("multipart", "form-data").with_params(("boundary", BOUNDARY));
    siaga.client.post(address).header(kind).body(form(fields, file)).dispatch()
}

/// Sends a form as the script of the page does; returns the status and the body of the response.
pub(crate) fn send_by_script(
    siaga: &Siaga,
    address: &str,
    fields: &[(&str, &str)],
    file: Option<&[u8]>,
) -> (u16, Value) {
    let kind = ContentType::new("multipart", "form-data").with_params(("boundary", BOUNDARY));
    let request = siaga.client.post(address.to_owned()).header(kind).header(Accept::JSON);
    let response = request.body(form(fields, file)).dispatch();
    (response.status().code, json_of(response))
}

/// Returns the fields of a flood with further ones, of which the last of a name counts.
pub(crate) fn flood<'a>(others: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let kept = FLOOD.into_iter().filter(|(name, _)| others.iter().all(|(other, _)| other != name));
    kept.chain(others.iter().copied()).collect()
}

pub(crate) fn card(siaga: &Siaga, language: &str) -> String {
    let holder = json!({ "username": "Ani", "network": "telegram", "language": language });
    let made = json_of(siaga.ask(Method::Post, "/v1/cards", holder.to_string()));
    made["cardId"].as_str().unwrap().to_owned()
}

pub(crate) fn newest(siaga: &Siaga) -> Value {
    properties(&siaga.result("/v1/reports"))[0].clone()
}

pub(crate) fn count(siaga: &Siaga) -> usize {
    properties(&siaga.result("/v1/reports")).len()
}

pub(crate) fn location(response: &LocalResponse<'_>) -> String {
    assert_eq!(response.status(), Status::SeeOther);
    response.headers().get_one("Location").unwrap().to_owned()
}

/// Sends a report without a link from an address, with a token made from a number; returns the status and the body.
pub(crate) fn send_from(
    client: &Client,
    address: &str,
    number: usize,
    headers: &[(&'static str, &str)],
    fields: &[(&str, &str)],
) -> (u16, Value) {
    let kind = ContentType::new("multipart", "form-data").with_params(("boundary", BOUNDARY));
    let token = format!("{number:032x}");
    let fields: Vec<_> = flood(fields).into_iter().chain([("token", &*token)]).collect();
    let mut request = client.post("/report").header(kind).header(Accept::JSON);
    for (name, value) in headers {
        request = request.header(Header::new(*name, (*value).to_owned()));
    }
    let peer = SocketAddr::new(address.parse().unwrap(), 4711);
    let response = request.remote(peer).body(form(&fields, None)).dispatch();
    (response.status().code, json_of(response))
}
