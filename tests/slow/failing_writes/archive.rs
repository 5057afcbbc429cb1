//! The months of the public archive, by a server with its files and by the command on each store.

use std::fs;
use std::path::Path;

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

/// The files of writes that were not completed.
fn left(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).into_iter().flatten();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with('.')).collect()
}

/// A server replaces the last month, which has a new report.
pub(super) struct Replacement;

impl Operation for Replacement {
    type Subject = usize;

    const ADAPT: fn(ServiceConfig, &Path) -> ServiceConfig =
        |config, folder| config.with("SIAGA_ARCHIVE__FOLDER", folder.join("archive").to_str().unwrap());
    const ONLY_ARCHIVE: bool = true;

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
    type Subject = String;

    fn prepare(&self, site: &mut Site, number: usize) -> String {
        post(site, number);
        format!("archive/{number}")
    }

    fn attempt(&self, site: &mut Site, name: &String) -> bool {
        let folder = site.folder.path().join(name);
        site.run(&["export", "--public", folder.to_str().unwrap()]).is_ok()
    }

    /// A failed command may leave some of the archive; one that succeeds leaves all of it, and nothing else.
    fn parts(&self, site: &Site, name: &String) -> Vec<bool> {
        let folder = site.folder.path().join(name);
        let is_written =
            reports(&folder.join(last_month().0)).is_some() && folder.join("areas.geojson").exists();
        vec![is_written && left(&folder).is_empty()]
    }
}
