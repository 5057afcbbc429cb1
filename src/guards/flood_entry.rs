use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::{Query, guard, managed};
use crate::formats::{Format, FormatRegistry};
use crate::http::error::{Problem, Source};
use crate::http::fairings::BareAddresses;
use crate::model::{AreaId, LayerKind, Timestamp};
use crate::openapi::{Interface, Operation, Parameter, Part};

const AREA: &str = "area_id";
const TIME: &str = "time";

/// The feed entry that the query requests by `area_id` and `time`. `None` if one of the two is absent, if the request chooses a
/// format, or if no enabled format has entries.
#[derive(Clone, Debug)]
pub(crate) struct FloodEntry(pub Option<FeedEntry>);

#[derive(Clone, Debug)]
pub(crate) struct FeedEntry {
    pub area: AreaId,
    pub since: Timestamp,
    pub format: Arc<dyn Format>,
}

guard!(FloodEntry, |request| {
    match BareAddresses::format(request) {
        Some(_) => Ok(None),
        None => managed(request).and_then(|formats| requested_entry(Query::for_request(request), formats)),
    }
    .map(Self)
});

impl Part for FloodEntry {
    fn describe(operation: &mut Operation, interface: &Interface<'_>) {
        let Some(format) = entry_format(interface.formats) else { return };
        let description = "Together with `time`, and if no format is given, returns the single alert that an entry of the feed \
                    links to. Otherwise ignored.";
        let area = json!({ "type": "string", "examples": ["5"] });
        operation.parameter(Parameter::query(AREA, description, area));
        let description = "When the state of `area_id` was set; a plus sign is encoded as %2B.";
        operation.parameter(Parameter::query(
            TIME,
            description,
            json!({ "type": "string", "examples": ["2016-12-19T20:52:52+07:00"] }),
        ));
        operation.response(format.media_type(), format.schema(LayerKind::Floods));
        operation.error(
            404,
            "The area of `area_id` has no state that was set at `time`: the alert no longer stands.",
        );
    }
}

fn entry_format(formats: &FormatRegistry) -> Option<Arc<dyn Format>> {
    formats.for_kind(LayerKind::Floods).find_map(|format| format.entry_format())
}

fn requested_entry(query: Query<'_>, formats: &FormatRegistry) -> Result<Option<FeedEntry>, Problem> {
    if query.get("format")?.is_some() || query.get("geoformat")?.is_some() {
        return Ok(None);
    }
    let (Some(area), Some(time)) = (query.get(AREA)?, query.get(TIME)?) else { return Ok(None) };
    let Some(format) = entry_format(formats) else { return Ok(None) };
    let area = area.parse().map_err(|error| Problem::invalid(Source::Query, AREA, error))?;
    let time = Timestamp::parse(&time).map_err(|error| Problem::invalid(Source::Query, TIME, error))?;
    Ok(Some(FeedEntry { area, since: time.floor(Duration::from_secs(1)), format }))
}
