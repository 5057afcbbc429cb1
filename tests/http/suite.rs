//! One file for each address, and one for each concern that crosses them.

mod described;
mod signing;
mod support;

#[path = "../common/eventually.rs"]
mod eventually;
#[path = "../common/photos.rs"]
mod photos;

mod addresses;
mod admin;
mod alerts;
mod areas;
mod authentication;
mod away;
mod cards;
mod cards_images;
mod chunks;
mod conditional_requests;
mod cors;
mod errors;
mod every_route;
mod feeds;
mod floodgauges;
mod floods_archive;
mod floods_delete;
mod floods_get;
mod floods_put;
mod floods_states;
mod floods_timeseries;
mod format_choice;
mod health;
mod hostile_texts;
mod images;
mod infrastructure;
mod kept_answers;
mod key_sets;
mod metrics;
mod openapi;
mod plugins;
mod proxies;
mod quotas;
mod renderings;
mod reports;
mod robustness;
mod root;
mod security_headers;
mod stale;
mod staleness;
mod stats;
mod stored_keys;
mod templates;
mod tokens;
mod topojson;
mod uploads;
