//! `GET /v1/warnings`: the areas with high water, as text to be read aloud.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use rocket::get;
use serde_json::json;
use siaga::described;
use siaga::error::Problem;
use siaga::formats::{Container, EncodeContext, EncodeError, Format};
use siaga::guards::{AreaFilter, Caller};
use siaga::model::{FloodState, Layer, LayerKind};
use siaga::openapi::Described;
use siaga::rendering::{ApiResponse, ResponseCache};
use siaga::resources::Floods;
use siaga::stores::{FloodQuery, LayerQuery};

/// Returns the route. Its guards describe the parameters.
pub(crate) fn routes() -> Vec<Described> {
    let route = described!(list_warnings).summary("Where the water stands high, as text to be read out");
    vec![route.with(|operation, _| {
        operation.response("text/plain", json!({ "type": "string" }));
        operation.cached_response();
    })]
}

/// Responds with the areas in state 3 or 4, in all cities or in those selected by `city` and `admin`. The response is cached,
/// tagged and compressed like the responses of Siaga's own routes.
#[get("/warnings")]
async fn list_warnings(
    _caller: Caller,
    select: AreaFilter<Floods>,
    cache: ResponseCache,
) -> Result<ApiResponse, Problem> {
    let query = FloodQuery { selector: select.areas, minimum_state: Some(FloodState::Moderate) };
    cache.layer(LayerQuery::Floods(query), Arc::new(Bulletin)).await
}

/// Writes the number of areas that have a state, and then each of them on a line. Not registered, because only one route uses it.
#[derive(Clone, Copy, Debug)]
pub struct Bulletin;

impl Format for Bulletin {
    fn name(&self) -> &'static str {
        "bulletin"
    }

    fn container(&self) -> Container {
        Container("text")
    }

    fn media_type(&self) -> &'static str {
        "text/plain; charset=utf-8"
    }

    fn supports(&self, kind: LayerKind) -> bool {
        kind == LayerKind::Floods
    }

    fn time_step(&self) -> Option<Duration> {
        None
    }

    fn encode(&self, layer: &Layer, context: &EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let Layer::Floods(floods) = layer else {
            return Err(EncodeError::new(self.name(), "it writes floods alone"));
        };
        let flooded = floods.features().filter_map(|flood| Some((flood.area, flood.current?)));
        let mut lines = String::new();
        let mut count = 0;
        for (area, current) in flooded {
            count += 1;
            let names = [&area.name, &area.parent_name, &area.city_name];
            let names: Vec<_> =
                names.into_iter().filter(|name| !name.is_empty()).map(|name| plain(name)).collect();
            let since = current.last_updated.to_utc().with_timezone(&context.time_zone);
            let since = since.format("%Y-%m-%d %H:%M %Z");
            let _ = writeln!(lines, "{}: {}, since {since}", current.state.severity(), names.join(", "));
        }
        out.extend(format!("Flooded areas: {count}\n{lines}").bytes());
        Ok(())
    }
}

/// Returns the name on one line, whatever it contains.
fn plain(name: &str) -> String {
    name.replace(char::is_control, " ")
}
