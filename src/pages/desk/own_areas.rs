//! The areas that an officer may change, for the script of the desk.

use std::sync::Arc;

use rocket::{State, get};
use serde_json::{Value, json};

use super::session::Officer;
use crate::auth::Scope;
use crate::http::error::Problem;
use crate::model::AreaSet;
use crate::rendering::ApiResponse;
use crate::stores::Store;

/// Lists the areas whose states the officer may set, and those whose reports they may moderate; `null` for all areas.
#[get("/desk/areas")]
pub(super) async fn list_own_areas(
    officer: Officer,
    store: &State<Arc<dyn Store>>,
) -> Result<ApiResponse, Problem> {
    let places = store.places().await?.value;
    let own = |scope| own_areas(&officer, scope, places.areas());
    let own = json!({ "write": own(Scope::FloodsWrite), "moderate": own(Scope::ReportsModerate) });
    ApiResponse::private_result(&own)?.compressed().await
}

fn own_areas(officer: &Officer, scope: Scope, areas: &AreaSet) -> Value {
    let limit = officer.credential.limit(scope);
    if limit.is_everywhere() {
        return Value::Null;
    }
    areas.iter().filter(|area| limit.contains(&(*area).into())).map(|area| json!(area.id)).collect()
}
