use serde_json::{Value, json};

use super::parameter::one_of;
use super::{PathParameter, QueryParameter};
use crate::config::Config;
use crate::model::{AreaId, InvalidAreaId};

/// The identifier of an alert in a path. Any text is valid, because each issuer chooses the form of its identifiers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AlertIdentifier(pub String);

impl PathParameter for AlertIdentifier {
    const NAME: &'static str = "identifier";
    const DESCRIPTION: &'static str = "The CAP identifier of the alert.";
    const MISSING: Option<&'static str> = Some("There is no such alert, or it is not sent yet.");

    fn schema() -> Value {
        json!({ "type": "string", "examples": ["siaga.example.org-5-1482155632274-0"] })
    }

    fn parse(text: &str) -> Result<Self, String> {
        Ok(Self(text.to_owned()))
    }
}

/// `content`: whether the entries of a feed contain the whole alerts. **Default: no**
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AlertContent {
    pub inline: bool,
}

impl QueryParameter for AlertContent {
    const NAME: &'static str = "content";
    const DESCRIPTION: &'static str =
        "`inline` adds the whole alert to each entry of the Atom feed; other formats ignore it.";

    fn schema(_: &Config) -> Value {
        json!({ "type": "string", "enum": ["inline"] })
    }

    fn parse(value: Option<&str>, _: &Config) -> Result<Self, String> {
        let inline = value.map(|value| one_of(value, &["inline"])).transpose()?.is_some();
        Ok(Self { inline })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HistoryArea(pub AreaId);

impl QueryParameter for HistoryArea {
    const NAME: &'static str = "area";
    const DESCRIPTION: &'static str = "The local area.";
    const REQUIRED: bool = true;

    fn schema(_: &Config) -> Value {
        AreaId::schema()
    }

    fn parse(value: Option<&str>, _: &Config) -> Result<Self, String> {
        let value = value.ok_or("is required")?;
        value.parse().map(Self).map_err(|error: InvalidAreaId| error.to_string())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BeforeAlert(pub(crate) Option<AlertIdentifier>);

impl QueryParameter for BeforeAlert {
    const NAME: &'static str = "before";
    const DESCRIPTION: &'static str = "The identifier of an alert: only earlier ones are listed.";

    fn schema(_: &Config) -> Value {
        AlertIdentifier::schema()
    }

    fn parse(value: Option<&str>, _: &Config) -> Result<Self, String> {
        Ok(Self(value.map(|text| AlertIdentifier(text.to_owned()))))
    }
}
