use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use chrono::{DateTime, FixedOffset, NaiveDateTime};
use serde::{Deserialize, Deserializer, de};
use url::Url;

use super::gauge::GaugeSettings;

/// A feed of the configuration.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Feed {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) address: Option<Url>,
    /// Where the names and locations of the gauges are, if `address` has only readings.
    pub(crate) stations: Option<Url>,
    pub(crate) file: Option<PathBuf>,
    #[serde(default, deserialize_with = "parsed")]
    every: Option<humantime::Duration>,
    pub(crate) unit: Unit,
    /// Added to a level in centimetres.
    pub(crate) zero: Option<f64>,
    pub(crate) sentinels: Option<Vec<f64>>,
    /// Precedes the identifiers of gauges without `as`.
    prefix: Option<String>,
    pub(crate) alert: Option<Alert>,
    /// The offset of times that state none.
    #[serde(default, deserialize_with = "parsed")]
    offset: Option<FixedOffset>,
    time_format: Option<String>,
    /// The columns of a CSV file.
    #[serde(default)]
    pub(crate) columns: BTreeMap<String, String>,
    pub(crate) delimiter: Option<char>,
    pub(crate) decimal: Option<char>,
    /// The gauges by their identifier in the feed. If empty, all gauges are sent.
    #[serde(default, rename = "gauge")]
    pub(crate) gauges: BTreeMap<String, GaugeSettings>,
    /// The settings of gauges that are not listed.
    #[serde(skip)]
    default: GaugeSettings,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    EnvironmentAgency,
    Usgs,
    Sensorthings,
    Waterml,
    Csv,
}

/// The unit of the levels of a feed.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Unit {
    M,
    Ft,
    Cm,
}

impl Unit {
    pub(crate) fn to_centimetres(self, level: f64) -> f64 {
        level * [100.0, 30.48, 1.0][self as usize]
    }

    /// Whether a unit that a document states is this unit, possibly with a datum: `mASD`, `ft NAVD88`. `mm`, `m3/s` and `ft^3/s` are
    /// not.
    pub(crate) fn matches(self, stated: &str) -> bool {
        let datum = stated.trim().strip_prefix(["m", "ft", "cm"][self as usize]);
        let is_other = |next: char| next.is_lowercase() || next.is_numeric() || "-^/".contains(next);
        datum.is_some_and(|datum| !datum.starts_with(is_other) && !datum.contains('/'))
    }
}

/// The alert level of gauges without thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Alert {
    /// Always 4.
    Normal,
    /// Siaga computes it from thresholds that it has stored.
    Stored,
}

pub(crate) const SENTINELS: [f64; 7] = [-888.0, -999.0, -9999.0, -99999.0, -999_999.0, 9999.0, 99999.0];
const COLUMNS: [&str; 6] = ["gauge", "name", "time", "level", "lat", "lng"];

fn parsed<'de, D: Deserializer<'de>, T: FromStr<Err: Display>>(text: D) -> Result<Option<T>, D::Error> {
    let text = String::deserialize(text)?;
    let wrong = |error| de::Error::custom(format!("{text:?} is wrong ({error}): write \"5m\" or \"+07:00\""));
    text.parse().map(Some).map_err(wrong)
}

pub(crate) fn require(holds: bool, error: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(error()) }
}

impl Feed {
    pub(crate) fn check(&self) -> Result<(), String> {
        require(self.address.is_some() != self.file.is_some(), || "write either address or file".to_owned())?;
        let seconds = self.every().as_secs();
        require((30..=86_400).contains(&seconds), || format!("every is {seconds}s: write 30s to 24h"))?;
        let is_csv = ["time", "level"].iter().all(|column| self.columns.contains_key(*column));
        require(is_csv == (self.kind == Kind::Csv), || "write columns for the kind csv only".to_owned())?;
        if let Some(column) = self.columns.keys().find(|column| !COLUMNS.contains(&column.as_str())) {
            return Err(format!("columns has {column:?}: write one of {COLUMNS:?}"));
        }
        for (id, gauge) in &self.gauges {
            let is_valid = gauge.location.is_none_or(|location| location.is_valid());
            require(is_valid, || format!("gauge {id:?}: location is {:?}: write degrees", gauge.location))?;
            let are_ordered = gauge.thresholds.values().is_sorted_by(|high, low| high > low);
            require(are_ordered, || format!("gauge {id:?}: write thresholds with critical > alert > watch"))?;
        }
        Ok(())
    }

    pub(crate) fn every(&self) -> Duration {
        self.every.map_or(Duration::from_mins(5), Into::into)
    }

    /// Whether the configuration wants this gauge: it lists the gauge, or lists none.
    pub(crate) fn wants(&self, id: &str) -> bool {
        self.gauges.is_empty() || self.gauges.contains_key(id)
    }

    pub(crate) fn gauge(&self, id: &str) -> &GaugeSettings {
        self.gauges.get(id).unwrap_or(&self.default)
    }

    /// Returns the identifier in Siaga for one of the feed.
    pub(crate) fn gaugeid(&self, id: &str) -> String {
        let prefix = || self.prefix.clone().unwrap_or_else(|| format!("{}-", self.name));
        self.gauge(id).r#as.clone().unwrap_or_else(|| format!("{}{id}", prefix()))
    }

    /// Parses a time as `time_format`, or as RFC 3339; without an offset, it has the configured one. Returns milliseconds since 1970.
    pub(crate) fn time(&self, text: &str) -> Option<i64> {
        let own = self.time_format.as_deref();
        let zoned =
            own.map_or_else(|| DateTime::parse_from_rfc3339(text), |own| DateTime::parse_from_str(text, own));
        let local = NaiveDateTime::parse_from_str(text, own.unwrap_or("%Y-%m-%dT%H:%M:%S%.f"));
        let local = || local.ok()?.and_local_timezone(self.offset?).single();
        zoned.ok().or_else(local).map(|time| time.timestamp_millis())
    }
}
