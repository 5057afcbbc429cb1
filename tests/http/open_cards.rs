//! Cards whose identifier is the permission (`cards.open`), and photos before the report.

use std::net::SocketAddr;
use std::time::Duration;

use rocket::http::{Header, Method, Status};
use rocket::local::blocking::LocalResponse;
use serde_json::{Value, json};

use crate::suite::eventually::{LONG, eventually_blocking};
use crate::suite::photos::photo;
use crate::suite::support::{ADMIN_KEY, Siaga, figment, json_of, key, properties};

const TOKEN: &str = "X-Photo-Token";

fn open() -> Siaga {
    Siaga::with_setting("siaga.cards.open", true)
}

/// Returns the address of a new card.
fn card(siaga: &Siaga) -> String {
    format!("/v1/cards/{}", siaga.card())
}

fn report(siaga: &Siaga) -> String {
    let created_at = siaga.now().to_string();
    json!({ "disaster_type": "flood", "card_data": { "report_type": "flood", "flood_depth": 40 },
            "created_at": created_at, "location": { "lat": -6.195, "lng": 106.805 } })
    .to_string()
}

/// A request without a credential.
fn send<'c>(siaga: &'c Siaga, method: Method, address: &'c str, body: impl AsRef<[u8]>) -> LocalResponse<'c> {
    siaga.client.req(method, address).body(body).dispatch()
}

fn status(siaga: &Siaga, method: Method, address: &str) -> u16 {
    send(siaga, method, address, "{}").status().code
}

/// The path and query of the address to upload a photo to.
fn address(invitation: LocalResponse<'_>) -> String {
    assert_eq!(invitation.status(), Status::Ok);
    let invitation = json_of(invitation);
    invitation["signedRequest"].as_str().unwrap().strip_prefix("http://localhost").unwrap().to_owned()
}

fn upload(siaga: &Siaga, address: &str) {
    let kind = Header::new("Content-Type", "image/jpeg");
    let sent = siaga.client.put(address).header(kind).body(photo(40, 30, 1)).dispatch();
    assert_eq!(sent.status(), Status::Ok);
}

/// Returns the image of the newest report.
fn image(siaga: &Siaga) -> Value {
    properties(&siaga.result("/v1/reports"))[0]["image_url"].clone()
}

fn shows_the_photo_of(siaga: &Siaga, card: &str) {
    let photo = format!("http://localhost{}.jpg", card.replace("/cards/", "/images/"));
    eventually_blocking("the photo is shown", LONG, || image(siaga), |url| *url == photo);
    let file = siaga.get(photo.strip_prefix("http://localhost").unwrap()).status();
    assert_eq!(file, Status::Ok);
}

#[test]
fn the_requests_of_petabencanas_card_app_in_its_order_and_without_a_key_put_the_photo_on_the_map() {
    let siaga = open();
    let card = card(&siaga);
    let found = json_of(send(&siaga, Method::Get, &card, ""));
    assert_eq!((&found["result"]["received"], &found["result"]["username"]), (&json!(false), &json!("")));
    assert_eq!(found["result"]["network"], "telegram");
    let images = format!("{card}/images");
    let address =
        address(siaga.client.get(&*images).header(Header::new("Content-Type", "image/jpeg")).dispatch());
    upload(&siaga, &address);
    assert_eq!(siaga.get(&card.replace("/cards/", "/images/")).status(), Status::NotFound, "it waits");
    let sent = send(&siaga, Method::Put, &card, report(&siaga));
    assert_eq!(sent.status(), Status::Ok);
    let confirmation = json!({ "image_url": "https://elsewhere.example/photo", "image_type": "image/jpeg" });
    let confirmed = send(&siaga, Method::Patch, &card, confirmation.to_string());
    assert_eq!(confirmed.status(), Status::Ok);
    let id = card.rsplit('/').next().unwrap();
    assert_eq!(json_of(confirmed), json!({ "statusCode": 200, "cardId": id, "updated": true }));
    shows_the_photo_of(&siaga, &card);
}

#[test]
fn a_photo_that_arrives_after_the_report_at_an_address_from_before_it_is_shown() {
    let siaga = open();
    let card = card(&siaga);
    let images = format!("{card}/images");
    let address = address(send(&siaga, Method::Get, &images, ""));
    assert_eq!(send(&siaga, Method::Put, &card, report(&siaga)).status(), Status::Ok);
    upload(&siaga, &address);
    shows_the_photo_of(&siaga, &card);
}

