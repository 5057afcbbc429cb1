//! The interface: one file per resource, named as in its address. A route runs its guards, then returns a response or changes the
//! store. Routes depend on no concrete store or format.

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
mod push;
mod regions;
mod reports;
mod sources;
mod stats;

use rocket::{Route, routes};

pub(crate) use self::health::Readiness;
pub(crate) use self::openapi::OpenApiDocument;
pub(crate) use self::push::SubscribeLimits;
use crate::openapi::Described;

/// Returns the described routes under the base address.
pub(crate) fn all() -> Vec<Described> {
    let modules = [
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
        push::routes(),
        ogc::routes(),
    ];
    modules.into_iter().flatten().collect()
}

/// Returns the routes outside the base address: health, `/openapi.json` and, if enabled, metrics.
pub(crate) fn operator_routes(with_metrics: bool) -> Vec<Route> {
    let mut routes = routes![health::liveness, health::readiness, health::data_health, openapi::describe,];
    if with_metrics {
        routes.extend(routes![metrics::list_metrics]);
    }
    routes
}
