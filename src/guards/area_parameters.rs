//! Query parameters for parts of the map.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::QueryParameter;
use super::parameter::one_of;
use crate::config::Config;
use crate::model::{AreaId, AreaLevel, BoundingBox, digits};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BboxParam(pub Option<BoundingBox>);

impl QueryParameter for BboxParam {
    const NAME: &'static str = "bbox";
    const DESCRIPTION: &'static str = "Only what touches this part of the map: `west,south,east,north` in degrees. A west that is \
                                greater than the east crosses the 180th meridian. The sides are moved outwards to the next \
                                hundredth of a degree.";

    fn schema(_: &Config) -> Value {
        let lng = r"-?(1[0-7]\d|[1-9]?\d)(\.\d{1,12})?";
        let lat = r"-?[1-8]?\d(\.\d{1,12})?";
        let pattern = format!("^{lng},{lat},{lng},{lat}$");
        json!({ "type": "string", "pattern": pattern, "examples": ["106.7,-6.3,106.9,-6.1"] })
    }

    fn parse(value: Option<&str>, _: &Config) -> Result<Self, String> {
        let rule = "must be four numbers with commas between them: west, south, east and north in degrees, longitudes from \
                    -180 to 180, latitudes from -90 to 90";
        let Some(value) = value else { return Ok(Self(None)) };
        let numbers: Vec<f64> =
            value.split(',').map(str::parse).collect::<Result<_, _>>().map_err(|_| rule)?;
        let bbox = numbers.try_into().ok().and_then(BoundingBox::around);
        bbox.map(|bbox| Self(Some(bbox))).ok_or_else(|| rule.to_owned())
    }
}

const MAX_IDS: usize = 100;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AreaIds(pub Option<BTreeSet<AreaId>>);

impl QueryParameter for AreaIds {
    const NAME: &'static str = "ids";
    const DESCRIPTION: &'static str = "Only these local areas: up to 100 `area_id` with commas between them. An unknown one is ignored. \
                                Without effect on other levels.";

    fn schema(_: &Config) -> Value {
        let pattern = format!(r"^\d{{1,18}}(,\d{{1,18}}){{0,{}}}$", MAX_IDS - 1);
        json!({ "type": "string", "pattern": pattern, "examples": ["5,6,7"] })
    }

    fn parse(value: Option<&str>, _: &Config) -> Result<Self, String> {
        let rule = || format!("must be 1 to {MAX_IDS} area_id with commas between them");
        let Some(value) = value else { return Ok(Self(None)) };
        let ids: Vec<AreaId> =
            value.split(',').map(str::parse).collect::<Result<_, _>>().map_err(|_| rule())?;
        if ids.len() > MAX_IDS { Err(rule()) } else { Ok(Self(Some(ids.into_iter().collect()))) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Zoom(pub u8);

impl QueryParameter for Zoom {
    const NAME: &'static str = "zoom";
    const DESCRIPTION: &'static str = "The zoom of the map, in whole steps: at zoom 0 the world is 256 pixels wide, at each further one \
                                twice as wide.";
    const REQUIRED: bool = true;

    fn schema(_: &Config) -> Value {
        json!({ "type": "integer", "minimum": 0, "maximum": MAX_ZOOM, "examples": [13] })
    }

    fn parse(value: Option<&str>, _: &Config) -> Result<Self, String> {
        let zoom = value.and_then(digits).and_then(|zoom| u8::try_from(zoom).ok());
        let rule = || format!("must be a whole number from 0 to {MAX_ZOOM}");
        zoom.filter(|zoom| *zoom <= MAX_ZOOM).map(Self).ok_or_else(rule)
    }
}

const MAX_ZOOM: u8 = 22;

/// `level`: the level of the requested boundaries. **Default: `area`**
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Level(pub AreaLevel);

impl QueryParameter for Level {
    const NAME: &'static str = "level";
    const DESCRIPTION: &'static str = "Local areas, the larger areas that they are parts of, or cities.";

    fn schema(_: &Config) -> Value {
        let names = AreaLevel::ALL.map(AreaLevel::name);
        json!({ "type": "string", "enum": names, "default": AreaLevel::default().name() })
    }

    fn parse(value: Option<&str>, _: &Config) -> Result<Self, String> {
        let level = value.map(|value| one_of(value, &AreaLevel::ALL).copied()).transpose()?;
        Ok(Self(level.unwrap_or_default()))
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Latitude(pub f64);

impl QueryParameter for Latitude {
    const NAME: &'static str = "lat";
    const DESCRIPTION: &'static str = "The latitude in degrees.";
    const REQUIRED: bool = true;

    fn schema(_: &Config) -> Value {
        json!({ "type": "number", "minimum": -90, "maximum": 90, "examples": [-6.18] })
    }

    fn parse(value: Option<&str>, _: &Config) -> Result<Self, String> {
        parse_degrees(value, 90.0).map(Self)
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Longitude(pub f64);

impl QueryParameter for Longitude {
    const NAME: &'static str = "lng";
    const DESCRIPTION: &'static str = "The longitude in degrees.";
    const REQUIRED: bool = true;

    fn schema(_: &Config) -> Value {
        json!({ "type": "number", "minimum": -180, "maximum": 180, "examples": [106.83] })
    }

    fn parse(value: Option<&str>, _: &Config) -> Result<Self, String> {
        parse_degrees(value, 180.0).map(Self)
    }
}

/// `long`: a longitude, by the name that `PetaBencana`'s clients use. Required.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LongParam(pub f64);

impl QueryParameter for LongParam {
    const NAME: &'static str = "long";
    const DESCRIPTION: &'static str = Longitude::DESCRIPTION;
    const REQUIRED: bool = true;

    fn schema(config: &Config) -> Value {
        Longitude::schema(config)
    }

    fn parse(value: Option<&str>, _: &Config) -> Result<Self, String> {
        parse_degrees(value, 180.0).map(Self)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Admin(pub String);

impl QueryParameter for Admin {
    const NAME: &'static str = "admin";
    const DESCRIPTION: &'static str =
        "The `code` of a province of `/cities`, or the `id` of a city of `/regions`.";
    const REQUIRED: bool = true;

    fn schema(_: &Config) -> Value {
        json!({ "type": "string", "minLength": 1, "examples": ["ID-JK"] })
    }

    fn parse(value: Option<&str>, _: &Config) -> Result<Self, String> {
        value.map(|value| Self(value.to_owned())).ok_or_else(|| "is required".to_owned())
    }
}

fn parse_degrees(value: Option<&str>, max: f64) -> Result<f64, String> {
    let degrees = value.ok_or("is required")?.parse().ok();
    let rule = || format!("must be a number of degrees from -{max} to {max}");
    degrees.filter(|degrees: &f64| degrees.abs() <= max).ok_or_else(rule)
}
