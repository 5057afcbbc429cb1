//! Middleware: fairings that see every request and response, whatever the route.

mod arrival;
mod bare_address;
mod draining;
mod exchange;
mod known_parameters;
mod real_method;
mod request_id;
mod response_headers;
mod trailing_slash;

pub(crate) use self::arrival::{Arrival, Scheme};
pub(crate) use self::bare_address::BareAddresses;
pub(crate) use self::draining::Draining;
pub(crate) use self::exchange::{Exchange, Subject};
pub(crate) use self::exchange::{Unread, is_head};
pub(crate) use self::known_parameters::KnownParameters;
pub(crate) use self::real_method::RealMethod;
pub(crate) use self::request_id::RequestId;
pub(crate) use self::request_id::within_spans;
pub(crate) use self::response_headers::{Cors, Licence, Mark, SecurityHeaders, SharedCaches};
pub(crate) use self::response_headers::{allow_any_origin, mark, name_licence, secure};
pub(crate) use self::trailing_slash::TrailingSlash;
