use std::sync::Arc;

use rocket::{State, get, put};

use crate::actions::{Author, set_report_visibility};
use crate::archive::Archive;
use crate::auth::Scope;
use crate::changes::Follower;
use crate::described;
use crate::guards::{
    AreaFilter, Authorized, BboxParam, Caller, Disaster, FormatChoice, JsonBody, PathParam, QueryParam,
    ReportsModerate, RequestedPeriod, TimePeriod, Training, Username,
};
use crate::http::error::Problem;
use crate::model::{DisasterType, ReportKey};
use crate::openapi::Described;
use crate::photos::CardImages;
use crate::rendering::{ApiResponse, ResponseCache, ResponseKey};
use crate::schema::resources::Reports;
use crate::schema::{array, reference};
use crate::stores::{LayerQuery, ReportQuery, ReportSeriesQuery, Store, Window};

pub(super) fn routes() -> Vec<Described> {
    vec![
        described!(list_reports)
            .summary("The reports of the last hour, or of another time until now")
            .with(|operation, interface| {
                operation.truncation_header(interface.config.limits.features.get());
            }),
        described!(list_report_archive).summary("The reports of a period").list_limit_error("reports"),
        described!(list_report_series)
            .summary("The number of reports in each hour of a period; of flood reports, unless another disaster is asked for")
            .cached_result(array(reference("SeriesPoint"))),
        described!(find_report).summary("One report"),
        described!(set_visibility)
            .summary("Hides a report from all readers, or shows it again")
            .body(|_| reference("VisibilityOrder"))
            .response(reference("VisibilityChange")),
    ]
}

#[get("/reports")]
pub(super) async fn list_reports(
    _caller: Caller,
    select: AreaFilter<Reports>,
    disaster: QueryParam<Disaster>,
    training: QueryParam<Training>,
    time_period: QueryParam<TimePeriod>,
    within: QueryParam<BboxParam>,
    choice: FormatChoice<Reports>,
    cache: ResponseCache,
) -> Result<ApiResponse, Problem> {
    let window = Window::Last(time_period.0);
    let query = ReportQuery { selector: select.areas, disaster: disaster.0, training: training.0, window };
    cache.layer_within(LayerQuery::Reports(query), within.0, choice.format).await
}

#[get("/reports/archive")]
pub(super) async fn list_report_archive(
    _caller: Caller,
    select: AreaFilter<Reports>,
    disaster: QueryParam<Disaster>,
    training: QueryParam<Training>,
    period: RequestedPeriod,
    choice: FormatChoice<Reports>,
    cache: ResponseCache,
) -> Result<ApiResponse, Problem> {
    let window = Window::Within(period.0);
    let query = ReportQuery { selector: select.areas, disaster: disaster.0, training: training.0, window };
    cache.layer(LayerQuery::Reports(query), choice.format).await
}

#[get("/reports/timeseries")]
pub(super) async fn list_report_series(
    _caller: Caller,
    select: AreaFilter<Reports>,
    disaster: QueryParam<Disaster>,
    training: QueryParam<Training>,
    period: RequestedPeriod,
    cache: ResponseCache,
) -> Result<ApiResponse, Problem> {
    let disaster = disaster.0.unwrap_or(DisasterType::Flood);
    let (selector, training, period) = (select.areas, training.0, period.0);
    cache.get(ResponseKey::ReportSeries(ReportSeriesQuery { selector, disaster, training, period })).await
}

#[get("/reports/<id>")]
pub(super) async fn find_report(
    _caller: Caller,
    id: PathParam<ReportKey>,
    choice: FormatChoice<Reports>,
    cache: ResponseCache,
) -> Result<ApiResponse, Problem> {
    let key = id.get()?;
    cache.layer(LayerQuery::Report(key), choice.format).await
}

#[put("/reports/<id>/visibility", data = "<body>")]
pub(super) async fn set_visibility(
    authorized: Authorized<ReportsModerate>,
    id: PathParam<ReportKey>,
    username: QueryParam<Username>,
    body: JsonBody,
    store: &State<Arc<dyn Store>>,
    images: &State<Arc<CardImages>>,
    follower: &State<Follower>,
    archive: &State<Option<Archive>>,
) -> Result<ApiResponse, Problem> {
    let Username(username) = username.get();
    let author = Author::new(&authorized.credential, Scope::ReportsModerate, username);
    set_report_visibility(author, id.get()?, body, store, images, follower, archive.inner().as_ref()).await
}
