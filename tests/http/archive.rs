//! The public archive: the files of finished months at `/archive`.

use std::collections::HashMap;

use rocket::http::{Header, Status};
use rocket::local::blocking::Client;
use serde_json::{Value, json};
use siaga::model::Timestamp;
use tempfile::TempDir;

use crate::suite::eventually::{LONG, eventually_blocking};
use crate::suite::support::{Siaga, figment};

pub(super) const DESCRIPTION: &str = "/archive/2016-12/datapackage.json";

/// A service whose month with data is finished, and a server beside it that keeps an archive.
pub(super) struct Archived {
    pub(super) siaga: Siaga,
    pub(super) folder: TempDir,
    pub(super) server: Client,
}

impl Archived {
    pub(super) fn start(settings: &[(&str, Value)]) -> Self {
        let siaga = Siaga::start();
        siaga.clock.set(Timestamp::parse("2017-01-02T00:00:00Z").unwrap());
        let folder = TempDir::new().unwrap();
        let server = server(&siaga, &folder, settings);
        await_file(&server, DESCRIPTION);
        Self { siaga, folder, server }
    }

    /// Restarts the server with the archive, which then writes missing months.
    pub(super) fn restart(self) -> Self {
        let Self { siaga, folder, server: old } = self;
        drop(old);
        let server = server(&siaga, &folder, &[]);
        Self { siaga, folder, server }
    }

    pub(super) fn text(&self, address: &str) -> String {
        let response = self.server.get(address.to_owned()).dispatch();
        assert_eq!(response.status(), Status::Ok, "{address}");
        response.into_string().unwrap()
    }

    pub(super) fn rows(&self, file: &str) -> Vec<HashMap<String, String>> {
        let text = self.text(&format!("/archive/2016-12/{file}"));
        csv::Reader::from_reader(text.as_bytes()).deserialize().map(Result::unwrap).collect()
    }
}

/// Waits until a file of the archive can be read.
pub(super) fn await_file(server: &Client, address: &str) {
    let status = || server.get(address.to_owned()).dispatch().status();
    eventually_blocking(address, LONG, status, |status| *status == Status::Ok);
}

pub(super) fn server(siaga: &Siaga, folder: &TempDir, settings: &[(&str, Value)]) -> Client {
    let figment = figment().merge(("siaga.archive.folder", folder.path()));
    siaga.another_server(settings.iter().fold(figment, |figment, setting| figment.merge(setting.clone())))
}

#[test]
fn the_files_of_a_month_rebuild_the_states_of_each_hour() {
    let archived = Archived::start(&[]);
    let rows = archived.rows("flood_changes.csv");
    let hours =
        archived.siaga.result("/v1/floods/timeseries?start=2016-12-12T00:00:00Z&end=2016-12-20T00:00:00Z");
    let hours = hours.as_array().unwrap();
    assert!(hours.iter().any(|hour| hour["count"] != "0"), "there is a flood");
    for hour in hours {
        let ts = hour["ts"].as_str().unwrap();
        let mut states: HashMap<&str, &str> = HashMap::new();
        for row in rows.iter().filter(|row| *row["changed_at"] <= *ts) {
            states.insert(&row["area_id"], &row["state"]);
        }
        let flooded = states.values().filter(|state| !state.is_empty()).count();
        assert_eq!(hour["count"], flooded.to_string(), "{ts}");
    }
}

#[test]
fn nothing_in_the_archive_is_about_a_person() {
    let archived = Archived::start(&[]);
    let map = archived.siaga.result("/v1/reports?timeperiod=604800&geoformat=geojson");
    let reports = archived.rows("reports.csv");
    assert!(!reports.is_empty());
    let files =
        ["reports.csv", "reports.geojson", "flood_changes.csv", "gauge_readings.csv", "datapackage.json"]
            .map(|file| archived.text(&format!("/archive/2016-12/{file}")));
    for column in ["url", "image_url", "title", "text", "subject", "username"] {
        assert!(!reports[0].contains_key(column), "{column}");
        assert!(!files[1].contains(&format!("\"{column}\":")), "{column}");
    }
    for report in map["features"].as_array().unwrap() {
        for private in ["url", "text", "image_url"] {
            let text = report["properties"][private].as_str().filter(|text| text.len() > 3);
            assert!(text.is_none_or(|text| files.iter().all(|file| !file.contains(text))), "{text:?}");
        }
    }
}

