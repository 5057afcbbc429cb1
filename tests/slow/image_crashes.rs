//! Crashes of the service while images are on their way: what was acknowledged is shown, and nothing is shown by half.

use std::fs;
use std::io::Cursor;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use image::codecs::jpeg::JpegEncoder;
use image::{ImageDecoder, RgbImage};
use rocket::futures::future::join_all;
use rocket::tokio::io::{AsyncReadExt, AsyncWriteExt};
use rocket::tokio::net::TcpStream;
use rocket::tokio::sync::watch;
use rocket::tokio::task::JoinHandle;
use rocket::tokio::{self, time};
use serde_json::{Value, json};
use tempfile::TempDir;
use url::Url;

use crate::eventually::eventually;
use crate::fixture::block_on;
use crate::kept::Kept;
use crate::port::free_port;
use crate::postgres::Database;
use crate::running::{KEY, Running};

const ROUNDS: u32 = 5;
/// How often the service is killed in a round.
const CRASHES: u32 = 4;
/// How long after a moment of the uploads it is killed at last.
const LATEST: Duration = Duration::from_millis(300);
/// How long the next image may take to be shown.
const SOON: Duration = Duration::from_secs(15);

/// A photo of noise: of some megabytes, and a while of work.
static PHOTO: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut state = 1_u32;
    let noise = RgbImage::from_fn(1800, 1200, |_, _| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        let [red, green, blue, _] = state.to_le_bytes();
        [red, green, blue].into()
    });
    let mut file = Vec::new();
    JpegEncoder::new(&mut file).encode_image(&noise).unwrap();
    file
});

/// What servers share: a database and a folder.
struct Site {
    database: Database,
    folder: TempDir,
}

impl Site {
    async fn new() -> Self {
        Self { database: Database::empty().await, folder: tempfile::tempdir().unwrap() }
    }

    fn start(&self, port: u16) -> Server {
        let folder = Url::from_directory_path(self.folder.path()).unwrap();
        let base = format!("http://127.0.0.1:{port}/v1");
        let kept = Kept::in_database(&self.database.url())
            .with("SIAGA_IMAGES__URL", folder.as_str())
            .with("SIAGA_IMAGES__MAX_SIDE", "640")
            .with("SIAGA_BASE_URL", &base)
            .with("ROCKET_PORT", &port.to_string());
        Server { process: kept.start(), client: Client::new(base) }
    }

    /// The uploads of a card that wait, without those that never came whole.
    fn waiting(&self, card: &str) -> Vec<PathBuf> {
        let Ok(files) = fs::read_dir(self.folder.path().join("uploads")) else { return Vec::new() };
        let whole = files.map(|file| file.unwrap().path()).filter(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            name.starts_with(&format!("{card}.")) && !name.contains('#')
        });
        whole.collect()
    }
}

struct Server {
    process: Running,
    client: Client,
}

/// What speaks to a server.
#[derive(Clone)]
struct Client {
    http: reqwest::Client,
    base: String,
}

impl Client {
    fn new(base: String) -> Self {
        // The library comes without cryptography, which nothing here needs; an error means that there is one already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(20)).build().unwrap();
        Self { http, base }
    }

    async fn ask(&self, method: reqwest::Method, target: &str, body: &Value) -> (u16, Value) {
        let request = self.http.request(method, format!("{}{target}", self.base)).header("X-Api-Key", KEY);
        let answer = request.body(body.to_string()).send().await.unwrap();
        (answer.status().as_u16(), serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap())
    }

    async fn get(&self, target: &str) -> (u16, Value) {
        self.ask(reqwest::Method::GET, target, &Value::Null).await
    }

    /// A card that has its report.
    async fn card(&self) -> Card {
        let holder = json!({ "username": "u", "network": "n", "language": "id" });
        let (_, card) = self.ask(reqwest::Method::POST, "/cards", &holder).await;
        let id = card["cardId"].as_str().unwrap().to_owned();
        let report = json!({ "card_data": { "report_type": "wind" }, "created_at": "2016-12-19T15:00:00Z",
                             "location": { "lat": 0.5, "lng": 0.5 } });
        assert_eq!(self.ask(reqwest::Method::PUT, &format!("/cards/{id}"), &report).await.0, 200);
        let (_, card) = self.get(&format!("/cards/{id}")).await;
        let report = card["result"]["report_id"].to_string().trim_matches('"').to_owned();
        let (_, invited) = self.get(&format!("/cards/{id}/images")).await;
        let upload = invited["signedRequest"].as_str().unwrap_or_else(|| panic!("{invited}")).to_owned();
        Card { id, report, upload }
    }

