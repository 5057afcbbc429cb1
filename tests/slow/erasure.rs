//! An erased report is in no row, response, new export, new backup or photo storage, and after `VACUUM` in no file of the
//! database.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use image::ImageFormat;
use serde_json::json;
use siaga::folder::FolderWriter;
use sqlx::{AssertSqlSafe, Connection, Executor};
use tempfile::TempDir;

use crate::cluster::Cluster;
use crate::eventually::{LONG, eventually_blocking};
use crate::fixture::{self, block_on};
use crate::outcome::printed;
use crate::photos::picture;
use crate::running::{Running, request, send};
use crate::service_config::{ServiceConfig, connect, request_json};

/// Limit until a server sees the changes of a command.
const SOON: Duration = Duration::from_secs(1);
const TEXT: &str = "the house of the Rahasia family";
const HOLDER: &str = "Pak Rahasia";
const DATA: &str = "1234.5678";
const PLACE: [f64; 2] = [106.812_345_678_9, -6.192_345_678_9];

/// A store, its photos, and a folder for everything else.
struct Site {
    config: ServiceConfig,
    folder: TempDir,
}

impl Site {
    fn new(config: ServiceConfig) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let photos = format!("file://{}", folder.path().join("photos").display());
        Self { config: config.with("SIAGA_IMAGES__URL", &photos), folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, arguments: &[&str]) -> String {
        printed(&self.config.siaga(arguments))
    }

    fn export(&self, name: &str) -> PathBuf {
        let folder = self.path(name);
        self.run(&["export", folder.to_str().unwrap()]);
        folder
    }
}

/// Data that reveals an unerased report.
struct Traces(Vec<(&'static str, Vec<u8>)>);

impl Traces {
    fn found_in(&self, bytes: &[u8]) -> Vec<&'static str> {
        let has = |trace: &[u8]| bytes.windows(trace.len()).any(|part| part == trace);
        self.0.iter().filter(|(_, trace)| has(trace)).map(|(name, _)| *name).collect()
    }

    fn found_below(&self, folder: &Path) -> Vec<(PathBuf, &'static str)> {
        let mut found = Vec::new();
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                found.extend(self.found_below(&path));
            } else if let Ok(bytes) = fs::read(&path) {
                found.extend(self.found_in(&bytes).into_iter().map(|trace| (path.clone(), trace)));
            }
        }
        found
    }
}

fn get(server: &Running, target: &str) -> String {
    send(&server.authority, &request(&server.authority, "GET", target, "\r\n")).unwrap()
}

/// Publishes a report with a photo; returns its key and its card.
fn publish(server: &Running) -> (String, String) {
    let holder = json!({ "username": HOLDER, "network": "telegram", "language": "id" });
    let card = server.expect_ok("POST", "/v1/cards", &holder)["cardId"].as_str().unwrap().to_owned();
    let created_at = chrono::Utc::now().to_rfc3339_opts(chrono::SecondsFormat::Millis, true);
    let report = json!({
        "text": TEXT, "disaster_type": "flood", "created_at": created_at,
        "card_data": { "report_type": "flood", "flood_depth": 10, "note": DATA.parse::<f64>().unwrap() },
        "location": { "lng": PLACE[0], "lat": PLACE[1] },
    });
    server.expect_ok("PUT", &format!("/v1/cards/{card}"), &report);
    let shown = server.expect_ok("GET", &format!("/v1/cards/{card}"), &json!({}));
    let key = shown["result"]["report_id"].as_str().unwrap().to_owned();
    let invitation = server.expect_ok("GET", &format!("/v1/cards/{card}/images"), &json!({}));
    let signed = invitation["signedRequest"].as_str().unwrap();
    let target = signed.find("/v1/").map(|start| &signed[start..]).unwrap();
    let sent = server.upload(target, &picture(640, 480, ImageFormat::Jpeg));
    assert!(sent.starts_with("HTTP/1.1 200"), "{sent}");
    let shown = || get(server, &format!("/v1/reports/{key}"));
    eventually_blocking("the photo is shown", LONG, shown, |shown| shown.contains(".jpg"));
    (key, card)
}

