//! `reports.keep` and `cards.keep`: the server erases old reports, and cards that were never used.

use std::time::Duration;

use rocket::http::{Method, Status};
use serde_json::json;

use crate::fixture;
use crate::suite::eventually::{LONG, eventually_blocking};
use crate::suite::support::{Siaga, each, figment};

const ARCHIVE: &str = "/v1/reports/archive?start=2016-12-19T00:00:00Z&end=2016-12-20T00:00:00Z";
const SERIES: &str = "/v1/reports/timeseries?start=2016-12-19T00:00:00Z&end=2016-12-20T00:00:00Z";

#[test]
fn reports_are_erased_when_they_are_old_and_still_counted() {
    let siaga = Siaga::start();
    siaga.clock.set(fixture::now().saturating_add(Duration::from_hours(25)));
    let listed = || each(&siaga.result(ARCHIVE), "pkey");
    let counted = siaga.result(SERIES);
    // Report 4 is two hours older than the others of the fixture.
    let _server = siaga.another_server(figment().merge(("siaga.reports.keep", "26h")));
    eventually_blocking("it is erased", LONG, listed, |listed| *listed == ["1", "7", "6", "2", "5"]);
    assert_eq!(siaga.get("/v1/reports/4").status(), Status::NotFound);
    assert_eq!(siaga.result(SERIES), counted);
}

#[test]
fn a_card_without_a_report_is_erased_a_week_after_its_creation() {
    let siaga = Siaga::start();
    let made_at = fixture::now().saturating_add(Duration::from_hours(25));
    siaga.clock.set(made_at);
    let [used, unused] = [siaga.card(), siaga.card()].map(|card| format!("/v1/cards/{card}"));
    let report = json!({ "card_data": { "report_type": "wind" }, "created_at": made_at.to_string(),
                         "location": { "lat": 0.5, "lng": 0.5 } });
    assert_eq!(siaga.request(Method::Put, &used, report.to_string()).status(), Status::Ok);
    let status = |card: &str| siaga.request(Method::Get, card, "").status();
    let week = Duration::from_hours(7 * 24);

    siaga.clock.set(made_at.saturating_add(week));
    let _server = siaga.another_server(figment());
    let oldest = || status("/v1/cards/fresh-card");
    eventually_blocking("the oldest card is erased", LONG, oldest, |status| *status == Status::NotFound);
    assert_eq!((status(&used), status(&unused)), (Status::Ok, Status::Ok), "it is not older than a week");

    siaga.clock.set(made_at.saturating_add(week).saturating_add(Duration::from_millis(1)));
    let _kept = siaga.another_server(figment().merge(("siaga.cards.keep", "0")));
    let _server = siaga.another_server(figment());
    eventually_blocking("the card is erased", LONG, || status(&unused), |status| *status == Status::NotFound);
    assert_eq!((status(&used), status("/v1/cards/used-card")), (Status::Ok, Status::Ok));
    assert_eq!(siaga.request(Method::Put, &unused, report.to_string()).status(), Status::NotFound);
}
