//! Maps the model's types to rows.

use serde::ser::{Serialize, SerializeMap, Serializer};
use sqlx::FromRow;
use sqlx::postgres::PgRow;

use super::columns::{Column, get};
use crate::auth::ApiKey;
use crate::data::folder::ReportRow;
use crate::model::alerts::LogEntry;
use crate::model::{
    Actor, ArchiveRecord, Area, AreaId, Card, CardHolder, ErasedReport, FloodChange, Gauge, Infrastructure,
    ModerationEntry, Observation, PartnerPost, Position, Region, Report, ReportContent, ReportDigest,
    ReportKey, Tags, district_id,
};
use crate::stores::import::{ExtraArea, GaugeReading, ReportIdentity};
use crate::stores::{EndedLogin, KeyEntry, StoredKey};

pub(super) trait Columns {
    fn names() -> Vec<&'static str>;

    fn write<M: SerializeMap>(&self, columns: &mut M) -> Result<(), M::Error>;
}

/// Implements [`Columns`] and [`FromRow`] from a pattern. A name that the pattern binds is a column: `pkey` and `card_id` in
/// `Card { pkey, id: card_id, … }`. A name in parentheses is not a column: its field gets the default value.
macro_rules! rows {
    ($($Model:ident {$($shape:tt)+})+) => {
        $(rows!(@columns [$Model {$($shape)+}] [] [] $($shape)+);)+
    };

    // Collects the columns, and the names in parentheses.
    (@columns $row:tt $columns:tt $others:tt , $($rest:tt)*) => {
        rows!(@columns $row $columns $others $($rest)*);
    };
    (@columns $row:tt $columns:tt [$($others:tt)*] $field:ident: ($other:ident) $($rest:tt)*) => {
        rows!(@columns $row $columns [$($others)* $other] $($rest)*);
    };
    (@columns $row:tt $columns:tt $others:tt $field:ident: $($rest:tt)*) => {
        rows!(@columns $row $columns $others $($rest)*);
    };
    (@columns $row:tt $columns:tt $others:tt $model:ident {$($fields:tt)*} $($rest:tt)*) => {
        rows!(@columns $row $columns $others $($fields)* $($rest)*);
    };
    (@columns $row:tt [$($columns:ident)*] $others:tt $column:ident $($rest:tt)*) => {
        rows!(@columns $row [$($columns)* $column] $others $($rest)*);
    };
    (@columns [$Model:ident {$($shape:tt)+}] [$($column:ident)+] [$($other:ident)*]) => {
        impl Columns for $Model {
            fn names() -> Vec<&'static str> {
                vec![$(stringify!($column)),+]
            }

            fn write<M: SerializeMap>(&self, columns: &mut M) -> Result<(), M::Error> {
                #[allow(unused_parens)]
                let $Model {$($shape)+} = self;
                $(let _ = $other;)*
                $(columns.serialize_entry(stringify!($column), &$column.json())?;)+
                Ok(())
            }
        }

        impl<'r> FromRow<'r, PgRow> for $Model {
            fn from_row(row: &'r PgRow) -> Result<Self, sqlx::Error> {
                $(let $column = get(row, stringify!($column))?;)+
                $(let $other = Default::default();)*
                #[allow(unused_parens)]
                Ok($Model {$($shape)+})
            }
        }
    };
}

rows! {
    Area {
        id: area_id,
        geom_id,
        name: area_name,
        parent_name,
        city_name,
        city_code: city,
        region_code: instance_region_code,
        attributes,
        outline,
    }
    ExtraArea { id: area_id, name: area_name, parent_name, entries }
    Region { code, name, outline }
    Infrastructure {
        id: identifier,
        kind,
        name,
        tags: Tags { instance_region_code, local_area_id, district_id: (no_district), city: (no_city) },
        shape,
    }
    Gauge { id: gaugeid, name: gaugenameid, region_code: instance_region_code, location, settings, mute }
    Observation { observed_at, level, alert, label, reported, quality: (not_stored) }
    FloodChange {
        area: area_id,
        at: changed_at,
        received: received_at,
        state,
        by: Actor { subject, username },
    }
    LogEntry { at: changed_at, received: received_at, state, run: run_began_at, since, confirmed: confirmed_at }
    ArchiveRecord { area_id, last_updated: changed_at, max_state: state }
    ReportContent {
        created_at,
        source,
        url,
        image_url,
        disaster_type,
        report_data,
        title,
        text,
        location,
        is_training,
        partner_code,
        partner_icon,
    }
    Tags { instance_region_code, local_area_id, district_id: (no_district), city }
    PlacedReport { key: pkey, location, area: local_area_id, city }
    ReportIdentity { key: pkey, created_at, source, disaster_type, location, is_used }
    ErasedReport {
        key: pkey,
        created_at,
        source,
        disaster_type,
        is_training,
        tags: Tags { instance_region_code, local_area_id: (no_area), district_id: (no_district), city },
        hidden,
        digest,
    }
    ModerationEntry { number, at, report, made_at, action, by: Actor { subject, username }, reason }
    Card {
        pkey,
        id: card_id,
        holder: CardHolder { username, network, language, network_data },
        report,
        created_at,
    }
    PartnerPost { post_id, report: pkey }
    EndedLogin { number, subject, at: ended_at }
    StoredKey {
        entry: KeyEntry {
            key: ApiKey { name, sha256, scopes, areas, expires: expires_at, per_second, per_day },
            owner,
        },
        created_at,
        revoked_at,
        last_used: last_used_at,
    }
}