#[test]
fn after_the_report_the_identifier_permits_only_what_is_public() {
    let siaga = open();
    let card = card(&siaga);
    let images = format!("{card}/images");
    let sent = send(&siaga, Method::Put, &card, report(&siaga));
    let token = sent.headers().get_one(TOKEN).unwrap().to_owned();
    assert_eq!(token.len(), 64, "256 bits");
    // All that readers of reports know.
    let newest = properties(&siaga.result("/v1/reports")).remove(0);
    assert_eq!(format!("/v1/cards/{}", newest["url"].as_str().unwrap()), card);
    assert_eq!(status(&siaga, Method::Get, &card), 200);
    assert_eq!(status(&siaga, Method::Head, &card), 200);
    assert_eq!(status(&siaga, Method::Put, &card), 409);
    assert_eq!(status(&siaga, Method::Patch, &card), 200);
    assert_eq!(status(&siaga, Method::Get, &images), 403);
    let with =
        |token: &str| siaga.client.get(&*images).header(Header::new(TOKEN, token.to_owned())).dispatch();
    for wrong in ["", "x", &token[..62], &"0".repeat(64)] {
        assert_eq!(with(wrong).status(), Status::Forbidden, "{wrong}");
    }
    assert_eq!(with(&token).status(), Status::Ok);
    let other = self::card(&siaga);
    assert_eq!(send(&siaga, Method::Put, &other, report(&siaga)).status(), Status::Ok);
    let other_images = format!("{other}/images");
    let foreign = siaga.client.get(&*other_images).header(Header::new(TOKEN, token.clone())).dispatch();
    assert_eq!(foreign.status(), Status::Forbidden, "the token is of another card");
    upload(&siaga, &address(with(&token)));
    let of_card = |siaga: &Siaga| {
        let reports = properties(&siaga.result("/v1/reports"));
        reports.iter().any(|of| card.ends_with(of["url"].as_str().unwrap()) && !of["image_url"].is_null())
    };
    eventually_blocking("the photo is shown", LONG, || of_card(&siaga), |shown| *shown);
    assert_eq!(status(&siaga, Method::Get, &images), 403);
}

#[test]
fn a_photo_token_ends_with_the_time_of_its_card() {
    let siaga = open();
    let card = card(&siaga);
    let sent = send(&siaga, Method::Put, &card, report(&siaga));
    let token = sent.headers().get_one(TOKEN).unwrap().to_owned();
    let images = format!("{card}/images");
    siaga.pass(Duration::from_hours(24));
    let late = siaga.client.get(&*images).header(Header::new(TOKEN, token)).dispatch();
    assert_eq!(late.status(), Status::Forbidden);
    assert_eq!(siaga.ask(Method::Get, &images, "").status(), Status::Ok, "with a credential");
}

#[test]
fn an_expired_card_looks_like_an_unknown_one_and_a_used_one_does_not_expire() {
    let siaga = open();
    let (expired, used) = (card(&siaga), card(&siaga));
    assert_eq!(send(&siaga, Method::Put, &used, report(&siaga)).status(), Status::Ok);
    let all = |card: &str| {
        [
            (Method::Get, ""),
            (Method::Head, ""),
            (Method::Put, ""),
            (Method::Patch, ""),
            (Method::Get, "/images"),
        ]
        .map(|(method, rest)| {
            let address = format!("{card}{rest}");
            let response = send(&siaga, method, &address, "{}");
            let id = card.rsplit('/').next().unwrap();
            (response.status().code, response.into_string().unwrap_or_default().replace(id, "ID"))
        })
    };
    siaga.pass(Duration::from_millis(24 * 3_600_000 - 1));
    assert_eq!(status(&siaga, Method::Get, &expired), 200, "until then");
    siaga.pass(Duration::from_millis(1));
    let unknown = all("/v1/cards/abcdefghijklmn");
    assert!(unknown.iter().all(|(status, _)| *status == 404), "{unknown:?}");
    assert_eq!(all(&expired), unknown);
    assert_eq!(all(&used).map(|(status, _)| status), [200, 200, 409, 200, 403]);
    assert_eq!(siaga.ask(Method::Put, &expired, report(&siaga)).status(), Status::Ok, "with a credential");
}

#[test]
fn how_long_a_card_is_open_is_configured() {
    let figment = figment().merge(("siaga.cards.open", true)).merge(("siaga.cards.open_for", "1h"));
    let siaga = Siaga::with(figment, |builder| builder);
    let card = card(&siaga);
    siaga.pass(Duration::from_mins(59));
    assert_eq!(status(&siaga, Method::Get, &card), 200);
    siaga.pass(Duration::from_mins(1));
    assert_eq!(status(&siaga, Method::Get, &card), 404);
}

#[test]
fn an_open_card_permits_no_other_and_a_bad_key_permits_nothing() {
    let refused = status(&open(), Method::Post, "/v1/cards");
    assert_eq!(refused, 403, "the identifier never permits to make a card");
    let bad = open();
    let with_bad_key = bad.client.get("/v1/cards/fresh-card").header(key("wrong")).dispatch();
    assert_eq!(with_bad_key.status(), Status::Forbidden);
    let named = json_of(bad.client.get("/v1/cards/fresh-card").header(key(ADMIN_KEY)).dispatch());
    assert_ne!(named["result"]["username"], "");
}

