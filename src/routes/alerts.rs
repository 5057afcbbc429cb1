use std::sync::Arc;

use rocket::{State, get};

use crate::config::Config;
use crate::described;
use crate::formats::Format;
use crate::guards::{
    AlertContent, AlertFormat, AlertIdentifier, AreaFilter, BeforeAlert, Caller, FormatChoice, HistoryArea,
    Language, MinimumState, PathParam, QueryParam,
};
use crate::http::error::Problem;
use crate::model::alerts::MessageKey;
use crate::model::{AreaId, CoveredData};
use crate::openapi::Described;
use crate::rendering::{ApiResponse, ResponseCache};
use crate::schema::resources::Alerts;
use crate::stores::{AlertQuery, FloodQuery, LayerQuery};

pub(super) fn routes() -> Vec<Described> {
    vec![
        described!(list_alerts).summary("The alerts in force, as a feed for alert hubs"),
        described!(list_alert_history)
            .summary("The alerts about an area, newest first, at most 1,000")
            .error(404, "There is no such area, or no alert about it with the identifier `before`."),
        described!(list_exercise)
            .summary("A made-up flood that is repeated every hour, for hubs to try their readers on"),
        described!(show_alert).summary("One alert: a CAP document, a page for people, or JSON"),
    ]
}

#[get("/alerts")]
pub(super) async fn list_alerts(
    _caller: Caller,
    select: AreaFilter<Alerts>,
    minimum_state: QueryParam<MinimumState>,
    content: QueryParam<AlertContent>,
    language: Language,
    choice: FormatChoice<Alerts>,
    cache: ResponseCache,
) -> Result<ApiResponse, Problem> {
    let query = FloodQuery { selector: select.areas, minimum_state: minimum_state.0 };
    list(AlertQuery::InForce(query), *content, localized(choice.format, &language), &cache).await
}

#[get("/alerts/history")]
pub(super) async fn list_alert_history(
    _caller: Caller,
    area: QueryParam<HistoryArea>,
    before: QueryParam<BeforeAlert>,
    content: QueryParam<AlertContent>,
    language: Language,
    choice: FormatChoice<Alerts>,
    cache: ResponseCache,
    config: &State<Config>,
) -> Result<ApiResponse, Problem> {
    let before = before.get().0.map(|identifier| parse_identifier(&identifier, config)).transpose()?;
    if before.is_some_and(|(alert_area, _)| alert_area != area.0) {
        return Err(not_found());
    }
    list(
        AlertQuery::History(area.0, before.map(|(_, key)| key)),
        *content,
        localized(choice.format, &language),
        &cache,
    )
    .await
}

#[get("/alerts/exercise")]
pub(super) async fn list_exercise(
    _caller: Caller,
    content: QueryParam<AlertContent>,
    language: Language,
    choice: FormatChoice<Alerts>,
    cache: ResponseCache,
) -> Result<ApiResponse, Problem> {
    list(AlertQuery::Exercise, *content, localized(choice.format, &language), &cache).await
}

#[get("/alerts/<identifier>", rank = 1)]
pub(super) async fn show_alert(
    _caller: Caller,
    identifier: PathParam<AlertIdentifier>,
    language: Language,
    format: AlertFormat,
    cache: ResponseCache,
    config: &State<Config>,
) -> Result<ApiResponse, Problem> {
    let (area, key) = parse_identifier(&identifier.get()?, config)?;
    cache.layer(LayerQuery::Alerts(AlertQuery::One(area, key), false), localized(format.0, &language)).await
}

/// Returns the page in the language of the request, and other formats unchanged.
fn localized(format: Arc<dyn Format>, language: &Language) -> Arc<dyn Format> {
    format.in_language(language.code()).unwrap_or(format)
}

fn parse_identifier(identifier: &AlertIdentifier, config: &Config) -> Result<(AreaId, MessageKey), Problem> {
    config.issuer().parse(&identifier.0).ok_or_else(not_found)
}

fn not_found() -> Problem {
    Problem::not_found("this alert")
}

async fn list(
    query: AlertQuery,
    content: AlertContent,
    format: Arc<dyn Format>,
    cache: &ResponseCache,
) -> Result<ApiResponse, Problem> {
    let format = format.inline().filter(|_| content.inline).unwrap_or(format);
    let may_be_incomplete = query != AlertQuery::Exercise && cache.is_silent(CoveredData::Floods);
    cache.layer(LayerQuery::Alerts(query, may_be_incomplete), format).await
}
