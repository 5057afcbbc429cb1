//! Request guards: each makes one validated thing of a request, or refuses it with a clear answer.

mod area_id;
mod area_selector;
mod credential;
mod format_choice;
mod json_body;
mod minimum_state;
mod period;
mod query;
mod resource;
mod username;

pub use self::area_id::LocalAreaId;
pub use self::area_selector::Select;
pub use self::credential::{Authorized, Caller, FloodsWrite, Permission};
pub use self::format_choice::FormatChoice;
pub use self::json_body::JsonBody;
pub use self::minimum_state::MinimumState;
pub use self::period::RequestedPeriod;
pub use self::query::Query;
pub use self::resource::{Floods, Resource};
pub use self::username::Username;

use rocket::Request;

use crate::error::Problem;

/// A value the server manages for its guards.
fn managed<'r, T: Send + Sync + 'static>(request: &'r Request<'_>) -> Result<&'r T, Problem> {
    request
        .rocket()
        .state()
        .ok_or_else(|| Problem::internal(format!("{} is not managed", std::any::type_name::<T>())))
}
