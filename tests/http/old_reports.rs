//! `reports.keep`: old reports are erased by the server.

use std::time::Duration;

use rocket::http::Status;
use serde_json::Value;
use siaga::conformance::fixture;

use crate::suite::eventually::{LONG, eventually_blocking};
use crate::suite::support::{Siaga, each, figment};

const ARCHIVE: &str = "/v1/reports/archive?start=2016-12-19T00:00:00Z&end=2016-12-20T00:00:00Z";
const SERIES: &str = "/v1/reports/timeseries?start=2016-12-19T00:00:00Z&end=2016-12-20T00:00:00Z";

#[test]
fn reports_are_erased_when_they_are_old_and_still_counted() {
    let siaga = Siaga::start();
    siaga.clock.set(fixture::now().after(Duration::from_hours(25)));
    let listed = || each(&siaga.result(ARCHIVE), "pkey");
    let counted = siaga.result(SERIES);
    // Report 4 was made two hours before the others of the fixture.
    let _server = siaga.beside(figment().merge(("siaga.reports.keep", "26h")));
    let others: Vec<Value> = ["1", "7", "6", "2", "5"].map(Value::from).into();
    eventually_blocking("the old report is erased", LONG, listed, |listed| *listed == others);
    assert_eq!(siaga.get("/v1/reports/4").status(), Status::NotFound);
    assert_eq!(siaga.result(SERIES), counted);
}
