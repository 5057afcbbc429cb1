use std::array::TryFromSliceError;
use std::convert::Infallible;
use std::error::Error;
use std::num::NonZeroU32;

use chrono::{DateTime, Utc};
use geo::MultiPolygon;
use serde::de::Error as _;
use serde_json::value::RawValue;
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Arguments, Decode, Row, Sqlite, Type, ValueRef};

use super::super::error::FileError;
use crate::auth::{KeyDigest, Scope};
use crate::model::{
    AlertLevel, AreaId, AreaRule, Attributes, BatchNumber, CardId, DisasterType, FloodState, GaugeSettings,
    Geometry, InfrastructureKind, InfrastructureShape, ModerationAction, Mute, PhotoPlace, Position,
    ReportDigest, ReportKey, ReportedAlert, RequestKey, SenderHash, Timestamp,
};
use crate::stores::wkb;

/// The result of adding a value to a row. An error means that the value cannot be stored.
pub(super) type Added = Result<(), Box<dyn Error + Send + Sync>>;

/// A value of the model that is stored as one column.
pub(super) trait Column: Sized {
    fn put(&self, row: &mut SqliteArguments) -> Added;

    /// Reads the next column of a row.
    fn get(row: &mut Fields<'_>) -> Result<Self, FileError>;
}

/// Reads the columns of a row one after the other.
pub(super) struct Fields<'r> {
    table: &'static str,
    row: &'r SqliteRow,
    next: usize,
}

impl<'r> Fields<'r> {
    pub(super) fn new(table: &'static str, row: &'r SqliteRow) -> Self {
        Self { table, row, next: 0 }
    }

    fn next<T: Decode<'r, Sqlite> + Type<Sqlite>>(&mut self) -> Result<T, FileError> {
        let value = self.row.try_get(self.next)?;
        self.next += 1;
        Ok(value)
    }

    fn convert<S: Decode<'r, Sqlite> + Type<Sqlite>, T, E: Error>(
        &mut self,
        convert: impl FnOnce(S) -> Result<T, E>,
    ) -> Result<T, FileError> {
        let table = self.table;
        convert(self.next()?).map_err(FileError::row(table))
    }

    fn shape<T, E: Error>(&mut self, convert: impl FnOnce(&[u8]) -> Result<T, E>) -> Result<T, FileError> {
        let table = self.table;
        convert(shape_of(table, self.next()?)?).map_err(FileError::row(table))
    }
}

impl<T: Column> Column for Option<T> {
    fn put(&self, row: &mut SqliteArguments) -> Added {
        match self {
            Some(value) => value.put(row),
            None => row.add(None::<i64>),
        }
    }

    fn get(row: &mut Fields<'_>) -> Result<Self, FileError> {
        if row.row.try_get_raw(row.next)?.is_null() {
            row.next += 1;
            return Ok(None);
        }
        T::get(row).map(Some)
    }
}

/// Implements [`Column`] by conversions to and from a type that `SQLite` supports.
macro_rules! columns {
    ($($type:ty as $stored:ty: $put:expr, $get:expr;)+) => {
        $(
            impl Column for $type {
                fn put(&self, row: &mut SqliteArguments) -> Added {
                    let put: fn(&$type) -> $stored = $put;
                    row.add(put(self))
                }

                fn get(row: &mut Fields<'_>) -> Result<Self, FileError> {
                    row.convert::<$stored, _, _>($get)
                }
            }
        )+
    };
}

columns! {
    i64 as i64: |number| *number, Ok::<_, Infallible>;
    u64 as i64: |number| number.cast_signed(), |column| Ok::<_, Infallible>(column.cast_unsigned());
    u32 as i64: |number| (*number).into(), u32::try_from;
    f64 as f64: |number| *number, Ok::<_, Infallible>;
    bool as bool: |is| *is, Ok::<_, Infallible>;
    SenderHash as String: SenderHash::to_string, |column| column.parse::<SenderHash>();
    String as &str: String::as_str, |column| Ok::<_, Infallible>(column.to_owned());
    Box<str> as &str: |text| text, |column| Ok::<_, Infallible>(column.into());
    Box<RawValue> as &str: |json| json.get(), |column| RawValue::from_string(column.to_owned());
    // The milliseconds since 1970.
    Timestamp as i64: |at| at.to_utc().timestamp_millis(), |column| Ok::<_, Infallible>(moment(column));
    DateTime<Utc> as i64: DateTime::timestamp_millis, |column| Ok::<_, Infallible>(moment(column).to_utc());
    AreaId as i64: |area| area.number().cast_signed(), |column| column.cast_unsigned().try_into();
    ReportKey as i64: |key| key.number().cast_signed(), |column| column.cast_unsigned().try_into();
    BatchNumber as i64: |batch| batch.get().cast_signed(), |column| column.cast_unsigned().try_into();
    // The UUID of the request in 16 bytes, followed by the digest.
    RequestKey as Vec<u8>: |request| [&request.id.to_be_bytes()[..], &request.digest].concat(), request;
    // JSON, for example `[[5,2],[6,null]]`.
    Vec<(AreaId, Option<FloodState>)> as String: |changes| changes_to_json(changes), |column| read(&column);
    FloodState as i64: |state| state.code().into(), |column| column.cast_unsigned().try_into();
    AlertLevel as i64: |level| level.number().into(), |column| column.cast_unsigned().try_into();
    CardId as &str: CardId::as_str, str::parse;
    DisasterType as &str: DisasterType::name, str::parse;
    InfrastructureKind as &str: |kind| kind.name(), str::parse;
    ModerationAction as &str: |action| action.name(), str::parse;
    PhotoPlace as &str: |place| place.name(), str::parse;
    KeyDigest as &[u8]: |digest| digest.as_bytes(), |column| <[u8; 32]>::try_from(column).map(Self::from);
    ReportDigest as &[u8]: |digest| digest.as_bytes(), |column| <[u8; 32]>::try_from(column).map(Self::from);
    Vec<Scope> as String: |scopes| scopes.iter().map(|scope| scope.name()).collect::<Vec<_>>().join(" "),
        |column| column.split(' ').filter(|name| !name.is_empty()).map(str::parse).collect();
}

