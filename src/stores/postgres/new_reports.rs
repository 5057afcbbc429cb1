//! The columns of a report, once for all statements that insert and read reports.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::values::{column, moment};
use crate::model::{Position, ReportContent, Tags};

/// A report that is to be inserted.
#[derive(Clone, Copy)]
pub(super) struct NewReport<'r> {
    pub(super) content: &'r ReportContent,
    pub(super) tags: &'r Tags,
}

/// Calls a macro with each column: its name, its type, and its value.
macro_rules! each_column {
    ([$($with:tt)+] $($part:ident)?) => {
        $($with)+! {
            $($part)?
            created_at timestamptz = |report| moment(report.content.created_at);
            source text = |report| &report.content.source;
            url text = |report| &report.content.url;
            image_url text = |report| &report.content.image_url;
            disaster_type text = |report| report.content.disaster_type.name();
            report_data json = |report| &report.content.report_data;
            title text = |report| &report.content.title;
            text text = |report| &report.content.text;
            location geometry = |report| well_known_text(report.content.location);
            is_training boolean = |report| report.content.is_training;
            partner_code text = |report| &report.content.partner_code;
            partner_icon text = |report| &report.content.partner_icon;
            instance_region_code text = |report| &report.tags.instance_region_code;
            local_area_id bigint = |report| report.tags.local_area_id.map(|area| column(area.number()));
            city text = |report| &report.tags.city;
        }
    };
}
pub(super) use each_column;

/// Lists of the columns: their `names`, with a comma at the end; the same `typed`, without it; and as they are `selected`, each by its
/// own name, but the place as `lng` and `lat`.
macro_rules! new_report {
    ($part:ident) => {
        $crate::stores::postgres::new_reports::each_column!([$crate::stores::postgres::new_reports::new_report] $part)
    };
    (names $($name:ident $type:ident = |$report:ident| $value:expr;)+) => {
        concat!($(stringify!($name), ", "),+)
    };
    (
        typed $first:ident $first_type:ident = |$first_report:ident| $first_value:expr;
        $($name:ident $type:ident = |$report:ident| $value:expr;)+
    ) => {
        concat!(stringify!($first), " ", stringify!($first_type), $(", ", stringify!($name), " ", stringify!($type)),+)
    };
    (selected $($name:ident $type:ident = |$report:ident| $value:expr;)+) => {
        concat!($($crate::stores::postgres::new_reports::new_report!(@selected $name $type), ", "),+)
    };
    (@selected location $type:ident) => { "ST_X(reports.location) AS lng, ST_Y(reports.location) AS lat" };
    (@selected $name:ident json) => { concat!("reports.", stringify!($name), "::text AS ", stringify!($name)) };
    (@selected $name:ident $type:ident) => { concat!("reports.", stringify!($name)) };
}
pub(super) use new_report;

impl Serialize for NewReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut columns = serializer.serialize_map(None)?;
        macro_rules! write {
            ($($name:ident $type:ident = |$report:ident| $value:expr;)+) => {
                $({
                    let $report = self;
                    columns.serialize_entry(stringify!($name), &$value)?;
                })+
            };
        }
        each_column!([write]);
        columns.end()
    }
}

/// Returns reports as the parameter of `json_to_recordset`.
///
/// # Errors
///
/// If they cannot be written as JSON.
pub(super) fn recordset(reports: &[NewReport<'_>]) -> Result<String, sqlx::Error> {
    serde_json::to_string(reports).map_err(|error| sqlx::Error::Encode(error.into()))
}

/// Returns a place as the database reads it, to the last bit.
fn well_known_text(place: Position) -> String {
    let place = place.coord();
    format!("SRID=4326;POINT({} {})", place.x, place.y)
}