    async fn image_url(&self, card: &Card) -> Value {
        let (status, report) = self.get(&format!("/reports/{}", card.report)).await;
        assert_eq!(status, 200, "{report}");
        report["result"]["objects"]["output"]["geometries"][0]["properties"]["image_url"].clone()
    }

    async fn is_shown(&self, card: &Card) -> bool {
        self.image_url(card).await != Value::Null
    }

    /// The image of a card, if it came whole.
    async fn image(&self, card: &str) -> Option<Vec<u8>> {
        let answer = self.http.get(format!("{}/images/{card}.jpg", self.base)).send().await.ok()?;
        if answer.status() != 200 {
            return None;
        }
        Some(answer.bytes().await.ok()?.into())
    }
}

#[derive(Clone)]
struct Card {
    id: String,
    report: String,
    upload: String,
}

/// Sends the photo, resting between its parts; whether that was acknowledged.
async fn upload(address: &str, rest: Duration) -> bool {
    let url = Url::parse(address).unwrap();
    let (path, query) = (url.path(), url.query().unwrap());
    let head = format!(
        "PUT {path}?{query} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: image/jpeg\r\n\
         Content-Length: {}\r\n\r\n",
        PHOTO.len()
    );
    let sending = async {
        let mut connection = TcpStream::connect((url.host_str().unwrap(), url.port().unwrap())).await?;
        connection.write_all(head.as_bytes()).await?;
        for part in PHOTO.chunks(256 << 10) {
            connection.write_all(part).await?;
            time::sleep(rest).await;
        }
        let mut answer = Vec::new();
        connection.read_to_end(&mut answer).await?;
        std::io::Result::Ok(answer)
    };
    sending.await.is_ok_and(|answer| answer.starts_with(b"HTTP/1.1 200 "))
}

/// Makes sure that a file is the whole photo, made small.
fn assert_whole(file: &[u8]) {
    let decoder = image::codecs::jpeg::JpegDecoder::new(Cursor::new(file)).unwrap();
    assert_eq!(decoder.dimensions(), (640, 427));
    image::load_from_memory(file).unwrap();
    // The decoder forgives a missing end.
    assert!(file.ends_with(&[0xFF, 0xD9]), "the image has an end");
}

/// Looks at an image again and again, until told to stop.
fn watch_image(client: &Client, card: &str, mut stop: watch::Receiver<bool>) -> JoinHandle<()> {
    let (client, card) = (client.clone(), card.to_owned());
    tokio::spawn(async move {
        let mut known = Vec::new();
        while !*stop.borrow() {
            if let Some(file) = client.image(&card).await.filter(|file| *file != known) {
                assert_whole(&file);
                known = file;
            }
            let _ = time::timeout(Duration::from_millis(20), stop.changed()).await;
        }
    })
}

/// Waits until the reports show the images of these cards, one soon after the other.
async fn assert_shown(client: &Client, cards: &[&Card]) {
    for card in cards {
        let shown = async || client.is_shown(card).await;
        eventually(&format!("the image of {} is shown", card.id), SOON, shown, |shown| *shown).await;
    }
    for card in cards {
        let address = format!("/images/{}.jpg", card.id);
        assert!(client.image_url(card).await.as_str().unwrap().ends_with(&address));
        assert_whole(&client.image(&card.id).await.unwrap());
    }
}

/// Makes sure that a card whose upload was not acknowledged shows its image, or can be given another.
async fn assert_open_or_shown(client: &Client, card: &Card) {
    match client.get(&format!("/cards/{}/images", card.id)).await {
        (200, _) => {}
        (409, _) => assert_shown(client, &[card]).await,
        other => panic!("{other:?}"),
    }
}

