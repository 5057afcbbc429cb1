//! The service in operation: as a process, and when its database is lost, late, crashed or changed by others.

#[path = "../common/postgres.rs"]
mod postgres;

mod cluster;
mod proxy;
mod running;
mod server;

mod black_box;
mod crashes;
mod https;
mod image_crashes;
mod images;
mod keys;
mod limits;
mod links;
mod listening;
mod replicas;
mod starts;