/// Implements [`Column`] as JSON.
macro_rules! json_columns {
    ($($type:ty),+) => {
        $(
            impl Column for $type {
                fn put(&self, row: &mut SqliteArguments) -> Added {
                    row.add(serde_json::to_string(self)?)
                }

                fn get(row: &mut Fields<'_>) -> Result<Self, FileError> {
                    row.convert(|column: String| serde_json::from_str(&column))
                }
            }
        )+
    };
}

json_columns!(AreaRule, Mute, ReportedAlert);

impl Column for GaugeSettings {
    fn put(&self, row: &mut SqliteArguments) -> Added {
        let settings = (!self.is_empty()).then(|| serde_json::to_string(self)).transpose()?;
        row.add(settings)
    }

    fn get(row: &mut Fields<'_>) -> Result<Self, FileError> {
        row.convert(|column: Option<String>| {
            column.map_or_else(|| Ok(Self::default()), |json| serde_json::from_str(&json))
        })
    }
}

fn request(column: Vec<u8>) -> Result<RequestKey, TryFromSliceError> {
    let (id, digest) = column.split_at(column.len().min(16));
    Ok(RequestKey { id: u128::from_be_bytes(id.try_into()?), digest: digest.try_into()? })
}

fn changes_to_json(changes: &[(AreaId, Option<FloodState>)]) -> String {
    let number = |(area, state): &(AreaId, Option<FloodState>)| (area.number(), state.map(FloodState::code));
    serde_json::json!(changes.iter().map(number).collect::<Vec<_>>()).to_string()
}

fn read(column: &str) -> Result<Vec<(AreaId, Option<FloodState>)>, serde_json::Error> {
    let changes: Vec<(u64, Option<u64>)> = serde_json::from_str(column)?;
    let change = |(area, state): (u64, Option<u64>)| {
        let area = AreaId::try_from(area).map_err(serde_json::Error::custom)?;
        Ok((area, state.map(FloodState::try_from).transpose().map_err(serde_json::Error::custom)?))
    };
    changes.into_iter().map(change).collect()
}

fn moment(column: i64) -> Timestamp {
    Timestamp::from_millis(column).unwrap_or(Timestamp::LAST)
}

/// Both NULL and zero in the column mean `None`.
impl Column for Option<NonZeroU32> {
    fn put(&self, row: &mut SqliteArguments) -> Added {
        row.add(self.map(NonZeroU32::get))
    }

    fn get(row: &mut Fields<'_>) -> Result<Self, FileError> {
        Ok(Option::<u32>::get(row)?.and_then(NonZeroU32::new))
    }
}

/// An empty JSON object means `None`: other programs that edit the file may store one.
impl Column for Option<Attributes> {
    fn put(&self, row: &mut SqliteArguments) -> Added {
        row.add(self.as_ref().map(Attributes::as_json))
    }

    fn get(row: &mut Fields<'_>) -> Result<Self, FileError> {
        Ok(Option::<String>::get(row)?.and_then(|json| json.try_into().ok()))
    }
}

/// The `GeoPackage` header of geometry in WGS 84 without an envelope, in little-endian order (OGC 12-128r17 §2.1.3).
const HEADER: [u8; 8] = [b'G', b'P', 0, 1, 0xe6, 0x10, 0, 0];

fn put_shape(geometry: Geometry<'_>, row: &mut SqliteArguments) -> Added {
    row.add([&HEADER[..], &wkb::shape(geometry)?].concat())
}

/// Returns the WKB of a `GeoPackage` geometry. Other programs may have added an envelope.
fn shape_of<'b>(table: &'static str, blob: &'b [u8]) -> Result<&'b [u8], FileError> {
    let envelope = blob.get(3).map(|flags| match flags >> 1 & 0b111 {
        0 => 0,
        1 => 32,
        2 | 3 => 48,
        _ => 64,
    });
    let shape = envelope.filter(|_| blob.starts_with(b"GP")).and_then(|size| blob.get(HEADER.len() + size..));
    shape.ok_or_else(|| FileError::Row { table, reason: "its geometry is not GeoPackage's".to_owned() })
}

impl Column for Position {
    fn put(&self, row: &mut SqliteArguments) -> Added {
        put_shape(Geometry::Point(self.coord()), row)
    }

    fn get(row: &mut Fields<'_>) -> Result<Self, FileError> {
        row.shape(wkb::place)
    }
}

impl Column for MultiPolygon<f64> {
    fn put(&self, row: &mut SqliteArguments) -> Added {
        put_shape(Geometry::MultiPolygon(self), row)
    }

    fn get(row: &mut Fields<'_>) -> Result<Self, FileError> {
        row.shape(wkb::outline)
    }
}

impl Column for InfrastructureShape {
    fn put(&self, row: &mut SqliteArguments) -> Added {
        put_shape(self.geometry(), row)
    }

    fn get(row: &mut Fields<'_>) -> Result<Self, FileError> {
        row.shape(wkb::infrastructure_shape)
    }
}
