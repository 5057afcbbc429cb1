//! The service in operation: as a process, and when its database is lost, late, crashed or changed by others.

#[path = "../common/eventually.rs"]
mod eventually;
#[path = "../../crates/siaga-conformance/src/fixture.rs"]
mod fixture;
#[path = "../common/outcome.rs"]
mod outcome;
#[path = "../common/photos.rs"]
mod photos;
#[path = "../common/postgres.rs"]
mod postgres;
#[path = "../common/file.rs"]
mod store_file;

mod calls;
mod cluster;
mod proxy;
mod running;
mod server;
mod steering;

mod backup_photos;
mod bad_rows;
mod black_box;
mod connections;
mod contention;
mod crashes;
mod cut_reports;
mod database_metrics;
mod erasure;
mod failover;
mod fairings;
mod file_commands;
mod file_crashes;
mod file_faults;
mod file_log;
mod file_lost;
mod file_restore;
mod flood_times;
mod forbidden;
mod health;
mod https;
mod image_crashes;
mod images;
mod keys;
mod life;
mod limits;
mod links;
mod listening;
mod logs;
mod orders;
mod places;
mod reloading;
mod signing_keys;
mod slow_uploads;
mod starts;
mod strangers;
mod streams;