/// Erases a report beside a running server, and searches everywhere except the files of the database, which held it
/// before. Returns the traces to search for in them.
fn erase(site: &Site, files: &Path, checkpoint: impl Fn()) -> Traces {
    let import = site.path("fixture");
    fixture::dataset().save(&FolderWriter::create(&import).unwrap()).unwrap();
    site.run(&["import", import.to_str().unwrap()]);
    let server = site.config.start();
    let (key, card) = publish(&server);
    let photo = format!("{card}.jpg");
    let published = fs::read(site.path("photos").join(&photo)).unwrap();
    let middle = published.len() / 2;
    let [lng, lat] = PLACE.map(|degrees| degrees.to_le_bytes().to_vec());
    let traces = Traces(vec![
        ("text", TEXT.into()),
        ("holder", HOLDER.into()),
        ("card", card.clone().into()),
        ("data", DATA.into()),
        ("place", PLACE[0].to_string().into()),
        ("lng", lng),
        ("lat", lat),
        ("photo", published[middle - 32..middle + 32].to_vec()),
    ]);
    let before = site.export("before");
    assert_eq!(traces.found_below(&before).len(), 6, "{:?}", traces.found_below(&before));
    assert_eq!(traces.found_below(&site.path("photos")).len(), 1);
    checkpoint();
    let stored = traces.found_below(files);
    for trace in ["text", "holder", "card", "data", "lng", "lat"] {
        assert!(stored.iter().any(|(_, found)| *found == trace), "{trace}: {stored:?}");
    }
    let now = chrono::Utc::now();
    let [start, end] = [now - Duration::from_hours(1), now].map(|at| at.format("%Y-%m-%dT%H:%M:%SZ"));
    let series = format!("/v1/reports/timeseries?start={start}&end={end}");
    let counts = || {
        let bodies = ["/v1/stats/reportsSummary", &series].map(|address| get(&server, address));
        bodies.map(|response| response.lines().last().map(str::to_owned))
    };
    let counted = counts();

    let said = site.run(&["reports", "erase", &key, "--reason", "its author asks", "--username", "Ibu Ani"]);
    assert_eq!(said, format!("report {key} is erased\n"));
    let status = |target: &str| request_json(&server.authority, "GET", target, &json!({})).unwrap().0;
    let found = || status(&format!("/v1/reports/{key}"));
    eventually_blocking("the report is gone", SOON, found, |status| *status == 404);
    let left = || traces.found_below(&site.path("photos"));
    eventually_blocking("the photo is gone", LONG, left, Vec::is_empty);
    for target in [format!("/v1/images/{photo}"), format!("/v1/cards/{card}")] {
        assert_eq!(status(&target), 404, "{target}");
    }
    for address in ["/v1/reports", "/v1/reports?geoformat=geojson&timeperiod=604800", "/v1/changes"] {
        assert_eq!(traces.found_in(get(&server, address).as_bytes()), [""; 0], "{address}");
    }
    assert_eq!(counts(), counted, "it is still counted");
    assert!(counted[0].as_ref().is_some_and(|body| body.contains("\"total number of reports\":1")));

    let log = site.run(&["reports", "log"]);
    assert!(log.contains(&format!(",erase,{key},")) && log.contains(",siaga reports,Ibu Ani,"), "{log}");
    assert_eq!(traces.found_in(log.as_bytes()), [""; 0]);
    assert_eq!(traces.found_below(&site.export("after")), []);
    // Neither an old export nor a repeated erasure brings it back.
    site.run(&["import", before.to_str().unwrap()]);
    fs::write(site.path("log.csv"), log).unwrap();
    let again = site.run(&["reports", "erase", "--list", site.path("log.csv").to_str().unwrap()]);
    assert_eq!(again, format!("report {key} was erased already\n"));
    assert_eq!(traces.found_below(&site.export("again")), []);
    traces
}

#[test]
fn an_erased_report_is_in_no_file_of_the_file_store() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("siaga.db");
    let site = Site::new(ServiceConfig::in_file(&path));
    let traces = erase(&site, home.path(), || ());
    let backup = site.path("backup.db");
    site.run(&["backup", backup.to_str().unwrap()]);
    assert_eq!(traces.found_in(&fs::read(&backup).unwrap()), [""; 0]);
    assert_eq!(traces.found_below(&site.path("backup.db-images")), []);
    block_on(async {
        let mut connection = connect(&path).await;
        connection.execute("VACUUM").await.unwrap();
        connection.close().await.unwrap();
    });
    assert_eq!(traces.found_below(home.path()), []);
}

#[test]
fn an_erased_report_is_in_no_file_of_the_database() {
    let cluster = Cluster::new();
    let site = Site::new(ServiceConfig::in_database(&cluster.url()));
    let checkpoint = || {
        block_on(async { cluster.connected().await.execute("CHECKPOINT").await.unwrap() });
    };
    let traces = erase(&site, &cluster.tables(), checkpoint);
    block_on(async {
        let mut connection = cluster.connected().await;
        let tables = "SELECT oid::regclass::text FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace";
        let tables: Vec<String> = sqlx::query_scalar(tables).fetch_all(&mut connection).await.unwrap();
        for table in tables {
            let rows = format!("SELECT coalesce(string_agg(each::text, ' '), '') FROM {table} AS each");
            let rows: String =
                sqlx::query_scalar(AssertSqlSafe(rows)).fetch_one(&mut connection).await.unwrap();
            assert_eq!(traces.found_in(rows.as_bytes()), [""; 0], "{table}");
        }
        connection.execute("VACUUM (FULL, ANALYZE)").await.unwrap();
        connection.execute("CHECKPOINT").await.unwrap();
    });
    assert_eq!(traces.found_below(&cluster.tables()), []);
}
