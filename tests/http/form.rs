//! The form on which residents report, as a browser and the script of the page send it.

use std::net::SocketAddr;

use figment::Figment;
use rocket::http::{Accept, ContentType, Header, Method, Status};
use rocket::local::blocking::{Client, LocalRequest, LocalResponse};
use serde_json::{Value, json};

use crate::suite::eventually::{LONG, eventually_blocking};
use crate::suite::photos::photo;
use crate::suite::support::{Siaga, figment, json_of, properties};

pub(crate) const TOKEN: &str = "0123456789abcdef0123456789abcdef";
const BOUNDARY: &str = "a-boundary";
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

pub(crate) fn form<'c>(
    client: &'c Client,
    address: &'c str,
    fields: &[(&str, &str)],
    file: Option<&[u8]>,
) -> LocalRequest<'c> {
    let name = if file.is_some() { "photo.jpg" } else { "" };
    let head = format!("filename=\"{name}\"\r\nContent-Type: image/jpeg");
    form_with(client, address, fields, &head, file.unwrap_or_default())
}

/// The same, with the rest of the `Content-Disposition` of the photo's part.
pub(crate) fn form_with<'c>(
    client: &'c Client,
    address: &'c str,
    fields: &[(&str, &str)],
    head: &str,
    file: &[u8],
) -> LocalRequest<'c> {
    let begin = format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=");
    let mut body = Vec::new();
    for (name, text) in fields {
        body.extend(format!("{begin}\"{name}\"\r\n\r\n{text}\r\n").bytes());
    }
    body.extend(format!("{begin}\"photo\"; {head}\r\n\r\n").bytes());
    body.extend(file);
    body.extend(format!("\r\n--{BOUNDARY}--\r\n").bytes());
    let kind = ContentType::new("multipart", "form-data").with_params(("boundary", BOUNDARY));
    client.post(address).header(kind).body(body)
}

pub(crate) fn send<'c>(
    siaga: &'c Siaga,
    address: &'c str,
    fields: &[(&str, &str)],
    file: Option<&[u8]>,
) -> LocalResponse<'c> {
    form(&siaga.client, address, fields, file).dispatch()
}

/// Sends a form as the script of the page does; returns the status and the body of the response.
pub(crate) fn send_by_script(
    siaga: &Siaga,
    address: &str,
    fields: &[(&str, &str)],
    file: Option<&[u8]>,
) -> (u16, Value) {
    let response = form(&siaga.client, address, fields, file).header(Accept::JSON).dispatch();
    (response.status().code, json_of(response))
}

/// Returns the fields of a flood with overrides; the last field of a name wins.
pub(crate) fn flood<'a>(others: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let remaining = FLOOD.into_iter().filter(|(name, _)| others.iter().all(|(other, _)| other != name));
    remaining.chain(others.iter().copied()).collect()
}

pub(crate) fn card(siaga: &Siaga, language: &str) -> String {
    let holder = json!({ "username": "Ani", "network": "telegram", "language": language });
    let created = json_of(siaga.request(Method::Post, "/v1/cards", holder.to_string()));
    created["cardId"].as_str().unwrap().to_owned()
}

pub(crate) fn newest(siaga: &Siaga) -> Value {
    properties(&siaga.result("/v1/reports"))[0].clone()
}

pub(crate) fn count(siaga: &Siaga) -> usize {
    properties(&siaga.result("/v1/reports")).len()
}

/// Waits until the newest report shows its photo.
pub(crate) fn shows_its_photo(siaga: &Siaga) {
    let shown = || newest(siaga)["image_url"].clone();
    eventually_blocking("the photo is shown", LONG, shown, |url| !url.is_null());
}

/// Returns the path and query of the upload address.
pub(crate) fn upload_path(invitation: LocalResponse<'_>) -> String {
    let invitation = json_of(invitation);
    let address = invitation["signedRequest"].as_str().unwrap_or_else(|| panic!("{invitation}"));
    address.strip_prefix("http://localhost").unwrap().to_owned()
}

/// Sends a photo to such an address.
pub(crate) fn upload(siaga: &Siaga, address: &str) {
    let sent = siaga.client.put(address).header(ContentType::JPEG).body(photo(40, 30, 1)).dispatch();
    assert_eq!(sent.status(), Status::Ok, "{address}");
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
    let token = format!("{number:032x}");
    let fields: Vec<_> = flood(fields).into_iter().chain([("token", &*token)]).collect();
    let mut request = form(client, "/report", &fields, None).header(Accept::JSON);
    for (name, value) in headers {
        request = request.header(Header::new(*name, (*value).to_owned()));
    }
    let response = request.remote(SocketAddr::new(address.parse().unwrap(), 4711)).dispatch();
    (response.status().code, json_of(response))
}
