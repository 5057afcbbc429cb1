//! Readers, writers, uploads and slow readers, all at once.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use image::ImageFormat;
use reqwest::Method;
use rocket::tokio::io::{AsyncReadExt, AsyncWriteExt};
use rocket::tokio::net::TcpStream;
use rocket::tokio::task::JoinHandle;
use rocket::tokio::{self, time};
use serde_json::json;
use siaga::model::{Clock, SystemClock, Timestamp};

use super::client::Client;
use crate::photos::picture;
use crate::running::KEY;

/// Things that were sent, by what they are known by.
#[derive(Default)]
pub(crate) struct Sent {
    sent: Mutex<BTreeSet<String>>,
    acknowledged: Mutex<BTreeSet<String>>,
}

impl Sent {
    fn sends(&self, name: &str) {
        self.sent.lock().unwrap().insert(name.to_owned());
    }

    fn is_acknowledged(&self, name: String) {
        self.acknowledged.lock().unwrap().insert(name);
    }

    /// Whether everything acknowledged is among these.
    pub(crate) fn missing(&self, stored: &[String]) -> Vec<String> {
        let stored: HashSet<_> = stored.iter().collect();
        self.acknowledged.lock().unwrap().iter().filter(|thing| !stored.contains(thing)).cloned().collect()
    }

    /// Makes sure that things were acknowledged, and none is stored twice. Without a response a thing may be stored or not.
    pub(crate) fn check(&self, name: &str, stored: &[String]) {
        let mut times: HashMap<&str, u32> = HashMap::new();
        let sent = self.sent.lock().unwrap();
        for thing in stored.iter().filter(|thing| sent.contains(*thing)) {
            *times.entry(thing).or_default() += 1;
        }
        assert!(times.values().all(|times| *times == 1), "some {name} are stored twice");
        let acknowledged = self.acknowledged.lock().unwrap();
        assert!(!acknowledged.is_empty(), "no {name} were written");
        println!("{name}: {} sent, {} acknowledged, {} stored", sent.len(), acknowledged.len(), times.len());
    }
}

/// What was written.
#[derive(Default)]
pub(crate) struct Written {
    pub(crate) states: Sent,
    pub(crate) posts: Sent,
    pub(crate) cards: Sent,
    pub(crate) readings: Sent,
    pub(crate) photos: Sent,
    /// The last number that was given to something.
    numbers: AtomicU64,
}

impl Written {
    fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// Tasks that read and write until they are told to end. Two cores bear the load, so no response needs to be 503 for it.
pub(crate) struct Load {
    going: Arc<AtomicBool>,
    written: Arc<Written>,
    tasks: Vec<JoinHandle<()>>,
}

impl Load {
    pub(crate) fn start(client: &Client) -> Self {
        let mut load =
            Self { going: Arc::new(AtomicBool::new(true)), written: Arc::default(), tasks: Vec::new() };
        for area in 1..=4 {
            load.repeat(client, Duration::from_millis(50), move |client, written| {
                set_state(client, written, area)
            });
        }
        load.repeat(client, Duration::from_millis(800), post);
        load.repeat(client, Duration::from_millis(800), card);
        load.repeat(client, Duration::from_millis(250), reading);
        load.repeat(client, Duration::from_secs(3), photo);
        for _ in 0..4 {
            load.repeat(client, Duration::from_millis(40), read);
        }
        load.repeat(client, Duration::from_millis(500), give_up);
        for _ in 0..4 {
            load.repeat(client, Duration::from_millis(100), read_slowly);
        }
        load
    }

    /// Repeats something with a pause.
    fn repeat<F>(
        &mut self,
        client: &Client,
        pause: Duration,
        act: impl Fn(Client, Arc<Written>) -> F + Send + 'static,
    ) where
        F: Future<Output = ()> + Send,
    {
        let (client, written, going) = (client.clone(), Arc::clone(&self.written), Arc::clone(&self.going));
        self.tasks.push(tokio::spawn(async move {
            while going.load(Ordering::Relaxed) {
                act(client.clone(), Arc::clone(&written)).await;
                time::sleep(pause).await;
            }
        }));
    }

