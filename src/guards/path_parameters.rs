//! Path segments that are parsed without the configuration.

use serde_json::{Value, json};

use super::PathParameter;
use crate::model::{AreaId, InfrastructureKind, NAME, ReportKey, SenderHash, is_name};
use crate::schema;

impl PathParameter for AreaId {
    const NAME: &'static str = "localAreaId";
    const DESCRIPTION: &'static str = "The local area.";
    const MISSING: Option<&'static str> = Some("There is no such area.");

    fn schema() -> Value {
        json!({ "type": "integer", "minimum": 0, "maximum": Self::MAX, "examples": [5] })
    }

    fn parse(text: &str) -> Result<Self, String> {
        text.parse().map_err(|error: crate::model::InvalidAreaId| error.to_string())
    }
}

impl PathParameter for ReportKey {
    const NAME: &'static str = "id";
    const DESCRIPTION: &'static str = "The report.";
    const MISSING: Option<&'static str> = Some("There is no such report.");

    fn schema() -> Value {
        json!({ "type": "integer", "minimum": 1, "maximum": Self::MAX, "examples": [1] })
    }

    fn parse(text: &str) -> Result<Self, String> {
        text.parse().map_err(|error: crate::model::InvalidReportKey| error.to_string())
    }
}

impl PathParameter for InfrastructureKind {
    const NAME: &'static str = "type";
    const DESCRIPTION: &'static str = "The kind.";
    const MISSING: Option<&'static str> = None;

    fn schema() -> Value {
        json!({ "type": "string", "enum": Self::ALL })
    }

    fn parse(text: &str) -> Result<Self, String> {
        text.parse().map_err(|error: crate::model::UnknownInfrastructureKind| error.to_string())
    }
}

#[derive(Clone, Debug)]
pub(crate) struct GaugeId(pub String);

impl PathParameter for GaugeId {
    const NAME: &'static str = "id";
    const DESCRIPTION: &'static str = "The gauge.";
    const MISSING: Option<&'static str> = Some("There is no such gauge.");

    fn schema() -> Value {
        schema::name(Self::DESCRIPTION, "TMA00001")
    }

    fn parse(text: &str) -> Result<Self, String> {
        is_name(text).then(|| Self(text.to_owned())).ok_or_else(|| format!("must be {NAME}"))
    }
}

#[derive(Clone, Debug)]
pub(crate) struct SourceName(pub String);

impl PathParameter for SourceName {
    const NAME: &'static str = "name";
    const DESCRIPTION: &'static str = "The source.";
    const MISSING: Option<&'static str> = Some("There is no such source.");

    fn schema() -> Value {
        json!({ "type": "string", "examples": ["river-gauges"] })
    }

    fn parse(text: &str) -> Result<Self, String> {
        Ok(Self(text.to_owned()))
    }
}

impl PathParameter for SenderHash {
    const NAME: &'static str = "sender";
    const DESCRIPTION: &'static str = "The sender of waiting reports.";
    const MISSING: Option<&'static str> = None;

    fn schema() -> Value {
        json!({ "type": "string", "pattern": "^[0-9a-f]{16}$" })
    }

    fn parse(text: &str) -> Result<Self, String> {
        text.parse().map_err(|error: crate::model::InvalidSenderHash| error.to_string())
    }
}
