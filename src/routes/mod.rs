//! The interface: one file for each resource, named as in the address. A route asks its guards, then the store, then
//! the format; it knows neither a concrete store nor a concrete format.
//!
//! Routes of others are added by [`Builder::mount`](crate::Builder::mount). They answer as those here do, with an [`Answer`]: one
//! that everybody gets alike comes from [`Answers`], which keeps it at hand; one's own is made by a function of [`Answer`]. The
//! functions of this module are what the server is put together of.

mod admin;
mod answer;
mod answers;
mod cards;
mod diverted;
mod envelope;
mod feeds;
mod floodgauges;
mod floods;
mod health;
mod images;
mod infrastructure;
mod known;
mod methods;
mod metrics;
mod question;
mod reports;
mod stats;

use rocket::{Route, routes};

pub use self::answer::Answer;
pub use self::answers::Answers;
pub use self::diverted::diverted;
pub use self::health::Readiness;
pub use self::known::known_in_panics;
pub use self::methods::other_methods;
pub use self::question::Question;

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
        reports::list_reports,
        reports::list_report_archive,
        reports::list_report_series,
        reports::find_report,
        cards::create_card,
        cards::find_card,
        cards::receive_card_report,
        cards::invite_image,
        images::receive_image,
        images::find_image,
        feeds::list_feeds,
        feeds::post_partner_report,
        feeds::put_partner_report,
        feeds::put_report,
        floodgauges::list_gauges,
        floodgauges::store_gauge,
        infrastructure::list_infrastructure,
        infrastructure::list_infrastructure_of_type,
        admin::list_boundaries,
        stats::summarize_flooded_regions,
        stats::summarize_flooded_areas,
        stats::summarize_reports,
    ]
}

/// The routes of those who operate the service, outside the base address; those of the metrics where these are wanted.
#[must_use]
pub fn operation(with_metrics: bool) -> Vec<Route> {
    let mut all = routes![health::tell_live, health::tell_ready];
    if with_metrics {
        all.extend(routes![metrics::list_metrics]);
    }
    all
}