    /// Ends the load; returns what was written.
    pub(crate) async fn end(self) -> Arc<Written> {
        self.going.store(false, Ordering::Relaxed);
        for task in self.tasks {
            task.await.unwrap();
        }
        self.written
    }
}

async fn set_state(client: Client, written: Arc<Written>, area: u64) {
    let number = written.number();
    let mark = format!("soak-{number}");
    written.states.sends(&mark);
    let target = format!("/v1/floods/{area}?username={mark}");
    let state = json!({ "state": 1 + number % 4 });
    if let Some((200, _)) = client.write(Method::PUT, &target, &state).await {
        written.states.is_acknowledged(mark);
    }
}

async fn post(client: Client, written: Arc<Written>) {
    let number = written.number();
    written.posts.sends(&number.to_string());
    let post = json!({
        "post_id": number, "created_at": SystemClock.now(), "partner_city": "jabodetabek", "disaster_type": "flood",
        "text": "air naik", "location": { "lat": -6.2, "lng": 106.8 },
    });
    if let Some((200, _)) = client.write(Method::POST, "/v1/feeds/partner", &post).await {
        written.posts.is_acknowledged(number.to_string());
    }
}

async fn card(client: Client, written: Arc<Written>) {
    report(&client, &written).await;
}

/// Makes a card and sends its report; returns its identifier when both were acknowledged.
async fn report(client: &Client, written: &Written) -> Option<String> {
    let holder = json!({ "username": "u", "network": "n", "language": "id" });
    let (200, made) = client.write(Method::POST, "/v1/cards", &holder).await? else { return None };
    let id = made["cardId"].as_str().unwrap().to_owned();
    written.cards.sends(&id);
    let report = json!({
        "card_data": { "report_type": "flood", "flood_depth": 40 }, "created_at": SystemClock.now(), "text": "air",
        "disaster_type": "flood", "location": { "lat": -6.21, "lng": 106.81 },
    });
    let (200, _) = client.write(Method::PUT, &format!("/v1/cards/{id}"), &report).await? else { return None };
    written.cards.is_acknowledged(id.clone());
    Some(id)
}

async fn reading(client: Client, written: Arc<Written>) {
    let label = format!("soak-{}", written.number());
    written.readings.sends(&label);
    let readings = json!({
        "gaugeid": "SOAK", "gaugenameid": "Soak", "location": { "lat": -6.2, "lng": 106.8 },
        "observations": [{ "observed_at": SystemClock.now(), "level": 100, "alert": 4, "label": label }],
    });
    if let Some((200, _)) = client.write(Method::PUT, "/v1/floodgauges", &readings).await {
        written.readings.is_acknowledged(label);
    }
}

async fn photo(client: Client, written: Arc<Written>) {
    let Some(card) = report(&client, &written).await else { return };
    let target = format!("/v1/cards/{card}/images?file_type=image/jpeg");
    let invited = client.send(&target, client.request(Method::GET, &target).header("X-Api-Key", KEY)).await;
    let Some((200, invited)) = invited else { return };
    let address = invited["signedRequest"].as_str().unwrap();
    // The service does not know the port that the system has chosen.
    let address = &address[address.find("/v1/").unwrap()..];
    written.photos.sends(&card);
    let upload = client.request(Method::PUT, address).header("Content-Type", "image/jpeg");
    let sent = client.send(address, upload.body(picture(800, 600, ImageFormat::Jpeg))).await;
    if let Some((200, _)) = sent {
        written.photos.is_acknowledged(card);
    }
}

/// A period that nobody has asked about, so that its response is rendered.
fn new_period(number: u64, hours: u64) -> String {
    let now = SystemClock.now();
    let start: Timestamp = now.before(Duration::from_hours(hours) + Duration::from_millis(number));
    format!("start={start}&end={now}")
}

async fn read(client: Client, written: Arc<Written>) {
    let number = written.number();
    let target = match number % 12 {
        0 => "/v1/floods?geoformat=cap".to_owned(),
        1 => "/v1/floods?geoformat=geojson".to_owned(),
        2 => "/v1/floods/states?minimum_state=2".to_owned(),
        3 => format!("/v1/floods/archive?{}", new_period(number, 24)),
        4 => format!("/v1/floods/timeseries?{}", new_period(number, 48)),
        5 => "/v1/reports".to_owned(),
        6 => format!("/v1/reports/archive?{}", new_period(number, 6)),
        7 => "/v1/reports?city=jbd&timeperiod=600".to_owned(),
        8 => "/v1/floodgauges".to_owned(),
        9 => "/v1/stats/reportsSummary".to_owned(),
        10 => "/v1/infrastructure/pumps".to_owned(),
        _ => "/v1/floods".to_owned(),
    };
    let request = client.request(Method::GET, &target);
    let request = if number.is_multiple_of(2) { request.header("Accept-Encoding", "gzip") } else { request };
    client.send(&target, request).await;
}

/// Asks for something large and goes away.
async fn give_up(client: Client, written: Arc<Written>) {
    let target = format!("/v1/reports/archive?{}", new_period(written.number(), 70));
    let _ = time::timeout(Duration::from_millis(20), client.request(Method::GET, &target).send()).await;
}

/// Reads some kilobytes a second of a large response, and goes away before its end.
async fn read_slowly(client: Client, _: Arc<Written>) {
    let reading = async {
        let mut connection = TcpStream::connect(client.authority()).await?;
        let request = format!(
            "GET /v1/floods?geoformat=geojson HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
            client.authority()
        );
        connection.write_all(request.as_bytes()).await?;
        let mut buffer = [0; 2048];
        for _ in 0..100 {
            if connection.read(&mut buffer).await? == 0 {
                break;
            }
            time::sleep(Duration::from_millis(100)).await;
        }
        std::io::Result::Ok(())
    };
    reading.await.unwrap();
}
