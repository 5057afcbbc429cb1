use std::collections::HashMap;
use std::path::Path;

use serde_json::value::{RawValue, to_raw_value};

use super::Fault;
use super::geojson_file::{self, Row};
use super::geometry::place;
use super::tags::tags;
use crate::datasets::DatasetError;
use crate::model::intake::holds_nul;
use crate::model::{Locator, Report, ReportContent, ReportKey};

/// Reads the reports; none when there is no such file. Those without a `pkey` are counted on from the highest.
pub(super) fn read(path: &Path, locator: &Locator) -> Result<Vec<Report>, DatasetError> {
    let mut lines: HashMap<ReportKey, u64> = HashMap::new();
    let read = geojson_file::read(path, |row| {
        let key = key(row)?;
        if let Some(line) = key.and_then(|key| lines.insert(key, row.line)) {
            return Err(format!("pkey is that of line {line} already"));
        }
        let content = content(row)?;
        let tags = tags(row, content.location, locator)?;
        Ok((key, content, tags))
    })?;
    let mut last = lines.keys().max().copied();
    let keyed = read.into_iter().map(|(key, content, tags)| {
        let key = key.or_else(|| {
            last = last.map_or(Some(ReportKey::FIRST), ReportKey::next);
            last
        });
        let none_left = || Fault { line: 1, reason: "no pkey is left after the highest".to_owned() };
        Ok(Report { key: key.ok_or_else(none_left)?, content, tags })
    });
    keyed.collect::<Result<_, Fault>>().map_err(|fault| fault.in_file(path))
}

fn key(row: &Row) -> Result<Option<ReportKey>, String> {
    match row.text("pkey")?.as_str() {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|error| format!("pkey {error}")),
    }
}

fn content(row: &Row) -> Result<ReportContent, String> {
    let disaster = row.required("disaster_type")?;
    let optional = |key| row.prose(key).map(|text| Some(text).filter(|text| !text.is_empty()));
    Ok(ReportContent {
        created_at: row.moment("created_at")?,
        source: row.required("source")?.into(),
        url: optional("url")?.map(Box::from),
        image_url: optional("image_url")?.map(Box::from),
        disaster_type: disaster.parse().map_err(|error| format!("disaster_type {error}"))?,
        report_data: report_data(row)?,
        title: row.prose("title")?.into(),
        text: row.prose("text")?.into(),
        location: place(row.geometry()?)?,
    })
}

fn report_data(row: &Row) -> Result<Option<Box<RawValue>>, String> {
    let Some(data) = row.object("report_data")? else { return Ok(None) };
    if holds_nul(data) {
        return Err("report_data must not contain NUL characters".to_owned());
    }
    to_raw_value(data).map(Some).map_err(|error| format!("report_data: {error}"))
}
