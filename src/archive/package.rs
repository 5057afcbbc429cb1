use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Month;
use super::files::size_and_digest;
use crate::config::Config;
use crate::formats::tables::{Column, Kind};
use crate::model::Timestamp;

pub(super) const PACKAGE: &str = "datapackage.json";

/// The members of a data package (Frictionless Data, version 1) that the server reads.
#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    pub(crate) resources: Vec<Resource>,
    /// Number of the newest moderation log entry when the data was read.
    #[serde(rename = "siaga:moderated")]
    pub(super) moderated: u64,
    #[serde(default, rename = "siaga:oldest_report")]
    pub(super) oldest_report: Option<DateTime<Utc>>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Resource {
    pub(crate) path: String,
    pub(crate) mediatype: String,
    pub(crate) bytes: u64,
    pub(crate) hash: String,
    #[serde(rename = "siaga:rows")]
    pub(crate) rows: u64,
}

impl Package {
    pub(super) fn read(folder: &Path) -> io::Result<Self> {
        Ok(serde_json::from_slice(&fs::read(folder.join(PACKAGE))?)?)
    }

    /// Returns the entry of the file with this name. `datapackage.json` does not list itself, so its entry is computed.
    pub(super) fn resource(&self, folder: &Path, name: &str) -> Option<Resource> {
        if name != PACKAGE {
            return self.resources.iter().find(|resource| resource.path == name).cloned();
        }
        let (bytes, hash) = size_and_digest(&folder.join(PACKAGE)).ok()?;
        let (path, mediatype) = (name.to_owned(), "application/json".to_owned());
        Some(Resource { path, mediatype, bytes, hash, rows: 0 })
    }
}

/// Writes the data package of a month, or without `month` of the areas.
pub(super) fn write_package(
    folder: &Path,
    config: &Config,
    now: Timestamp,
    month: Option<Month>,
    resources: Vec<Value>,
    moderated: u64,
    oldest_report: Option<Timestamp>,
) -> io::Result<()> {
    let licence = match &config.licence.url {
        Some(url) => json!({ "path": url.as_str(), "title": config.licence.terms }),
        None => json!({ "name": "notspecified", "title": config.licence.terms }),
    };
    let name = month.map_or_else(|| "areas".to_owned(), |month| month.to_string());
    let mut package = json!({
        "profile": "data-package",
        "name": format!("siaga-{name}"),
        "title": format!("{}: {name}", config.site.name),
        "created": now,
        "licenses": [licence],
    });
    if let Some(month) = month {
        package["temporal"] = json!({ "start": month.start(), "end": month.end().min(now) });
    }
    package["resources"] = resources.into();
    package["siaga:moderated"] = moderated.into();
    if let Some(oldest) = oldest_report {
        package["siaga:oldest_report"] = json!(oldest);
    }
    fs::write(folder.join(PACKAGE), serde_json::to_vec_pretty(&package)?)
}

/// Returns the data package's entry for a written file: a CSV table if `columns` are given, otherwise GeoJSON.
pub(super) fn describe_file(
    name: &str,
    path: &Path,
    rows: u64,
    columns: Option<&[Column]>,
) -> io::Result<Value> {
    let (bytes, hash) = size_and_digest(path)?;
    let (profile, format, mediatype) = match columns {
        Some(_) => ("tabular-data-resource", "csv", "text/csv; charset=utf-8"),
        None => ("data-resource", "geojson", "application/geo+json"),
    };
    let mut resource = json!({
        "name": name,
        "path": path.file_name().map(OsStr::to_string_lossy),
        "profile": profile,
        "format": format,
        "mediatype": mediatype,
        "encoding": "utf-8",
        "bytes": bytes,
        "hash": hash,
        "siaga:rows": rows,
    });
    if let Some(columns) = columns {
        let fields: Vec<_> = columns.iter().map(field).collect();
        resource["schema"] = json!({ "fields": fields, "missingValues": [""] });
    }
    Ok(resource)
}

fn field(Column { name, kind, description }: &Column) -> Value {
    let (kind, format) = match kind {
        Kind::Integer => ("integer", "default"),
        Kind::Number => ("number", "default"),
        Kind::Text => ("string", "default"),
        Kind::Moment => ("datetime", "any"),
        Kind::Truth => ("boolean", "default"),
    };
    json!({ "name": name, "type": kind, "format": format, "description": description })
}
