use rocket::get;
use serde_json::json;

use crate::described;
use crate::guards::Caller;
use crate::http::error::Problem;
use crate::openapi::Described;
use crate::rendering::ApiResponse;
use crate::schema::{array, object};

pub(super) fn routes() -> Vec<Described> {
    let output = json!({ "type": { "const": "GeometryCollection" }, "geometries": array(json!({})) });
    let topology = json!({
        "type": { "const": "Topology" },
        "objects": object(json!({ "output": object(output) })),
        "arcs": array(json!({})),
    });
    vec![
        described!(list_needs)
            .summary("No needs, for maps of PetaBencana, which ask for them beside the number of reports")
            .result(object(topology)),
    ]
}

/// Responds with an empty list: Siaga stores no needs, but clients of `PetaBencana` request them.
#[get("/needs")]
pub(super) async fn list_needs(_caller: Caller) -> Result<ApiResponse, Problem> {
    ApiResponse::private_result(&json!({
        "type": "Topology",
        "objects": { "output": { "type": "GeometryCollection", "geometries": [] } },
        "arcs": [],
    }))
}
