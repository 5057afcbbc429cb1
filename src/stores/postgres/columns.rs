//! Maps values of the model to columns.

use std::convert::Infallible;
use std::num::NonZeroU32;

use chrono::{DateTime, Datelike, Utc};
use geo::MultiPolygon;
use serde::ser::{Error as _, Serialize, Serializer};
use serde_json::value::RawValue;
use sqlx::error::BoxDynError;
use sqlx::postgres::PgRow;
use sqlx::{Decode, Postgres, Row, Type};

use super::values::{moment, number};
use crate::auth::{KeyDigest, Scope};
use crate::model::{
    AlertLevel, AreaId, AreaRule, Attributes, BatchNumber, CardId, DisasterType, FloodState, GaugeSettings,
    Geometry, InfrastructureKind, InfrastructureShape, ModerationAction, Mute, Position, ReportDigest,
    ReportKey, ReportedAlert, Timestamp,
};
use crate::stores::wkb;

pub(super) trait Column: Sized {
    /// The type that the driver decodes.
    type Stored: for<'r> Decode<'r, Postgres> + Type<Postgres>;

    fn read(stored: Self::Stored) -> Result<Self, BoxDynError>;

    /// The representation that `json_populate_recordset` parses.
    fn json(&self) -> impl Serialize;
}

pub(super) fn get<T: Column>(row: &PgRow, name: &str) -> Result<T, sqlx::Error> {
    T::read(row.try_get(name)?).map_err(|source| sqlx::Error::ColumnDecode { index: name.to_owned(), source })
}

impl<T: Column> Column for Option<T> {
    type Stored = Option<T::Stored>;

    fn read(stored: Self::Stored) -> Result<Self, BoxDynError> {
        stored.map(T::read).transpose()
    }

    fn json(&self) -> impl Serialize {
        self.as_ref().map(T::json)
    }
}

impl<T: Column> Column for Vec<T>
where
    Vec<T::Stored>: for<'r> Decode<'r, Postgres> + Type<Postgres>,
{
    type Stored = Vec<T::Stored>;

    fn read(stored: Self::Stored) -> Result<Self, BoxDynError> {
        stored.into_iter().map(T::read).collect()
    }

    fn json(&self) -> impl Serialize {
        self.iter().map(T::json).collect::<Vec<_>>()
    }
}

/// Implements [`Column`] from the driver's type, a conversion from it, and the JSON representation.
macro_rules! columns {
    ($($type:ty as $stored:ty: $read:expr, |$value:ident| $json:expr;)+) => {
        $(
            impl Column for $type {
                type Stored = $stored;

                fn read(stored: $stored) -> Result<Self, BoxDynError> {
                    let read = $read;
                    Ok(read(stored)?)
                }

                fn json(&self) -> impl Serialize {
                    let $value = self;
                    $json
                }
            }
        )+
    };
}

columns! {
    bool as bool: Ok::<_, Infallible>, |value| value;
    f64 as f64: Ok::<_, Infallible>, |number| number;
    i64 as i64: Ok::<_, Infallible>, |number| number;
    u64 as i64: number, |number| number;
    u32 as i64: number, |number| number;
    NonZeroU32 as i64: |column| u32::try_from(column).and_then(NonZeroU32::try_from), |rate| rate;
    String as String: Ok::<_, Infallible>, |text| text;
    Box<str> as String: |column: String| Ok::<_, Infallible>(column.into()), |text| text;
    Box<RawValue> as String: RawValue::from_string, |json| json;
    Timestamp as DateTime<Utc>: |column: DateTime<Utc>| Ok::<_, Infallible>(column.into()), |at| timestamp_text(*at);
    DateTime<Utc> as DateTime<Utc>: Ok::<_, Infallible>, |at| timestamp_text((*at).into());
    AreaId as i64: number, |area| area.number();
    ReportKey as i64: number, |key| key.number();
    BatchNumber as i64: number, |batch| batch.get();
    FloodState as i16: number, |state| state.code();
    AlertLevel as i16: number, |level| level.number();
    CardId as String: |column: String| column.parse(), |id| id.as_str();
    DisasterType as String: |column: String| column.parse(), |disaster| disaster;
    InfrastructureKind as String: |column: String| column.parse(), |kind| kind.name();
    ModerationAction as String: |column: String| column.parse(), |action| action.name();
    Scope as String: |column: String| column.parse(), |scope| scope.name();
    ReportedAlert as String: |column: String| serde_json::from_str(&column), |reported| reported;
    GaugeSettings as Option<String>: |column: Option<String>| column.map_or_else(|| Ok(GaugeSettings::default()), |json| serde_json::from_str(&json)), |settings| (!settings.is_empty()).then_some(settings);
    Mute as String: |column: String| serde_json::from_str(&column), |mute| mute;
    AreaRule as String: |column: String| serde_json::from_str(&column), |rule| rule;
    KeyDigest as [u8; 32]: <[u8; 32]>::try_into, |digest| format!(r"\x{}", hex::encode(digest.as_bytes()));
    ReportDigest as [u8; 32]: <[u8; 32]>::try_into, |digest| format!(r"\x{digest}");
    Position as Vec<u8>: |column: Vec<u8>| wkb::place(&column), |place| Shape(Geometry::Point(place.coord()));
    MultiPolygon<f64> as Vec<u8>: |column: Vec<u8>| wkb::outline(&column), |outline|
        Shape(Geometry::MultiPolygon(outline));
    InfrastructureShape as Vec<u8>: |column: Vec<u8>| wkb::infrastructure_shape(&column), |shape| Shape(shape.geometry());
    // An empty JSON object counts as `None`: other programs that edit the database may store one.
    Option<Attributes> as Option<String>: |column: Option<String>|
        Ok::<_, Infallible>(column.and_then(|json| json.try_into().ok())), |attributes| attributes;
}

/// Formats a time for `PostgreSQL`, which writes the year 0 as 1 BC, and years of five digits without a sign.
fn timestamp_text(at: Timestamp) -> String {
    let stored = moment(at);
    if (1..=9999).contains(&stored.year()) {
        return at.to_string();
    }
    let (is_ad, year) = stored.year_ce();
    format!("{year:04}-{}{}", stored.format("%m-%dT%H:%M:%S%.fZ"), if is_ad { "" } else { " BC" })
}

struct Shape<'g>(Geometry<'g>);

impl Serialize for Shape<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex::encode(wkb::shape(self.0).map_err(S::Error::custom)?))
    }
}
