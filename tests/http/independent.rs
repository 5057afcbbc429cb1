//! Tests that hardly depend on the store. They run in memory only; the suites of stores compare the stores.

#[path = "../common/large_map.rs"]
mod large_map;
#[path = "../common/xml.rs"]
mod xml;

mod across_180;
mod addresses;
mod alert_feeds;
mod alert_links;
mod alerts;
mod area_outlines;
mod areas;
mod attention_of_many;
mod authentication;
mod bare_addresses;
mod basemap;
mod charged;
mod chunks;
mod conditional_requests;
mod cors;
mod country;
mod desk_of_many;
mod errors;
mod every_route;
mod format_choice;
mod hubs;
mod images;
mod key_sets;
mod map;
mod metrics;
mod ogc_conformance;
mod openapi;
mod petabencana;
mod plugins;
mod proxies;
mod quotas;
mod renderings;
mod root;
mod security_headers;
mod statements;
mod templates;
mod tokens;
mod topojson;
