//! Cards whose identifier is the permission (`cards.open`), and photos before the report.

use std::time::Duration;

use rocket::http::{Header, Method, Status};
use rocket::local::blocking::LocalResponse;
use serde_json::{Value, json};

use crate::suite::eventually::{LONG, eventually_blocking};
use crate::suite::form::{newest, open, started, upload, upload_path};
use crate::suite::support::{ADMIN_KEY, Siaga, json_of, key, properties};

const TOKEN: &str = "X-Photo-Token";

fn card(siaga: &Siaga) -> String {
    format!("/v1/cards/{}", siaga.card())
}

fn report(siaga: &Siaga) -> String {
    let created_at = siaga.now().to_string();
    json!({ "disaster_type": "flood", "card_data": { "report_type": "flood", "flood_depth": 40 },
            "created_at": created_at, "location": { "lat": -6.195, "lng": 106.805 } })
    .to_string()
}

fn send<'c>(siaga: &'c Siaga, method: Method, address: &'c str, body: impl AsRef<[u8]>) -> LocalResponse<'c> {
    siaga.client.req(method, address).body(body).dispatch()
}

fn status(siaga: &Siaga, method: Method, address: &str) -> u16 {
    send(siaga, method, address, "{}").status().code
}

fn shows_the_photo_of(siaga: &Siaga, card: &str) {
    let photo = format!("http://localhost{}.jpg", card.replace("/cards/", "/images/"));
    eventually_blocking(
        "the photo is shown",
        LONG,
        || newest(siaga)["image_url"].clone(),
        |url| *url == photo,
    );
    let file = siaga.get(photo.strip_prefix("http://localhost").unwrap()).status();
    assert_eq!(file, Status::Ok);
}

