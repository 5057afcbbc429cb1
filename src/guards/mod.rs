//! Request guards: each reads and validates one part of a request, or rejects it with a clear message.
//!
//! # In your own routes
//!
//! A route lists the guards that it needs as arguments. Rocket runs them from left to right, and the first failure decides the
//! response, by its [`Problem`](crate::http::error::Problem). So put the guard of the caller first: [`Caller`] if anyone may send
//! the request, [`Authorized`] if it needs a scope. Read a query parameter as a [`QueryParam`], and a segment of the path as a
//! [`PathParam`]. Access managed state, such as the store, as `&State<…>`. [`ResponseCache`](crate::rendering::ResponseCache) is
//! a guard as well.
//!
//! ```
//! use std::sync::Arc;
//!
//! use rocket::{State, get, routes};
//! use siaga::Siaga;
//! use siaga::error::Problem;
//! use siaga::guards::{Authorized, FloodsWrite, PathParam};
//! use siaga::model::AreaId;
//! use siaga::rendering::ApiResponse;
//! use siaga::stores::Store;
//!
//! /// How often the state of an area was changed, for those who may change it.
//! #[get("/floods/<area>/changes")]
//! async fn count_changes(
//!     _authorized: Authorized<FloodsWrite>,
//!     area: PathParam<AreaId>,
//!     store: &State<Arc<dyn Store>>,
//! ) -> Result<ApiResponse, Problem> {
//!     let changes = store.flood_log(area.get()?).await?;
//!     ApiResponse::private_result(&changes.len())
//! }
//!
//! let builder = Siaga::builder().mount("/", routes![count_changes]);
//! ```
//!
//! In your own guard, return [`Problem::outcome`](crate::http::error::Problem::outcome) from `from_request`, so that clients get
//! its message.

mod accept;
mod alert_parameters;
mod area_filter;
mod area_parameters;
mod body_headers;
mod card_id;
mod card_user;
mod change_parameters;
mod credential;
mod file_type;
mod flood_entry;
mod form_site;
mod format_choice;
mod idempotency_key;
mod json_body;
mod language;
mod log_parameters;
mod metrics_reader;
mod parameter;
mod path_parameters;
mod period;
mod query;
mod query_parameters;
mod revision_param;
mod signed_upload;

pub use crate::http::admission::Caller;
pub(crate) use crate::http::managed::{guard, managed};

pub(crate) use self::accept::{WantsOpenMetrics, WantsPage};
pub(crate) use self::alert_parameters::BeforeAlert;
pub(crate) use self::alert_parameters::{AlertContent, AlertIdentifier, HistoryArea};
pub use self::area_filter::AreaFilter;
pub(crate) use self::area_filter::FloodAreaFilter;
pub(crate) use self::area_parameters::{
    Admin, AreaIds, BboxParam, Latitude, Level, LongParam, Longitude, Zoom,
};
pub(crate) use self::card_id::CardIdParam;
pub(crate) use self::card_user::{CardUser, PHOTO_TOKEN};
pub(crate) use self::change_parameters::{LastEventId, SinceCursor, Wait};
pub(crate) use self::credential::Authenticated;
pub use self::credential::{
    Authorized, CardsRead, CardsWrite, FeedsWrite, FloodsWrite, GaugesMute, GaugesWrite, Permission,
    ReportsModerate,
};
pub(crate) use self::file_type::FileType;
pub(crate) use self::flood_entry::FeedEntry;
pub(crate) use self::flood_entry::FloodEntry;
pub(crate) use self::form_site::FormSite;
pub(crate) use self::format_choice::AlertFormat;
pub use self::format_choice::FormatChoice;
pub(crate) use self::idempotency_key::IdempotencyKey;
pub use self::json_body::JsonBody;
pub(crate) use self::language::Language;
pub(crate) use self::log_parameters::{LogAuthor, LogBatch, LogSince, LogUntil};
pub(crate) use self::metrics_reader::MetricsReader;
pub use self::parameter::{PathParam, PathParameter, QueryParam, QueryParameter};
pub(crate) use self::path_parameters::{GaugeId, SourceName};
pub use self::period::RequestedPeriod;
pub(crate) use self::query::Query;
pub(crate) use self::query_parameters::{BeforeTime, OnlyLatest, Training, WithFailed, WithSilent};
pub use self::query_parameters::{Disaster, MinimumState, TimePeriod};
pub(crate) use self::query_parameters::{InfrastructureType, Username};
pub(crate) use self::revision_param::RevisionParam;
pub(crate) use self::signed_upload::SignedUpload;
