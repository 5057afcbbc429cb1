//! Crashes while images are processed: acknowledged images are published, and none is published partially.

use std::fs;
use std::io::{self, Cursor, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use image::codecs::jpeg::{JpegDecoder, JpegEncoder};
use image::{ImageDecoder, RgbImage};
use serde_json::{Value, json};
use tempfile::TempDir;
use url::Url;

use crate::crashes::Stop;
use crate::dice::Dice;
use crate::eventually::eventually_blocking;
use crate::fixture::block_on;
use crate::port::free_port;
use crate::postgres::Database;
use crate::running::{KEY, Running, request, upload_path};
use crate::service_config::ServiceConfig;

const ROUNDS: u32 = 5;
const CRASHES: u32 = 4;
/// Latest kill after a moment of the uploads.
const LATEST: Duration = Duration::from_millis(300);
/// Limit for the publication of the next image.
const SOON: Duration = Duration::from_secs(15);

/// A photo of noise: some megabytes, and slow to process.
static PHOTO: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut dice = Dice(1);
    let noise = RgbImage::from_fn(1800, 1200, |_, _| [(); 3].map(|()| dice.below(256) as u8).into());
    let mut file = Vec::new();
    JpegEncoder::new(&mut file).encode_image(&noise).unwrap();
    file
});

/// The database and folder shared by servers.
struct Site {
    database: Database,
    folder: TempDir,
}

impl Site {
    fn new() -> Self {
        Self { database: block_on(Database::empty()), folder: tempfile::tempdir().unwrap() }
    }

    fn start(&self, port: u16) -> Running {
        let folder = Url::from_directory_path(self.folder.path()).unwrap();
        ServiceConfig::in_database(&self.database.url())
            .with("SIAGA_IMAGES__URL", folder.as_str())
            .with("SIAGA_IMAGES__MAX_SIDE", "640")
            .with("SIAGA_BASE_URL", &format!("http://127.0.0.1:{port}/v1"))
            .with("ROCKET_PORT", &port.to_string())
            .start()
    }

    /// The waiting uploads of a card, without incomplete ones.
    fn waiting(&self, card: &str) -> Vec<PathBuf> {
        let Ok(files) = fs::read_dir(self.folder.path().join("uploads")) else { return Vec::new() };
        let whole = files.map(|file| file.unwrap().path()).filter(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            name.starts_with(&format!("{card}.")) && !name.contains('#')
        });
        whole.collect()
    }
}

/// A card with a report.
struct Card {
    id: String,
    report: String,
    /// The path of its upload address.
    upload: String,
}

impl Card {
    fn new(server: &Running) -> Self {
        let holder = json!({ "username": "u", "network": "n", "language": "id" });
        let id = server.expect_ok("POST", "/v1/cards", &holder)["cardId"].as_str().unwrap().to_owned();
        let report = json!({ "card_data": { "report_type": "wind" }, "created_at": "2016-12-19T15:00:00Z",
                             "location": { "lat": 0.5, "lng": 0.5 } });
        server.expect_ok("PUT", &format!("/v1/cards/{id}"), &report);
        let card = server.expect_ok("GET", &format!("/v1/cards/{id}"), &Value::Null);
        let report = card["result"]["report_id"].as_str().unwrap().to_owned();
        let invitation = server.expect_ok("GET", &format!("/v1/cards/{id}/images"), &Value::Null);
        Self { id, report, upload: upload_path(&invitation) }
    }

    /// Sends the photo with pauses; returns whether it was acknowledged.
    fn send(&self, authority: &str, rest: Duration) -> bool {
        let headers = format!("Content-Type: image/jpeg\r\nContent-Length: {}\r\n\r\n", PHOTO.len());
        let sent = || {
            let mut connection = TcpStream::connect(authority)?;
            connection.write_all(request(authority, "PUT", &self.upload, &headers).as_bytes())?;
            for part in PHOTO.chunks(256 << 10) {
                connection.write_all(part)?;
                thread::sleep(rest);
            }
            let mut response = Vec::new();
            connection.read_to_end(&mut response)?;
            io::Result::Ok(response.starts_with(b"HTTP/1.1 200 "))
        };
        sent().unwrap_or(false)
    }

    fn image_url(&self, server: &Running) -> Value {
        let report = server.expect_ok("GET", &format!("/v1/reports/{}", self.report), &Value::Null);
        report["result"]["objects"]["output"]["geometries"][0]["properties"]["image_url"].clone()
    }

    /// The image, if complete.
    fn image(&self, authority: &str) -> Option<Vec<u8>> {
        let mut connection = TcpStream::connect(authority).ok()?;
        let target = format!("/v1/images/{}.jpg", self.id);
        connection.write_all(request(authority, "GET", &target, "\r\n").as_bytes()).ok()?;
        let mut response = Vec::new();
        connection.read_to_end(&mut response).ok()?;
        let end = response.windows(4).position(|part| part == b"\r\n\r\n")?;
        let body = response.split_off(end + 4);
        let head = String::from_utf8(response).unwrap().to_ascii_lowercase();
        let length = head.split("content-length: ").nth(1)?.lines().next()?.parse();
        (head.starts_with("http/1.1 200 ") && length == Ok(body.len())).then_some(body)
    }

