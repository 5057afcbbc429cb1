use serde_json::value::{RawValue, to_raw_value};

use super::feature::Feature;
use super::geometry::place;
use super::notes::FutureRows;
use super::tags::tags;
use super::unique::Unique;
use super::{
    Folder, FolderFile, FolderRow, FolderRules, FolderWriter, GeoJsonWriter, WriteError, geojson_file,
};
use crate::data::folder::DatasetError;
use crate::model::bodies::{check_storable, shown_card_data};
use crate::model::{
    self, Locator, Position, Report, ReportContent, ReportKey, Tags, WEB_ADDRESS, is_photo_name,
    is_web_address, without_zero_fraction,
};

/// A report from a folder.
#[derive(Clone, Debug)]
pub struct ReportRow {
    /// The identifier, if the report has one.
    pub key: Option<ReportKey>,
    /// The content.
    pub content: ReportContent,
    /// The areas that contain the report.
    pub tags: Tags,
}

impl Folder {
    /// Reads the reports, whose keys are optional. Fails on duplicate keys. `locator` determines missing tags from the place.
    pub fn reports<E: From<DatasetError>>(
        &self,
        locator: &Locator,
        each: impl FnMut(FolderRow<ReportRow>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.reports_of(FolderFile::Reports, locator, each)
    }

    /// Reads the hidden reports, which must have keys.
    pub fn hidden_reports<E: From<DatasetError>>(
        &self,
        locator: &Locator,
        each: impl FnMut(FolderRow<ReportRow>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.reports_of(FolderFile::HiddenReports, locator, each)
    }

    fn reports_of<E: From<DatasetError>>(
        &self,
        file: FolderFile,
        locator: &Locator,
        each: impl FnMut(FolderRow<ReportRow>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut keys = Unique::new("pkey");
        let mut future = FutureRows::new(self.now);
        let make = |feature: &Feature<'_>| {
            let key = key(feature)?;
            if key.is_none() && file == FolderFile::HiddenReports {
                return Err("pkey is missing: a hidden report needs one".to_owned());
            }
            key.map_or(Ok(()), |key| keys.add(key, feature.line))?;
            let content = content(feature, &self.rules)?;
            future.count(feature.line, content.created_at);
            let tags = tags(feature, content.location, locator)?;
            if !matches!(feature.optional_text("status")?.as_deref(), None | Some("confirmed")) {
                feature.note_ignored("status");
            }
            Ok(ReportRow { key, content, tags })
        };
        geojson_file::read(self, file, make, each)?;
        self.note_future(file, future);
        Ok(())
    }
}

fn key(feature: &Feature<'_>) -> Result<Option<ReportKey>, String> {
    match feature.text("pkey")?.as_str() {
        "" => Ok(None),
        text => without_zero_fraction(text).parse().map(Some).map_err(|error| format!("pkey {error}")),
    }
}

fn content(feature: &Feature<'_>, rules: &FolderRules) -> Result<ReportContent, String> {
    let location = place(feature.geometry()?)?;
    Ok(ReportContent {
        created_at: feature.moment("created_at")?,
        source: feature.required("source")?.into(),
        url: feature.optional_text("url")?.map(Box::from),
        image_url: image_url(feature)?.map(Box::from),
        disaster_type: rules.disaster(&feature.required("disaster_type")?)?,
        report_data: report_data(feature, location, rules)?,
        title: feature.optional_text("title")?.unwrap_or_default().into(),
        text: feature.optional_text("text")?.unwrap_or_default().into(),
        location,
        is_training: feature.truth("is_training")?,
        partner_code: feature.optional_text("partner_code")?.map(Box::from),
        partner_icon: web_address(feature, "partner_icon")?.map(Box::from),
    })
}

fn image_url(feature: &Feature<'_>) -> Result<Option<String>, String> {
    match feature.optional_text("image_url")? {
        Some(name) if is_photo_name(&name) => Ok(Some(name)),
        _ => web_address(feature, "image_url"),
    }
}

fn web_address(feature: &Feature<'_>, key: &str) -> Result<Option<String>, String> {
    match feature.optional_text(key)? {
        Some(text) if !text.is_empty() && !is_web_address(&text) => {
            Err(format!("{key} must be {WEB_ADDRESS}"))
        }
        address => Ok(address),
    }
}

/// Returns the card data of a report, with attributes in the types that the HTTP API uses.
fn report_data(
    feature: &Feature<'_>,
    location: Position,
    rules: &FolderRules,
) -> Result<Option<Box<RawValue>>, String> {
    let Some(data) = feature.object("report_data")? else { return Ok(None) };
    check_storable(&data).map_err(|unkeepable| format!("report_data {unkeepable}"))?;
    to_raw_value(&shown_card_data(&data, location, &rules.hazards))
        .map(Some)
        .map_err(|error| format!("report_data: {error}"))
}

impl FolderWriter {
    /// Starts writing `reports.geojson`.
    pub fn reports(&self) -> Result<GeoJsonWriter<Report>, WriteError> {
        self.features(FolderFile::Reports)
    }

    /// Starts writing `hidden_reports.geojson`.
    pub fn hidden_reports(&self) -> Result<GeoJsonWriter<Report>, WriteError> {
        self.features(FolderFile::HiddenReports)
    }
}

impl GeoJsonWriter<Report> {
    /// Writes the next report, with the same properties as in the HTTP API.
    pub fn write(&mut self, report: &Report) -> Result<(), WriteError> {
        let shown = model::Feature::from(report);
        self.feature(&shown.properties, shown.geometry)
    }
}
