use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Month;
use super::files::digest;
use crate::collections::{Column, Kind};
use crate::config::Config;
use crate::model::Timestamp;

/// The name of the description.
pub(super) const PACKAGE: &str = "datapackage.json";

/// The description of a folder: a data package (Frictionless Data, version 1).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Package {
    profile: String,
    name: String,
    title: String,
    created: String,
    licenses: Vec<Value>,
    /// The month.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    temporal: Option<Value>,
    pub(crate) resources: Vec<Resource>,
    /// The number of the newest entry of the moderation log that was read.
    #[serde(default, rename = "siaga:moderated")]
    pub(super) moderated: u64,
    /// When the oldest report in it was made.
    #[serde(default, rename = "siaga:oldest_report", skip_serializing_if = "Option::is_none")]
    pub(super) oldest_report: Option<String>,
}

/// A file of a package.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Resource {
    name: String,
    /// Its name in the folder.
    pub(crate) path: String,
    profile: String,
    format: String,
    pub(crate) mediatype: String,
    encoding: String,
    pub(crate) bytes: u64,
    pub(crate) hash: String,
    /// How many rows or features it has.
    #[serde(rename = "siaga:rows")]
    pub(crate) rows: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    schema: Option<Value>,
}

impl Package {
    pub(super) fn new(
        config: &Config,
        now: Timestamp,
        month: Option<Month>,
        resources: Vec<Resource>,
    ) -> Self {
        let licence = match &config.licence.url {
            Some(url) => json!({ "path": url.as_str(), "title": config.licence.terms }),
            None => json!({ "name": "notspecified", "title": config.licence.terms }),
        };
        let of = month.map_or_else(|| "areas".to_owned(), |month| month.to_string());
        Self {
            profile: "data-package".to_owned(),
            name: format!("siaga-{of}"),
            title: format!("{}: {of}", config.site.name),
            created: now.to_string(),
            licenses: vec![licence],
            temporal: month.map(|month| json!({ "start": month.begin(), "end": month.end().min(now) })),
            resources,
            moderated: 0,
            oldest_report: None,
        }
    }

    pub(super) fn read(folder: &Path) -> io::Result<Self> {
        Ok(serde_json::from_slice(&fs::read(folder.join(PACKAGE))?)?)
    }

    /// Writes the description; the old one stays until the new one is complete.
    pub(super) fn write(&self, folder: &Path) -> io::Result<()> {
        let part = folder.join(".datapackage.part");
        fs::write(&part, serde_json::to_vec_pretty(self)?)?;
        fs::rename(part, folder.join(PACKAGE))
    }

    /// Returns the file with a name, or the description itself.
    pub(super) fn resource(&self, folder: &Path, name: &str) -> Option<Resource> {
        if name == PACKAGE {
            let text = fs::read(folder.join(PACKAGE)).ok()?;
            return Some(Resource::new("datapackage", name, text.len() as u64, digest(&text), 0, None));
        }
        self.resources.iter().find(|resource| resource.path == name).cloned()
    }
}

impl Resource {
    pub(super) fn new(
        name: &str,
        path: &str,
        bytes: u64,
        hash: String,
        rows: u64,
        columns: Option<&[Column]>,
    ) -> Self {
        let (format, mediatype) = match path.rsplit('.').next() {
            Some("csv") => ("csv", "text/csv; charset=utf-8"),
            Some("geojson") => ("geojson", "application/geo+json"),
            _ => ("json", "application/json"),
        };
        let is_table = format == "csv";
        let schema = columns.filter(|_| is_table).map(|columns| {
            let fields: Vec<_> = columns.iter().map(field).collect();
            json!({ "fields": fields, "missingValues": [""] })
        });
        Self {
            name: name.to_owned(),
            path: path.to_owned(),
            profile: if is_table { "tabular-data-resource" } else { "data-resource" }.to_owned(),
            format: format.to_owned(),
            mediatype: mediatype.to_owned(),
            encoding: "utf-8".to_owned(),
            bytes,
            hash,
            rows,
            schema,
        }
    }
}

fn field(Column { name, kind, says }: &Column) -> Value {
    let (kind, format) = match kind {
        Kind::Integer => ("integer", "default"),
        Kind::Number => ("number", "default"),
        Kind::Text => ("string", "default"),
        Kind::Moment => ("datetime", "any"),
        Kind::Truth => ("boolean", "default"),
    };
    json!({ "name": name, "type": kind, "format": format, "description": says })
}