#[test]
fn texts_and_exact_places_are_archived_as_configured() {
    let archived =
        Archived::start(&[("siaga.archive.text", json!(true)), ("siaga.archive.coarse", json!(1_000))]);
    let rows = archived.rows("reports.csv");
    assert!(rows.iter().any(|row| !row["text"].is_empty()));
    assert!(rows.iter().all(|row| !row.contains_key("url")));
    let step = 1_000.0 / 111_195.0;
    for row in rows {
        for degrees in ["longitude", "latitude"] {
            let steps = row[degrees].parse::<f64>().unwrap() / step;
            assert!((steps - steps.round()).abs() < 1e-3, "{steps}");
        }
    }
}

#[test]
fn the_description_has_the_size_the_digest_and_the_rows_of_each_file() {
    let archived = Archived::start(&[]);
    let description: Value = serde_json::from_str(&archived.text(DESCRIPTION)).unwrap();
    let resources = description["resources"].as_array().unwrap();
    assert_eq!(resources.len(), 4);
    for resource in resources {
        let path = resource["path"].as_str().unwrap();
        let text = archived.text(&format!("/archive/2016-12/{path}"));
        assert_eq!(resource["bytes"], text.len(), "{path}");
        let digest = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
        let digits: String = digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(resource["hash"], format!("sha256:{digits}"));
        if resource["format"] == "csv" {
            let fields = resource["schema"]["fields"].as_array().unwrap();
            assert!(text.lines().next().unwrap().split(',').eq(fields.iter().map(|field| &field["name"])));
            assert_eq!(resource["siaga:rows"], text.lines().count() - 1);
        }
    }
    let areas: Value = serde_json::from_str(&archived.text("/archive/areas.geojson")).unwrap();
    let on_map = archived.siaga.result("/v1/areas?geoformat=geojson");
    assert_eq!(areas["features"].as_array().unwrap().len(), on_map["features"].as_array().unwrap().len());
}

#[test]
fn range_requests_let_downloads_resume() {
    let archived = Archived::start(&[]);
    let address = "/archive/2016-12/reports.csv";
    let whole = archived.text(address);
    let size = whole.len();
    let tag = archived.server.get(address).dispatch().headers().get_one("ETag").unwrap().to_owned();
    let (rest, beyond) = (format!("bytes={}-", size - 3), format!("bytes={size}-"));
    let range = |part: &str| Some(format!("bytes {part}/{size}"));
    for (headers, status, range, body) in [
        (vec![("Range", "bytes=5-14")], 206, range("5-14"), Some(&whole[5..15])),
        (
            vec![("Range", &rest), ("If-Range", &tag)],
            206,
            range(&format!("{}-{}", size - 3, size - 1)),
            Some(&whole[size - 3..]),
        ),
        (vec![("Range", &rest), ("If-Range", "\"another\"")], 200, None, Some(&*whole)),
        (vec![("Range", "bytes=0-1,3-4")], 200, None, Some(&whole)),
        (vec![("Range", &beyond)], 416, range("*"), None),
        (vec![("If-None-Match", &tag)], 304, None, None),
    ] {
        let mut request = archived.server.get(address);
        for (name, value) in &headers {
            request.add_header(Header::new(*name, (*value).to_owned()));
        }
        let response = request.dispatch();
        let found = response.headers().get_one("Content-Range").map(str::to_owned);
        assert_eq!((response.status().code, found), (status, range), "{headers:?}");
        let text = response.into_string().unwrap_or_default();
        assert!(body.is_none_or(|body| text == body), "{headers:?}: {text}");
    }
}

#[test]
fn only_files_of_the_archive_are_served() {
    let archived = Archived::start(&[]);
    std::fs::write(archived.folder.path().join("secret.txt"), "secret").unwrap();
    std::fs::write(archived.folder.path().join("2016-12/secret.txt"), "secret").unwrap();
    for address in [
        "/archive/secret.txt",
        "/archive/2016-12/secret.txt",
        "/archive/2016-12%2freports.csv",
        "/archive/2016-12/..%2fsecret.txt",
        "/archive/..%2f..%2fetc%2fpasswd",
        "/archive/2017-01/reports.csv",
        "/archive/2016-13/reports.csv",
        "/archive/2016-12",
    ] {
        let response = archived.server.get(address).dispatch();
        assert_eq!(response.status(), Status::NotFound, "{address}");
    }
    let page = archived.server.get("/archive?lang=en").header(Header::new("Accept", "text/html")).dispatch();
    assert!(page.into_string().unwrap().contains("Public archive"));
    let none = archived.siaga.get("/archive");
    assert_eq!(none.status(), Status::NotFound, "no folder is configured");
}
