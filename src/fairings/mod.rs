//! What happens to every request and answer, whatever the route, and beside all of them.

mod arrival;
mod cors;
mod data_watch;
mod draining;
mod exchange;
mod licence;
mod real_method;
mod request_id;
mod security_headers;
mod stored_keys;
mod trailing_slash;

pub use self::arrival::{Arrival, Scheme};
pub use self::cors::Cors;
pub(crate) use self::cors::allow_any_origin;
pub use self::data_watch::DataWatch;
pub use self::draining::Draining;
pub use self::exchange::{Exchange, Subject};
pub(crate) use self::exchange::{Unread, is_head};
pub use self::licence::Licence;
pub(crate) use self::licence::name_licence;
pub use self::real_method::RealMethod;
pub use self::request_id::RequestId;
pub use self::security_headers::SecurityHeaders;
pub(crate) use self::security_headers::secure;
pub use self::stored_keys::StoredKeys;
pub use self::trailing_slash::TrailingSlash;
