//! Feeds written by us in the form of real services, a small HTTP server for them, and one in place of Siaga.

mod command_line;
mod configuration;
mod faults;
mod kinds;
mod outages;
mod server;

use std::fs;
use std::time::Duration;

use chrono::{DateTime, Utc};
use siaga_gauges::{FeedReader, readers};

use self::server::{Reply, Server};

/// The time of the tests: 2026-11-27, 12:00 UTC.
fn noon() -> DateTime<Utc> {
    "2026-11-27T12:00:00Z".parse().unwrap()
}

fn minutes(minutes: i64) -> chrono::Duration {
    chrono::Duration::minutes(minutes)
}

fn response(name: &str) -> String {
    fs::read_to_string(format!("{}/tests/gauges/responses/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// A reader of a feed, whose settings are TOML.
fn reader(siaga: &Server, feed: &str) -> FeedReader {
    reader_with_timeout(siaga, feed, Duration::from_secs(20))
}

fn reader_with_timeout(siaga: &Server, feed: &str, timeout: Duration) -> FeedReader {
    let text = format!(
        "siaga = {{ base = \"{}/v1\", key = \"secret\" }}\n[[feed]]\nname = \"river\"\n{feed}",
        siaga.address
    );
    readers(&text, timeout).unwrap().remove(0)
}

/// The settings of a feed of CSV with the columns `id`, `time` and `level`.
fn csv_feed(address: &str) -> String {
    format!(
        "kind = \"csv\"\nunit = \"cm\"\nalert = \"normal\"\nprefix = \"\"\naddress = \"{address}/levels.csv\"
        columns = {{ gauge = \"id\", time = \"time\", level = \"level\", lat = \"lat\", lng = \"lng\" }}\n"
    )
}

/// A server with one CSV document. Each row is a gauge, a time and a level.
async fn csv_server(rows: &[&str]) -> Server {
    let document = csv_document(rows);
    Server::start(move |_| Reply::ok(&document)).await
}

fn csv_document(rows: &[&str]) -> String {
    let rows: String = rows.iter().map(|row| format!("{row},-6.2,106.8\n")).collect();
    format!("id,time,level,lat,lng\n{rows}")
}