    /// Polls the image until stopped.
    fn watch(&self, authority: &str, going: &AtomicBool) {
        let mut known = Vec::new();
        while going.load(Ordering::Relaxed) {
            if let Some(file) = self.image(authority).filter(|file| *file != known) {
                assert_whole(&file);
                known = file;
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Asserts that a file is the complete scaled photo.
fn assert_whole(file: &[u8]) {
    assert_eq!(JpegDecoder::new(Cursor::new(file)).unwrap().dimensions(), (640, 427));
    image::load_from_memory(file).unwrap();
    // The decoder tolerates a missing end.
    assert!(file.ends_with(&[0xFF, 0xD9]), "the image has an end");
}

/// Waits until the reports have the images of these cards, each within the limit.
fn assert_shown<'c>(server: &Running, cards: impl IntoIterator<Item = &'c Card>) {
    for card in cards {
        let url = || card.image_url(server);
        let url = eventually_blocking("the image is shown", SOON, url, |url| *url != Value::Null);
        assert!(url.as_str().unwrap().ends_with(&format!("/images/{}.jpg", card.id)));
        assert_whole(&card.image(&server.authority).unwrap());
    }
}

/// Kills a server during one fast and some slow uploads: some time after they began or after
/// the first was acknowledged. Returns the cards and whether their uploads were acknowledged.
fn killed_amid_uploads(mut server: Running, moment: Duration, received: bool) -> Vec<(Card, bool)> {
    let cards = [0, 3, 15].map(|rest| (Card::new(&server), Duration::from_millis(rest)));
    let (going, authority) = (AtomicBool::new(true), server.authority.clone());
    let (going, authority) = (&going, &*authority);
    let outcomes = thread::scope(|scope| {
        let stop = Stop(going);
        let sending = cards.iter().map(|(card, rest)| scope.spawn(|| card.send(authority, *rest)));
        let mut sending: Vec<_> = sending.collect();
        let mut outcomes = Vec::new();
        if received {
            outcomes.push(sending.remove(0).join().unwrap());
        }
        for (card, _) in &cards {
            scope.spawn(|| card.watch(authority, going));
        }
        // Another moment in each round.
        thread::sleep(moment);
        server.process.kill().unwrap();
        outcomes.extend(sending.into_iter().map(|sent| sent.join().unwrap()));
        drop(stop);
        outcomes
    });
    cards.into_iter().map(|(card, _)| card).zip(outcomes).collect()
}

#[test]
fn every_acknowledged_image_is_published_complete_after_the_service_was_killed() {
    let (site, port) = (Site::new(), free_port());
    let (mut acknowledged, mut torn) = (0, 0);
    for round in 0..ROUNDS {
        let mut sent = Vec::new();
        for crash in 0..CRASHES {
            let number = round * CRASHES + crash;
            let moment = LATEST * number / (ROUNDS * CRASHES);
            sent.extend(killed_amid_uploads(site.start(port), moment, number % 2 == 1));
        }

        let server = site.start(port);
        let (done, lost): (Vec<_>, Vec<_>) = sent.iter().partition(|(_, acknowledged)| *acknowledged);
        let shown = done.iter().map(|(card, _)| card.image_url(&server) != Value::Null);
        let shown: Vec<_> = shown.collect();
        let going = AtomicBool::new(true);
        thread::scope(|scope| {
            let _stop = Stop(&going);
            for (card, _) in &done {
                scope.spawn(|| card.watch(&server.authority, &going));
            }
            assert_shown(&server, done.iter().map(|(card, _)| card));
            // An upload whose image was already published may remain for a day.
            for ((card, _), _) in done.iter().zip(shown).filter(|(_, shown_before)| !shown_before) {
                let waiting = || site.waiting(&card.id);
                eventually_blocking("no upload is left", SOON, waiting, Vec::is_empty);
            }
            // A card without an acknowledged upload has its image, or accepts another.
            for (card, _) in &lost {
                match server.request_json(KEY, "GET", &format!("/v1/cards/{}/images", card.id), &Value::Null)
                {
                    (200, _) => {}
                    (409, _) => assert_shown(&server, [card]),
                    other => panic!("{other:?}"),
                }
            }
        });
        acknowledged += done.len();
        torn += lost.len();
    }
    assert!(acknowledged > 0 && torn > 0, "{acknowledged} were acknowledged, {torn} were not");
}

#[test]
fn another_server_finishes_the_images_of_a_killed_one() {
    let site = Site::new();
    let other = site.start(free_port());
    for round in 0..4 {
        let mut server = site.start(free_port());
        let cards = [(); 4].map(|()| Card::new(&server));
        let authority = server.authority.clone();
        thread::scope(|scope| {
            let sent = cards.each_ref().map(|card| scope.spawn(|| card.send(&authority, Duration::ZERO)));
            assert_eq!(sent.map(|sent| sent.join().unwrap()), [true; 4]);
        });
        // Another moment in each round.
        thread::sleep(Duration::from_millis(100 * round));
        server.process.kill().unwrap();
        assert_shown(&other, &cards);
    }
}