/// Cards, the uploads of which are under way: one at once, and others that take longer to come.
async fn uploads_under_way(client: &Client) -> Vec<(Card, JoinHandle<bool>)> {
    let rests = [0, 3, 15].map(Duration::from_millis);
    let cards = join_all(rests.map(|_| client.card())).await;
    let send = |(card, rest): (Card, Duration)| {
        let address = card.upload.clone();
        (card, tokio::spawn(async move { upload(&address, rest).await }))
    };
    cards.into_iter().zip(rests).map(send).collect()
}

/// Kills a server with uploads under way, some time after they began or after the first was acknowledged; answers the
/// cards and whether their uploads were acknowledged.
async fn killed_amid_uploads(server: Server, moment: Duration, received: bool) -> Vec<(Card, bool)> {
    let (cards, mut sending): (Vec<_>, Vec<_>) = uploads_under_way(&server.client).await.into_iter().unzip();
    let mut outcomes = Vec::new();
    if received {
        outcomes.push(sending.remove(0).await.unwrap());
    }
    let (stop, stopped) = watch::channel(false);
    let watchers = cards.iter().map(|card| watch_image(&server.client, &card.id, stopped.clone()));
    let watchers: Vec<_> = watchers.collect();
    // Another moment in each round.
    time::sleep(moment).await;
    server.process.kill();
    outcomes.extend(join_all(sending).await.into_iter().map(Result::unwrap));
    stop.send(true).unwrap();
    join_all(watchers).await.into_iter().for_each(Result::unwrap);
    cards.into_iter().zip(outcomes).collect()
}

/// Makes sure that the uploads of these cards are deleted, which show their images by now.
async fn assert_deleted(site: &Site, cards: &[&Card]) {
    for card in cards {
        eventually("no upload is left", SOON, async || site.waiting(&card.id), Vec::is_empty).await;
    }
}

#[test]
fn every_image_that_was_acknowledged_is_shown_whole_after_the_service_was_killed() {
    block_on(async {
        let site = Site::new().await;
        let port = free_port();
        let (mut acknowledged, mut torn) = (0, 0);
        for round in 0..ROUNDS {
            let mut sent = Vec::new();
            for crash in 0..CRASHES {
                let number = round * CRASHES + crash;
                let moment = LATEST * number / (ROUNDS * CRASHES);
                sent.extend(killed_amid_uploads(site.start(port), moment, number % 2 == 1).await);
            }

            let server = site.start(port);
            let (done, lost): (Vec<_>, Vec<_>) = sent.iter().partition(|(_, acknowledged)| *acknowledged);
            let done: Vec<&Card> = done.into_iter().map(|(card, _)| card).collect();
            let shown = join_all(done.iter().map(|card| server.client.is_shown(card))).await;
            let (stop, stopped) = watch::channel(false);
            let watchers = done.iter().map(|card| watch_image(&server.client, &card.id, stopped.clone()));
            let watchers: Vec<_> = watchers.collect();
            assert_shown(&server.client, &done).await;
            // One that was shown when the service was killed may have kept its upload, for a day.
            let shown_now = done.iter().zip(shown).filter(|(_, shown_before)| !shown_before);
            assert_deleted(&site, &shown_now.map(|(card, _)| *card).collect::<Vec<_>>()).await;
            for (card, _) in &lost {
                assert_open_or_shown(&server.client, card).await;
            }
            stop.send(true).unwrap();
            join_all(watchers).await.into_iter().for_each(Result::unwrap);
            acknowledged += done.len();
            torn += lost.len();
        }
        assert!(acknowledged > 0 && torn > 0, "{acknowledged} were acknowledged, {torn} were not");
    });
}

#[test]
fn what_a_server_was_at_when_it_was_killed_another_finishes() {
    block_on(async {
        let site = Site::new().await;
        let other = site.start(free_port());
        for round in 0..4 {
            let server = site.start(free_port());
            let cards = join_all((0..4).map(|_| server.client.card())).await;
            let sent = join_all(cards.iter().map(|card| upload(&card.upload, Duration::ZERO))).await;
            assert_eq!(sent, [true; 4]);
            // Another moment in each round.
            time::sleep(Duration::from_millis(100 * round)).await;
            server.process.kill();
            assert_shown(&other.client, &cards.iter().collect::<Vec<_>>()).await;
        }
    });
}
