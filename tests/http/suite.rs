//! One file for each address, and one for each concern that crosses them.

mod described;
mod signing;
mod support;

#[path = "../common/eventually.rs"]
mod eventually;
#[path = "../common/photos.rs"]
mod photos;
#[path = "../common/xml.rs"]
mod xml;

mod addresses;
mod admin;
mod alert_feeds;
mod alerts;
mod area_outlines;
mod areas;
mod authentication;
mod away;
mod bare_addresses;
mod cards;
mod cards_images;
mod changes;
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
mod floods_log;
mod floods_put;
mod floods_states;
mod floods_timeseries;
mod format_choice;
mod health;
mod hostile_texts;
mod hubs;
mod images;
mod infrastructure;
mod kept_answers;
mod key_sets;
mod map;
mod metrics;
mod old_intake;
mod openapi;
mod petabencana;
mod photo_moves;
mod plugins;
mod proxies;
mod quotas;
mod renderings;
mod reports;
mod reports_visibility;
mod robustness;
mod root;
mod security_headers;
mod sources;
mod stale;
mod staleness;
mod stats;
mod stored_keys;
mod templates;
mod tokens;
mod topojson;
mod uploads;
