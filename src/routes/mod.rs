//! The interface: one file for each resource, named as in the address. A route runs its guards, then asks for a response or
//! changes the store; it knows neither a concrete store nor a concrete format.

mod admin;
mod alerts;
mod areas;
mod attention;
mod basemap;
mod cards;
mod changes;
mod cities;
mod feeds;
mod flood_batches;
mod floodgauges;
mod floods;
mod health;
mod images;
mod infrastructure;
mod metrics;
mod needs;
mod ogc;
mod openapi;
mod regions;
mod reports;
mod sources;
mod stats;

use rocket::{Route, routes};

pub(crate) use self::health::Readiness;
pub(crate) use self::openapi::Description;
use crate::openapi::Described;

/// Returns all routes under the base address, with their descriptions.
pub(crate) fn all() -> Vec<Described> {
    let all = [
        floods::routes(),
        flood_batches::routes(),
        attention::routes(),
        reports::routes(),
        floodgauges::routes(),
        infrastructure::routes(),
        basemap::routes(),
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
        ogc::routes(),
    ];
    all.into_iter().flatten().collect()
}

/// Returns the routes outside the base address: for operators, and the description of the interface; with the routes of the
/// metrics if wanted.
pub(crate) fn outside(with_metrics: bool) -> Vec<Route> {
    let mut all = routes![health::tell_live, health::tell_ready, health::tell_data, openapi::describe,];
    if with_metrics {
        all.extend(routes![metrics::list_metrics]);
    }
    all
}