#[test]
fn the_requests_of_petabencanas_card_app_without_a_key_publish_the_photo() {
    let siaga = started(open());
    let card = card(&siaga);
    let found = json_of(send(&siaga, Method::Get, &card, ""));
    assert_eq!((&found["result"]["received"], &found["result"]["username"]), (&json!(false), &json!("")));
    assert_eq!(found["result"]["network"], "telegram");
    let images = format!("{card}/images");
    let invitation = siaga.client.get(&*images).header(Header::new("Content-Type", "image/jpeg"));
    upload(&siaga, &upload_path(invitation.dispatch()));
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
fn a_photo_uploaded_after_the_report_to_an_earlier_address_is_published() {
    let siaga = started(open());
    let card = card(&siaga);
    let address = upload_path(send(&siaga, Method::Get, &format!("{card}/images"), ""));
    assert_eq!(send(&siaga, Method::Put, &card, report(&siaga)).status(), Status::Ok);
    upload(&siaga, &address);
    shows_the_photo_of(&siaga, &card);
}

#[test]
fn after_the_report_the_identifier_only_allows_public_reads() {
    let siaga = started(open());
    let (other, card) = (card(&siaga), card(&siaga));
    let images = format!("{card}/images");
    let of_other = send(&siaga, Method::Put, &other, report(&siaga));
    let of_other = of_other.headers().get_one(TOKEN).unwrap().to_owned();
    let sent = send(&siaga, Method::Put, &card, report(&siaga));
    let token = sent.headers().get_one(TOKEN).unwrap().to_owned();
    assert_eq!(token.len(), 64, "256 bits");
    // Public responses have only the identifier.
    assert!(card.ends_with(newest(&siaga)["url"].as_str().unwrap()));
    let all = [Method::Get, Method::Head, Method::Put, Method::Patch];
    assert_eq!(all.map(|method| status(&siaga, method, &card)), [200, 200, 409, 200]);
    assert_eq!(status(&siaga, Method::Get, &images), 403);
    let with =
        |token: &str| siaga.client.get(&*images).header(Header::new(TOKEN, token.to_owned())).dispatch();
    for wrong in ["", "x", &token[..62], &"0".repeat(64), &of_other] {
        assert_eq!(with(wrong).status(), Status::Forbidden, "{wrong}");
    }
    upload(&siaga, &upload_path(with(&token)));
    shows_the_photo_of(&siaga, &card);
    assert_eq!(status(&siaga, Method::Get, &images), 403);
}

#[test]
fn an_expired_card_looks_unknown_and_a_used_one_expires_only_for_photos() {
    let siaga = started(open().merge(("siaga.cards.open_for", "1h")));
    let (expired, used) = (card(&siaga), card(&siaga));
    let sent = send(&siaga, Method::Put, &used, report(&siaga));
    let token = Header::new(TOKEN, sent.headers().get_one(TOKEN).unwrap().to_owned());
    let images = format!("{used}/images");
    let with_token = || siaga.client.get(&*images).header(token.clone()).dispatch().status();
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
    siaga.pass(Duration::from_millis(3_600_000 - 1));
    assert_eq!((status(&siaga, Method::Get, &expired), with_token()), (200, Status::Ok), "until then");
    siaga.pass(Duration::from_millis(1));
    let unknown = all("/v1/cards/abcdefghijklmn");
    assert!(unknown.iter().all(|(status, _)| *status == 404), "{unknown:?}");
    assert_eq!(all(&expired), unknown);
    assert_eq!(all(&used).map(|(status, _)| status), [200, 200, 409, 200, 403]);
    assert_eq!(with_token(), Status::Forbidden);
    assert_eq!(siaga.request(Method::Get, &images, "").status(), Status::Ok, "with a credential");
    assert_eq!(
        siaga.request(Method::Put, &expired, report(&siaga)).status(),
        Status::Ok,
        "with a credential"
    );
}

#[test]
fn an_open_card_gives_no_access_to_others_and_a_bad_key_to_none() {
    let siaga = started(open());
    assert_eq!(status(&siaga, Method::Post, "/v1/cards"), 403, "the identifier permits to make no card");
    let with_bad_key = siaga.client.get("/v1/cards/fresh-card").header(key("wrong")).dispatch();
    assert_eq!(with_bad_key.status(), Status::Forbidden);
    let named = json_of(siaga.request(Method::Get, "/v1/cards/fresh-card", ""));
    assert_ne!(named["result"]["username"], "");
}

#[test]
fn a_credential_sends_the_photo_first_if_that_is_configured() {
    let siaga = Siaga::with_setting("siaga.cards.photo_first", true);
    let card = card(&siaga);
    let images = format!("{card}/images");
    assert_eq!(status(&siaga, Method::Get, &images), 403, "only with a credential");
    let before = siaga.request(Method::Patch, &card, "{}");
    assert_eq!(before.status(), Status::Conflict, "neither a report nor a photo");
    upload(&siaga, &upload_path(siaga.request(Method::Get, &images, "")));
    assert_eq!(siaga.request(Method::Patch, &card, "{}").status(), Status::Ok, "a photo waits");
    assert_eq!(siaga.request(Method::Get, &images, "").status(), Status::Conflict);
    let sent = siaga.request(Method::Put, &card, report(&siaga));
    assert_eq!((sent.status(), sent.headers().get_one(TOKEN)), (Status::Ok, None));
    shows_the_photo_of(&siaga, &card);
}

#[test]
fn a_confirmation_is_404_for_an_unknown_card_and_needs_json() {
    let siaga = started(open());
    assert_eq!(siaga.request(Method::Patch, "/v1/cards/unknown", "{}").status(), Status::NotFound);
    assert_eq!(siaga.request(Method::Patch, "/v1/cards/used-card", "{}").status(), Status::Ok);
    assert_eq!(siaga.request(Method::Patch, "/v1/cards/used-card", "rubbish").status(), Status::BadRequest);
}

#[test]
fn guessing_identifiers_blocks_an_address_for_cards_only() {
    let figment = open()
        .merge(("siaga.quota.unknown_cards", 20))
        .merge(("siaga.quota.per_second", 0))
        .merge(("siaga.quota.per_day", 0));
    let siaga = started(figment);
    let card = card(&siaga);
    let guess = |number: u32| siaga.get_from("192.0.2.1", &format!("/v1/cards/guess-{number:08}")).status();
    // One guess refills every 3 s, and this machine may be slow.
    let guesses = (0..200).take_while(|&number| guess(number) == Status::NotFound).count();
    assert!((20..200).contains(&guesses), "{guesses}");
    let refused = siaga.get_from("192.0.2.1", &card);
    assert_eq!(refused.status(), Status::TooManyRequests, "a known card could be a guess, too");
    let wait: u64 = refused.headers().get_one("Retry-After").unwrap().parse().unwrap();
    assert!((1..=3).contains(&wait), "{wait}");
    for other in ["/v1/floods/states", "/report", "/map"] {
        assert_eq!(siaga.get_from("192.0.2.1", other).status(), Status::Ok, "{other}");
    }
    assert_eq!(siaga.get_from("192.0.2.2", &card).status(), Status::Ok);
    let peer = "192.0.2.1:4711".parse().unwrap();
    let with_key = siaga.client.get(&*card).remote(peer).header(key(ADMIN_KEY)).dispatch();
    assert_eq!(with_key.status(), Status::Ok);
}

#[test]
fn a_report_by_an_open_card_is_accepted_for_any_time_and_place_and_reviewed_if_outside() {
    let siaga = started(open());
    let time = siaga.now();
    let cards: Vec<String> = (0..5).map(|_| card(&siaga)).collect();
    siaga.clock.set(time.saturating_add(Duration::from_mins(30)));
    let (here, half) = ([-6.195, 106.805], time.saturating_add(Duration::from_mins(10)).to_string());
    for (card, (created_at, [lat, lng], shown)) in cards.iter().zip([
        (&*half, here, Some(json!(half))),
        ("2099-01-01T00:00:00Z", here, Some(json!(siaga.now()))),
        // Not before its link.
        ("1970-01-01T00:00:00Z", here, Some(json!(time))),
        // These wait for review.
        (&half, [48.1, 11.5], None),
        (&half, [0.0, 0.0], None),
    ]) {
        let mut body: Value = serde_json::from_str(&report(&siaga)).unwrap();
        body["created_at"] = json!(created_at);
        body["location"] = json!({ "lat": lat, "lng": lng });
        assert_eq!(send(&siaga, Method::Put, card, body.to_string()).status(), Status::Ok, "{body}");
        let all = properties(&siaga.result("/v1/reports"));
        let found = all.into_iter().find(|report| card.ends_with(report["url"].as_str().unwrap_or("none")));
        assert_eq!(found.map(|report| report["created_at"].clone()), shown, "{body}");
    }
}