#[test]
fn a_credential_sends_the_photo_first_if_that_is_configured() {
    let siaga = Siaga::with_setting("siaga.cards.photo_first", true);
    let card = card(&siaga);
    let images = format!("{card}/images");
    assert_eq!(status(&siaga, Method::Get, &images), 403, "only with a credential");
    let before = siaga.ask(Method::Patch, &card, "{}");
    assert_eq!(before.status(), Status::Conflict, "neither a report nor a photo");
    upload(&siaga, &address(siaga.ask(Method::Get, &images, "")));
    assert_eq!(siaga.ask(Method::Patch, &card, "{}").status(), Status::Ok, "a photo waits");
    assert_eq!(siaga.ask(Method::Get, &images, "").status(), Status::Conflict);
    let sent = siaga.ask(Method::Put, &card, report(&siaga));
    assert_eq!((sent.status(), sent.headers().get_one(TOKEN)), (Status::Ok, None));
    shows_the_photo_of(&siaga, &card);
}

#[test]
fn a_confirmation_is_404_for_an_unknown_card_and_needs_json() {
    let siaga = open();
    assert_eq!(siaga.ask(Method::Patch, "/v1/cards/unknown", "{}").status(), Status::NotFound);
    assert_eq!(siaga.ask(Method::Patch, "/v1/cards/used-card", "{}").status(), Status::Ok);
    assert_eq!(siaga.ask(Method::Patch, "/v1/cards/used-card", "rubbish").status(), Status::BadRequest);
}

#[test]
fn who_guesses_identifiers_is_refused_for_cards_and_for_nothing_else() {
    let figment = figment()
        .merge(("siaga.cards.open", true))
        .merge(("siaga.quota.unknown_cards", 20))
        .merge(("siaga.quota.per_second", 0))
        .merge(("siaga.quota.per_day", 0));
    let siaga = Siaga::with(figment, |builder| builder);
    let card = card(&siaga);
    let from = |host: &str, address: &str| {
        let peer = SocketAddr::new(host.parse().unwrap(), 4711);
        siaga.client.get(address.to_owned()).remote(peer).dispatch()
    };
    let guesses =
        (0..).map(|number| from("192.0.2.1", &format!("/v1/cards/guess-{number:08}")).status().code);
    // One comes back each 3 seconds, and this machine may be slow.
    let first: Vec<u16> = guesses.take(200).take_while(|status| *status == 404).collect();
    assert!((20..200).contains(&first.len()), "{}", first.len());
    let refused = from("192.0.2.1", &card);
    assert_eq!(refused.status(), Status::TooManyRequests, "a known card could be a guess, too");
    let wait: u64 = refused.headers().get_one("Retry-After").unwrap().parse().unwrap();
    assert!((1..=3).contains(&wait), "{wait}");
    for other in ["/v1/floods/states", "/report", "/map"] {
        assert_eq!(from("192.0.2.1", other).status(), Status::Ok, "{other}");
    }
    assert_eq!(from("192.0.2.2", &card).status(), Status::Ok);
    let peer = SocketAddr::new("192.0.2.1".parse().unwrap(), 4711);
    let with_key = siaga.client.get(&*card).remote(peer).header(key(ADMIN_KEY)).dispatch();
    assert_eq!(with_key.status(), Status::Ok);
}

#[test]
fn a_report_by_an_open_card_is_not_refused_for_its_time_or_place_and_waits_if_it_is_outside() {
    let siaga = open();
    let made = siaga.now();
    let cards: Vec<String> = (0..5).map(|_| card(&siaga)).collect();
    siaga.clock.set(made.after(Duration::from_mins(30)));
    let sent = |card: &str, created_at: &str, [lat, lng]: [f64; 2]| {
        let mut body: Value = serde_json::from_str(&report(&siaga)).unwrap();
        body["created_at"] = json!(created_at);
        body["location"] = json!({ "lat": lat, "lng": lng });
        let status = send(&siaga, Method::Put, card, body.to_string()).status();
        assert_eq!(status, Status::Ok, "{created_at}");
        let id = card.rsplit('/').next().unwrap();
        let all = properties(&siaga.result("/v1/reports"));
        all.into_iter().find(|report| report["url"] == id).map(|report| report["created_at"].clone())
    };
    let here = [-6.195, 106.805];
    let half = made.after(Duration::from_mins(10)).to_string();
    assert_eq!(sent(&cards[0], &half, here), Some(json!(half)));
    assert_eq!(sent(&cards[1], "2099-01-01T00:00:00Z", here), Some(json!(siaga.now())));
    assert_eq!(sent(&cards[2], "1970-01-01T00:00:00Z", here), Some(json!(made)), "not before its link");
    assert_eq!(sent(&cards[3], &half, [48.1, 11.5]), None, "it waits for review");
    assert_eq!(sent(&cards[4], &half, [0.0, 0.0]), None, "it waits for review");
}
