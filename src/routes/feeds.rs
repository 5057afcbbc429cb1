use std::sync::Arc;

use rocket::http::Method;
use rocket::serde::json::json;
use rocket::{State, get, post};

use crate::config::Config;
use crate::described;
use crate::guards::{Authorized, FeedsWrite, JsonBody};
use crate::http::error::Problem;
use crate::model::Clock;
use crate::model::bodies::{PartnerReport, read_partner_report};
use crate::openapi::Described;
use crate::rendering::ApiResponse;
use crate::schema::{self, array, reference};
use crate::stores::{ReceiveOutcome, Store};
use crate::telemetry::{Metrics, ReportOrigin};

pub(super) fn routes() -> Vec<Described> {
    let partner = described!(post_partner_report)
        .summary("Publishes a report of a partner")
        .body(|interface| schema::partner_report(&interface.config.feeds.partner))
        .response(reference("PartnerReceipt"));
    vec![
        described!(list_feeds).summary("The feeds").result(array(reference("Feed"))),
        partner
            .at(Method::Put, "/feeds/partner", "put_partner_report")
            .summary("Publishes a report of a partner, for clients that retry with PUT"),
        partner
            .at(Method::Put, "/feeds", "put_report")
            .summary("Publishes a report of a partner, at its other address"),
        partner,
    ]
}

#[get("/feeds")]
pub(super) fn list_feeds(
    _authorized: Authorized<FeedsWrite>,
    config: &State<Config>,
) -> Result<ApiResponse, Problem> {
    let partner = &config.feeds.partner;
    ApiResponse::private_result(&json!([{
        "feed": PartnerReport::FEED,
        "cities": partner.cities,
        "disaster_types": partner.disaster_types,
    }]))
}

#[post("/feeds/partner", data = "<body>")]
pub(super) async fn post_partner_report(
    _authorized: Authorized<FeedsWrite>,
    body: JsonBody,
    config: &State<Config>,
    store: &State<Arc<dyn Store>>,
    clock: &State<Arc<dyn Clock>>,
    metrics: &State<Metrics>,
) -> Result<ApiResponse, Problem> {
    let report = read_partner_report(&body.0, &config.feeds.partner, clock.now())
        .map_err(|faults| Problem::faults(&faults))?;
    let post_id = report.post_id;
    match store.receive_partner_report(report).await? {
        ReceiveOutcome::Created => {
            metrics.count_report(ReportOrigin::Partner);
            ApiResponse::bare(&json!({ "post_id": post_id, "created": true }))
        }
        ReceiveOutcome::Existing => ApiResponse::bare(&json!({
            "post_id": post_id,
            "created": false,
            "message": format!("{post_id} already exists in reports table"),
        })),
    }
}