impl Columns for GaugeReading {
    fn names() -> Vec<&'static str> {
        [vec!["gaugeid"], Observation::names()].concat()
    }

    fn write<M: SerializeMap>(&self, columns: &mut M) -> Result<(), M::Error> {
        columns.serialize_entry("gaugeid", &self.0)?;
        self.1.write(columns)
    }
}

pub(super) struct ReadingRow(pub(super) GaugeReading);

impl<'r> FromRow<'r, PgRow> for ReadingRow {
    fn from_row(row: &'r PgRow) -> Result<Self, sqlx::Error> {
        Ok(Self((get(row, "gaugeid")?, Observation::from_row(row)?)))
    }
}

macro_rules! new_report {
    () => {
        "created_at, source, url, image_url, disaster_type, report_data, title, text, location, is_training, partner_code, \
         partner_icon, instance_region_code, local_area_id, city, "
    };
}
pub(super) use new_report;

impl Columns for (&ReportContent, &Tags) {
    fn names() -> Vec<&'static str> {
        [ReportContent::names(), Tags::names()].concat()
    }

    fn write<M: SerializeMap>(&self, columns: &mut M) -> Result<(), M::Error> {
        self.0.write(columns)?;
        self.1.write(columns)
    }
}

macro_rules! report {
    () => {
        "pkey, created_at, source, url, image_url, disaster_type, report_data::text AS report_data, title, text,
         ST_AsBinary(location, 'NDR') AS location, is_training, partner_code, partner_icon, reports.instance_region_code,
         local_area_id, reports.city,
         (SELECT areas.attributes -> 'district_id' FROM areas WHERE areas.area_id = local_area_id)::text AS district_id"
    };
}
pub(super) use report;

impl<'r> FromRow<'r, PgRow> for Report {
    fn from_row(row: &'r PgRow) -> Result<Self, sqlx::Error> {
        let district: Option<String> = get(row, "district_id")?;
        let district_id = district.as_deref().and_then(district_id);
        let (key, content) = (get(row, "pkey")?, ReportContent::from_row(row)?);
        Ok(Self { key, content, tags: Tags { district_id, ..Tags::from_row(row)? } })
    }
}

impl Columns for (&ReportRow, bool) {
    fn names() -> Vec<&'static str> {
        [vec!["pkey", "digest", "hidden"], <(&ReportContent, &Tags)>::names()].concat()
    }

    fn write<M: SerializeMap>(&self, columns: &mut M) -> Result<(), M::Error> {
        let (ReportRow { key, content, tags }, hidden) = self;
        columns.serialize_entry("pkey", &key.json())?;
        columns.serialize_entry("digest", &ReportDigest::new(content).json())?;
        columns.serialize_entry("hidden", hidden)?;
        (content, tags).write(columns)
    }
}

pub(super) struct PlacedReport {
    pub(super) key: ReportKey,
    pub(super) location: Position,
    pub(super) area: Option<AreaId>,
    pub(super) city: Option<Box<str>>,
}

/// Serializes rows for `json_populate_recordset`.
pub(super) fn recordset<'r, T: Columns + 'r>(
    rows: impl IntoIterator<Item = &'r T>,
) -> Result<String, sqlx::Error> {
    struct Row<'r, T>(&'r T);

    impl<T: Columns> Serialize for Row<'_, T> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut columns = serializer.serialize_map(None)?;
            self.0.write(&mut columns)?;
            columns.end()
        }
    }

    let rows: Vec<_> = rows.into_iter().map(Row).collect();
    serde_json::to_string(&rows).map_err(|error| sqlx::Error::Encode(error.into()))
}
