//! The service with an S3 storage over real connections.

#[path = "../common/eventually.rs"]
mod eventually;
#[path = "../../crates/siaga-conformance/src/fixture.rs"]
mod fixture;
#[path = "../common/form.rs"]
mod form;
#[path = "../common/photos.rs"]
mod photos;
#[path = "../common/running.rs"]
mod running;

mod service;
mod storage;

mod early;
mod outages;
mod program;
mod refusals;
mod signatures;
mod strangers;
mod uploads;
