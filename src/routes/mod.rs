//! The interface: one file for each resource, named as in the address. A route asks its guards, then the store, then
//! the format; it knows neither a concrete store nor a concrete format.

mod answer;
mod floods;
mod methods;

use rocket::{Route, routes};

pub use self::answer::{Answer, Encoder};
pub use self::methods::other_methods;

/// All routes under the base address.
#[must_use]
pub fn all() -> Vec<Route> {
    routes![
        floods::list_floods,
        floods::list_flood_states,
        floods::list_flood_archive,
        floods::list_flood_series,
        floods::set_flood_state,
        floods::clear_flood_state,
    ]
}
