//! Reports of residents with their photos, and how moderators hide and erase them.

use serde_json::{Value, json};

use super::{Operation, SOON, Site};
use crate::eventually::eventually_blocking;
use crate::photos::photo;
use crate::running::upload_path;

#[derive(Debug)]
pub(super) struct Card {
    id: String,
    /// The key of its report.
    report: String,
    /// Where its photo is uploaded.
    upload: String,
}

impl Card {
    fn new(site: &Site) -> Self {
        let holder = json!({ "username": "u", "network": "n", "language": "id" });
        let created = site.server().expect_ok("POST", "/v1/cards", &holder);
        let id = created["cardId"].as_str().unwrap().to_owned();
        Self { id, report: String::new(), upload: String::new() }
    }

    /// Makes a card with a report, which can have a photo.
    fn with_report(site: &Site) -> Self {
        let card = Self::new(site);
        assert_eq!(card.send(site), 200);
        let report = site.get(&format!("/v1/cards/{}", card.id))["report_id"].as_str().unwrap().to_owned();
        let images = format!("/v1/cards/{}/images", card.id);
        let invitation = site.server().expect_ok("GET", &images, &Value::Null);
        Self { report, upload: upload_path(&invitation), ..card }
    }

    fn with_photo(site: &Site) -> Self {
        let card = Self::with_report(site);
        assert_eq!(card.upload(site), 200);
        eventually_blocking("the photo is shown", SOON, || card.is_photo_shown(site), |shown| *shown);
        card
    }

    /// Sends its report.
    fn send(&self, site: &Site) -> u16 {
        let report = json!({ "card_data": { "report_type": "wind" }, "created_at": chrono::Utc::now(),
                             "location": { "lat": 0.5, "lng": 0.5 } });
        site.status("PUT", &format!("/v1/cards/{}", self.id), &report)
    }

    fn upload(&self, site: &Site) -> u16 {
        let response = site.server().upload(&self.upload, &photo(64, 48, 1));
        response.split(' ').nth(1).unwrap().parse().unwrap()
    }

    fn listed(&self, site: &Site) -> Vec<Value> {
        site.reports().into_iter().filter(|report| report["url"] == *self.id).collect()
    }

    fn is_found(&self, site: &Site) -> bool {
        site.has(&format!("/v1/reports/{}", self.report))
    }

    /// Whether its report has the photo, whole.
    fn is_photo_shown(&self, site: &Site) -> bool {
        let is_named = self.listed(site).first().is_some_and(|report| report["image_url"].is_string());
        is_named && self.is_photo_public(site)
    }

    fn is_photo_public(&self, site: &Site) -> bool {
        let address = format!("/v1/images/{}.jpg", self.id);
        let connection = site.server().begin(&format!("GET {address} HTTP/1.0\r\n\r\n"), b"");
        let mut response = Vec::new();
        std::io::Read::read_to_end(&mut { connection }, &mut response).unwrap();
        let is_shown = response.starts_with(b"HTTP/1.1 200") || response.starts_with(b"HTTP/1.0 200");
        assert!(!is_shown || response.ends_with(&[0xFF, 0xD9]), "a photo by half");
        is_shown
    }
}

pub(super) struct Report;

impl Operation for Report {
    type Subject = Card;

    fn prepare(&self, site: &mut Site, _: usize) -> Card {
        Card::new(site)
    }

    fn attempt(&self, site: &mut Site, card: &Card) -> bool {
        [200, 409].contains(&card.send(site))
    }

    fn parts(&self, site: &Site, card: &Card) -> Vec<bool> {
        let listed = card.listed(site).len();
        assert!(listed < 2, "{listed} reports of a card");
        let found = site.get(&format!("/v1/cards/{}", card.id));
        vec![listed == 1, found["received"] == true, found["report_id"].is_string()]
    }
}

pub(super) struct Photo;

impl Operation for Photo {
    type Subject = Card;

    fn prepare(&self, site: &mut Site, _: usize) -> Card {
        Card::with_report(site)
    }

    fn attempt(&self, site: &mut Site, card: &Card) -> bool {
        // 403: a photo was sent to this address.
        let is_sent = [200, 403].contains(&card.upload(site));
        let is_shown = || card.is_photo_shown(site) || site.has_failed();
        if is_sent && site.is_armed() {
            eventually_blocking("the photo is shown", SOON, is_shown, |shown| *shown);
        }
        is_sent
    }

    fn parts(&self, site: &Site, card: &Card) -> Vec<bool> {
        // It is published later, but never by half.
        card.is_photo_public(site);
        vec![]
    }

    fn has_settled(&self, site: &Site, card: &Card) -> bool {
        card.is_photo_shown(site)
    }
}

pub(super) struct Hiding;

impl Operation for Hiding {
    type Subject = Card;

    fn prepare(&self, site: &mut Site, _: usize) -> Card {
        Card::with_photo(site)
    }

    fn attempt(&self, site: &mut Site, card: &Card) -> bool {
        let target = format!("/v1/reports/{}/visibility", card.report);
        let is_hidden = site.status("PUT", &target, &json!({ "hidden": true, "reason": "a face" })) == 200;
        assert!(
            !is_hidden || !card.is_found(site) && card.listed(site).is_empty(),
            "a hidden report is shown"
        );
        is_hidden
    }

    fn parts(&self, site: &Site, card: &Card) -> Vec<bool> {
        vec![!card.is_found(site), card.listed(site).is_empty()]
    }

    fn has_settled(&self, site: &Site, card: &Card) -> bool {
        !card.is_photo_public(site)
    }
}

pub(super) struct Erasure;

impl Operation for Erasure {
    type Subject = Card;

    fn prepare(&self, site: &mut Site, _: usize) -> Card {
        Card::with_photo(site)
    }

    fn attempt(&self, site: &mut Site, card: &Card) -> bool {
        let is_erased = site.run(&["reports", "erase", &card.report, "--reason", "a test"]).is_ok();
        let is_gone = || !card.is_photo_public(site) || site.has_failed();
        if is_erased && site.is_armed() {
            eventually_blocking("the photo is gone", SOON, is_gone, |gone| *gone);
        }
        is_erased
    }

    fn parts(&self, site: &Site, card: &Card) -> Vec<bool> {
        let is_card_gone = !site.has(&format!("/v1/cards/{}", card.id));
        [Hiding.parts(site, card), vec![is_card_gone]].concat()
    }

    fn has_settled(&self, site: &Site, card: &Card) -> bool {
        Hiding.has_settled(site, card)
    }
}
