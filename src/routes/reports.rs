use std::sync::Arc;

use rocket::{State, get};

use super::{Answer, Encoder};
use crate::error::Problem;
use crate::guards::{
    Caller, Disaster, FormatChoice, ReportKeyParam, Reports, RequestedPeriod, Select, TimePeriod,
};
use crate::model::{DisasterType, Layer, ReportLayer};
use crate::stores::{ReportQuery, Store, Window};

/// `GET /reports`: the reports of the last hour, or of another time until now.
#[get("/reports")]
pub(super) async fn list_reports(
    _caller: Caller,
    select: Select<Reports>,
    disaster: Disaster,
    time_period: TimePeriod,
    choice: FormatChoice<Reports>,
    store: &State<Arc<dyn Store>>,
    encoder: &State<Encoder>,
) -> Result<Answer, Problem> {
    let window = Window::Last(time_period.0);
    let query = ReportQuery { selector: select.areas, disaster: disaster.0, window };
    list(&query, choice, store, encoder).await
}

/// `GET /reports/archive`: the reports of a period.
#[get("/reports/archive")]
pub(super) async fn list_report_archive(
    _caller: Caller,
    select: Select<Reports>,
    disaster: Disaster,
    period: RequestedPeriod,
    choice: FormatChoice<Reports>,
    store: &State<Arc<dyn Store>>,
    encoder: &State<Encoder>,
) -> Result<Answer, Problem> {
    let window = Window::Within(period.0);
    let query = ReportQuery { selector: select.areas, disaster: disaster.0, window };
    list(&query, choice, store, encoder).await
}

/// `GET /reports/timeseries`: the number of reports in each hour of a period; of flood reports, unless another
/// disaster is asked for.
#[get("/reports/timeseries")]
pub(super) async fn list_report_series(
    _caller: Caller,
    select: Select<Reports>,
    disaster: Disaster,
    period: RequestedPeriod,
    store: &State<Arc<dyn Store>>,
) -> Result<Answer, Problem> {
    let disaster = disaster.0.unwrap_or(DisasterType::Flood);
    let series = store.report_series(&select.areas, disaster, period.0).await?;
    Answer::result(&series.value)
}

/// `GET /reports/:id`: one report.
#[get("/reports/<id>")]
pub(super) async fn find_report(
    _caller: Caller,
    id: Result<ReportKeyParam, Problem>,
    choice: FormatChoice<Reports>,
    store: &State<Arc<dyn Store>>,
    encoder: &State<Encoder>,
) -> Result<Answer, Problem> {
    let ReportKeyParam(key) = id?;
    let report = store.report(key).await?.value;
    encoder.answer(choice.format, Layer::Reports(ReportLayer(vec![report]))).await
}

async fn list(
    query: &ReportQuery,
    choice: FormatChoice<Reports>,
    store: &State<Arc<dyn Store>>,
    encoder: &State<Encoder>,
) -> Result<Answer, Problem> {
    let layer = Layer::Reports(store.reports(query).await?.value);
    encoder.answer(choice.format, layer).await
}
