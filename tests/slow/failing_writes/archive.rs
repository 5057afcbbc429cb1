//! The months of the public archive, by a server with its files and by the command on each store.

use std::fs;
use std::path::{Path, PathBuf};

use chrono::{Datelike, Months, NaiveTime, Utc};
use serde_json::{Value, json};

use super::{Operation, SOON, Site};
use crate::eventually::eventually_blocking;
use crate::service_config::ServiceConfig;

/// The name of the last month, and a time in it.
fn last_month() -> (String, String) {
    let first = Utc::now().date_naive().with_day(1).unwrap().checked_sub_months(Months::new(1)).unwrap();
    (first.format("%Y-%m").to_string(), first.and_time(NaiveTime::MIN).and_utc().to_rfc3339())
}

/// Adds a report to the last month.
fn post(site: &Site, number: usize) {
    let report = json!({ "post_id": number, "created_at": last_month().1, "partner_city": "bandung",
                         "disaster_type": "flood", "location": { "lat": 0.5, "lng": 0.5 } });
    site.server().expect_ok("POST", "/v1/feeds/partner", &report);
}

/// Returns the number of reports in the folder of a month, if it is there. Fails if a file is not as its description says.
fn reports(month: &Path) -> Option<u64> {
    let read = || fs::read(month.join("datapackage.json")).ok();
    let text = read()?;
    let description: Value = serde_json::from_slice(&text).unwrap();
    let mut reports = None;
    for file in description["resources"].as_array().unwrap() {
        let name = file["path"].as_str().unwrap();
        let bytes = fs::read(month.join(name)).ok()?;
        let digest = ring::digest::digest(&ring::digest::SHA256, &bytes);
        let digits: String = digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        // The month may have been replaced since its description was read.
        let is_described = file["hash"] == format!("sha256:{digits}");
        assert!(is_described || read().as_ref() != Some(&text), "{name} of {}", month.display());
        if name == "reports.csv" {
            reports = file["siaga:rows"].as_u64();
        }
    }
    reports
}

/// A server replaces the last month, which has a new report.
pub(super) struct Replacement;

impl Operation for Replacement {
    type Subject = usize;

    const ADAPT: fn(ServiceConfig, &Path) -> ServiceConfig =
        |config, folder| config.with("SIAGA_ARCHIVE__FOLDER", folder.join("archive").to_str().unwrap());
    const ONLY_ARCHIVE: bool = true;
    // The next try is by a new server anyway.
    const KILLS: bool = false;

    fn prepare(&self, site: &mut Site, number: usize) -> usize {
        if number == 1 {
            post(site, 0);
            assert!(self.attempt(site, &0));
        }
        post(site, number);
        number
    }

    fn attempt(&self, site: &mut Site, number: &usize) -> bool {
        // A server writes the months that are due when it starts.
        site.restart();
        let is_written = || self.parts(site, number) == [true] || site.has_failed();
        eventually_blocking("the month is written", SOON, is_written, |written| *written);
        self.parts(site, number) == [true]
    }

    /// The month is the old one or the new one, but missing while it is replaced.
    fn parts(&self, site: &Site, number: &usize) -> Vec<bool> {
        let reports = reports(&site.folder.path().join("archive").join(last_month().0));
        reports.map_or(vec![true, false], |reports| vec![reports > *number as u64])
    }
}

/// The command writes the archive of everything.
pub(super) struct Export;

impl Operation for Export {
    type Subject = PathBuf;

    const ONLY_ARCHIVE: bool = true;

    fn prepare(&self, site: &mut Site, number: usize) -> PathBuf {
        post(site, number);
        site.folder.path().join("archive").join(number.to_string())
    }

    fn attempt(&self, site: &mut Site, folder: &PathBuf) -> bool {
        let written = site.run(&["export", "--public", folder.to_str().unwrap()]);
        written.map_or_else(|error| error.ends_with("the folder has an archive already"), |_| true)
    }

    /// The areas are described last. Until then, a month can be there.
    fn parts(&self, _: &Site, folder: &PathBuf) -> Vec<bool> {
        let is_described = folder.join("datapackage.json").exists();
        assert!(!is_described || reports(&folder.join(last_month().0)).is_some(), "a month is missing");
        vec![is_described]
    }
}
