use rocket::get;
use serde_json::{Value, json};

use crate::described;
use crate::guards::{AreaFilter, Caller, QueryParam, TimePeriod, Training};
use crate::http::error::Problem;
use crate::openapi::Described;
use crate::rendering::{ApiResponse, ResponseCache, ResponseKey};
use crate::schema::resources::Reports;
use crate::schema::{array, enveloped_with_members, object};
use crate::stores::{ReportQuery, Window};

pub(super) fn routes() -> Vec<Described> {
    let count = |description: &str| json!({ "type": "integer", "minimum": 0, "description": description });
    let counts = json!({ "type": "object", "additionalProperties": { "type": "integer", "minimum": 1 } });
    let describe = |route: Described, statistic: Value| {
        let route = route.response(enveloped_with_members(object(statistic)));
        route.with(|operation, _| operation.cached_response())
    };
    vec![
        describe(
            described!(summarize_flooded_regions).summary("The regions that have flooded areas"),
            json!({
                "total number of regions with flooded RWs": count("How many regions have flooded areas."),
                "regions with flooded RWs": array(json!({ "type": "string" })),
            }),
        ),
        describe(
            described!(summarize_flooded_areas).summary("The number of areas in each flood state"),
            json!({
                "# hati-hati RWs": count("Areas in state 1."),
                "# 10-70cm RWs": count("Areas in state 2."),
                "# 71-150cm RWs": count("Areas in state 3."),
                "# 151cm+ RWs": count("Areas in state 4."),
            }),
        ),
        describe(
            described!(summarize_reports).summary("The number of reports by source and by disaster"),
            json!({
                "total number of reports": count("How many reports there are."),
                "by source": counts,
                "by disaster": counts,
            }),
        ),
    ]
}

#[get("/stats/floodedRegionsSummary")]
pub(super) async fn summarize_flooded_regions(
    _caller: Caller,
    select: AreaFilter<Reports>,
    cache: ResponseCache,
) -> Result<ApiResponse, Problem> {
    cache.get(ResponseKey::FloodedRegions(select.areas)).await
}

#[get("/stats/floodedRWsSummary")]
pub(super) async fn summarize_flooded_areas(
    _caller: Caller,
    select: AreaFilter<Reports>,
    cache: ResponseCache,
) -> Result<ApiResponse, Problem> {
    cache.get(ResponseKey::FloodedAreas(select.areas)).await
}

#[get("/stats/reportsSummary")]
pub(super) async fn summarize_reports(
    _caller: Caller,
    select: AreaFilter<Reports>,
    training: QueryParam<Training>,
    time_period: QueryParam<TimePeriod>,
    cache: ResponseCache,
) -> Result<ApiResponse, Problem> {
    let window = Window::Last(time_period.0);
    let query = ReportQuery { selector: select.areas, disaster: None, training: training.0, window };
    cache.get(ResponseKey::ReportSummary(query)).await
}
