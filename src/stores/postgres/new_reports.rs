//! The columns of a report, once for all statements that insert and read reports.

use serde_json::value::RawValue;
use sqlx::Arguments;
use sqlx::postgres::PgArguments;

use super::values::{column, moment};
use crate::model::{Position, ReportContent, Tags};

/// A report that is to be inserted.
#[derive(Clone, Copy)]
pub(super) struct NewReport<'r> {
    pub(super) content: &'r ReportContent,
    pub(super) tags: &'r Tags,
}

/// Calls a macro with each column: the number of its parameter, its name, the type of the parameter, its own type, and its value.
macro_rules! each_column {
    ([$($with:tt)+] $($part:ident)?) => {
        $($with)+! {
            $($part)?
            1 created_at timestamptz timestamptz = |report| moment(report.content.created_at);
            2 source text text = |report| &*report.content.source;
            3 url text text = |report| report.content.url.as_deref();
            4 image_url text text = |report| report.content.image_url.as_deref();
            5 disaster_type text text = |report| report.content.disaster_type.name();
            6 report_data text json = |report| report.content.report_data.as_deref().map(RawValue::get);
            7 title text text = |report| &*report.content.title;
            8 text text text = |report| &*report.content.text;
            9 location text geometry = |report| well_known_text(report.content.location);
            10 is_training boolean boolean = |report| report.content.is_training;
            11 partner_code text text = |report| report.content.partner_code.as_deref();
            12 partner_icon text text = |report| report.content.partner_icon.as_deref();
            13 instance_region_code text text = |report| report.tags.instance_region_code.as_deref();
            14 local_area_id bigint bigint = |report| report.tags.local_area_id.map(|area| column(area.number()));
            15 city text text = |report| report.tags.city.as_deref();
        }
    };
}
pub(super) use each_column;

/// Parts of a statement about reports, each with a comma at its end. To insert: the `names` of the columns, the `parameters` of
/// `unnest`, an array for each column, and the `values` in rows of these; further parameters begin at `$16`. To read: the columns
/// `selected`, each by its own name, but the place as `lng` and `lat`.
macro_rules! new_report {
    ($part:ident) => {
        $crate::stores::postgres::new_reports::each_column!([$crate::stores::postgres::new_reports::new_report] $part)
    };
    (@selected location $given:ident) => {
        "ST_X(reports.location) AS lng, ST_Y(reports.location) AS lat, "
    };
    (@selected $name:ident $given:ident) => {
        concat!("reports.", stringify!($name), "::", stringify!($given), " AS ", stringify!($name), ", ")
    };
    (selected $($number:literal $name:ident $given:ident $own:ident = |$report:ident| $value:expr;)+) => {
        concat!($($crate::stores::postgres::new_reports::new_report!(@selected $name $given)),+)
    };
    (names $($number:literal $name:ident $given:ident $own:ident = |$report:ident| $value:expr;)+) => {
        concat!($(stringify!($name), ", "),+)
    };
    (parameters $($number:literal $name:ident $given:ident $own:ident = |$report:ident| $value:expr;)+) => {
        concat!($("$", $number, "::", stringify!($given), "[], "),+)
    };
    (values $($number:literal $name:ident $given:ident $own:ident = |$report:ident| $value:expr;)+) => {
        concat!($(stringify!($name), "::", stringify!($own), ", "),+)
    };
}
pub(super) use new_report;

/// Returns the parameters of the columns, each with the values of all reports.
///
/// # Errors
///
/// If a value cannot be sent to the database.
pub(super) fn arguments<'r>(
    reports: impl Iterator<Item = NewReport<'r>> + Clone,
) -> Result<PgArguments, sqlx::Error> {
    let mut arguments = PgArguments::default();
    macro_rules! add {
        ($($number:literal $name:ident $given:ident $own:ident = |$report:ident| $value:expr;)+) => {
            $(arguments
                .add(reports.clone().map(|$report| $value).collect::<Vec<_>>())
                .map_err(sqlx::Error::Encode)?;)+
        };
    }
    each_column!([add]);
    Ok(arguments)
}

/// Returns a place as the database reads it, to the last bit.
fn well_known_text(place: Position) -> String {
    let place = place.coord();
    format!("SRID=4326;POINT({} {})", place.x, place.y)
}
