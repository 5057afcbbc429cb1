//! One file for each address, and one for each concern that crosses them. These run on every store; those that hardly depend on
//! the store are in `independent.rs`, and run in memory only.

mod described;
#[allow(dead_code, reason = "not every store runs all tests")]
pub(crate) mod signing;
#[allow(dead_code, reason = "not every store runs all tests")]
pub(crate) mod support;

#[path = "../common/eventually.rs"]
pub(crate) mod eventually;
#[path = "../common/photos.rs"]
pub(crate) mod photos;

mod admin;
mod archive;
mod attention;
mod away;
mod cards;
mod cards_images;
mod changes;
mod clocks;
mod desk;
mod feeds;
mod floodgauges;
mod floods_archive;
mod floods_changes;
mod floods_delete;
mod floods_get;
mod floods_log;
mod floods_put;
mod floods_states;
mod floods_timeseries;
mod health;
mod hostile_texts;
mod infrastructure;
mod kept_answers;
mod ogc;
mod ogc_collections;
mod old_reports;
mod open_cards;
mod photo_moves;
mod report_page;
mod report_sending;
mod reports;
mod reports_visibility;
mod robustness;
mod shared_caches;
mod sources;
mod stale;
mod staleness;
mod stats;
mod stored_keys;
mod strangers;
mod uploads;
