use std::collections::HashMap;
use std::path::Path;

use serde_json::value::to_raw_value;

use super::geojson_file::{self, Row};
use super::geometry::place;
use super::tags::tags;
use crate::datasets::DatasetError;
use crate::model::{Locator, Report, ReportContent, ReportKey};

/// Reads the reports; none when there is no such file. Those without a `pkey` are counted on from the highest.
pub(super) fn read(path: &Path, locator: &Locator) -> Result<Vec<Report>, DatasetError> {
    let mut lines: HashMap<ReportKey, u64> = HashMap::new();
    let read = geojson_file::read(path, |row| {
        let key = key(row)?;
        match key.and_then(|key| lines.insert(key, row.line)) {
            Some(line) => Err(format!("pkey is that of line {line} already")),
            None => Ok((key, content(row)?, tags(row, |place| locator.locate(place))?)),
        }
    })?;
    let mut next = lines.keys().max().map_or(ReportKey::FIRST, |highest| highest.next());
    let keyed = read.into_iter().map(|(key, content, tags)| {
        let key = key.unwrap_or_else(|| {
            let after = next.next();
            std::mem::replace(&mut next, after)
        });
        Report { key, content, tags }
    });
    Ok(keyed.collect())
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
        report_data: row.object("report_data")?.and_then(|data| to_raw_value(data).ok()),
        title: row.prose("title")?.into(),
        text: row.prose("text")?.into(),
        location: place(row.geometry()?)?,
    })
}
