//! Middleware: fairings that see every request and response, whatever the route.

mod arrival;
mod bare_address;
mod draining;
mod exchange;
mod real_method;
mod request_id;
mod response_headers;
mod signs_of_life;
mod trailing_slash;

pub use self::arrival::{Arrival, Scheme};
pub use self::bare_address::BareAddresses;
pub use self::draining::Draining;
pub use self::exchange::{Exchange, Subject};
pub(crate) use self::exchange::{Unread, is_head};
pub use self::real_method::RealMethod;
pub use self::request_id::RequestId;
pub(crate) use self::request_id::within_spans;
pub use self::response_headers::{Cors, Licence, SecurityHeaders};
pub(crate) use self::response_headers::{allow_any_origin, name_licence, secure};
pub use self::signs_of_life::SignsOfLife;
pub use self::trailing_slash::TrailingSlash;
