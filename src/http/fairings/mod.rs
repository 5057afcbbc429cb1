//! Middleware for every request and response. `server/middleware.rs` sets the order.

mod access_log;
mod bare_addresses;
mod draining;
mod known_parameters;
mod real_method;
mod request_id;
mod request_info;
mod response_headers;

pub(crate) use self::access_log::{Subject, UnreadablePart, count_request, count_response, is_head};
pub(crate) use self::bare_addresses::{BareAddresses, drop_trailing_slash};
pub(crate) use self::draining::Draining;
pub(crate) use self::known_parameters::KnownParameters;
pub(crate) use self::real_method::restore_method;
pub(crate) use self::request_id::{RequestId, with_request_ids};
pub(crate) use self::request_info::{RequestInfo, Scheme};
pub(crate) use self::response_headers::ResponseHeaders;
