//! The interface: one file for each resource, named as in the address. A route runs its guards, then queries the store, then
//! has the format write the response; it knows neither a concrete store nor a concrete format.
//!
//! Programs add their own routes with [`Builder::mount`](crate::Builder::mount). These respond as the routes here do, with an
//! [`Answer`]. If all clients get the same response, take it from [`Answers`], which caches it; otherwise make it with a
//! function of [`Answer`].

mod admin;
mod alerts;
mod answer;
mod answers;
mod areas;
mod cards;
mod changes;
mod cities;
mod diverted;
mod docs;
mod envelope;
mod feeds;
mod floodgauges;
mod floods;
mod health;
mod images;
mod infrastructure;
mod map;
mod methods;
mod metrics;
mod needs;
mod openapi;
mod parts;
mod question;
mod regions;
mod renderer;
mod reports;
mod root;
mod sources;
mod stats;
mod texts;
mod unread;
mod weight;

use rocket::{Route, routes};

pub use self::answer::Answer;
pub use self::answers::Answers;
pub(crate) use self::diverted::diverted;
pub(crate) use self::docs::Files;
pub(crate) use self::health::Readiness;
pub(crate) use self::map::{Files as MapFiles, Pages};
pub(crate) use self::methods::other_methods;
pub(crate) use self::openapi::Description;
pub use self::question::Question;
pub(crate) use self::renderer::Renderer;
pub(crate) use self::root::{Front, lead_to_front, to_try};
pub(crate) use self::unread::unread;
use crate::openapi::Described;

/// Returns all routes under the base address, with their descriptions.
pub(crate) fn all() -> Vec<Described> {
    let all = [
        floods::routes(),
        reports::routes(),
        floodgauges::routes(),
        infrastructure::routes(),
        admin::routes(),
        alerts::routes(),
        areas::routes(),
        stats::routes(),
        cards::routes(),
        changes::routes(),
        images::routes(),
        feeds::routes(),
        sources::routes(),
        cities::routes(),
        regions::routes(),
        needs::routes(),
    ];
    all.into_iter().flatten().collect()
}

/// Returns the routes outside the base address: for operators, and for people who get to know the service; with the routes of
/// the metrics if wanted.
pub(crate) fn outside(with_metrics: bool) -> Vec<Route> {
    let mut all = routes![
        root::show,
        health::tell_live,
        health::tell_ready,
        health::tell_data,
        openapi::describe,
        docs::show,
        docs::find_file,
        map::show,
        map::find_file,
    ];
    if with_metrics {
        all.extend(routes![metrics::list_metrics]);
    }
    all
}
