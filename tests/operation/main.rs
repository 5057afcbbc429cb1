//! The service in operation: as a process, and with a database that is lost, slow or changed by others.

#[path = "../common/mod.rs"]
mod common;

#[path = "../common/issuer.rs"]
mod issuer;

use common::{
    cluster, eventually, fixture, form, large_map, outcome, photos, port, postgres, proxy, running, server,
    service_config, store_file,
};

mod bad_rows;
mod black_box;
mod connections;
mod contention;
mod cut_reports;
mod fairings;
mod file_backups;
mod file_commands;
mod file_faults;
mod file_lost;
mod flood_times;
mod health;
mod https;
mod images;
mod keys;
mod life;
mod limits;
mod listening;
mod logs;
mod office_login;
mod panics;
mod parts;
mod places;
mod reloading;
mod slow_uploads;
mod starts;
mod strangers;
