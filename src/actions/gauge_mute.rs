use rocket::serde::json::json;

use crate::auth::{Credential, Scope};
use crate::http::error::Problem;
use crate::model::bodies::{Object, read_mute};
use crate::model::{Actor, Mute, Timestamp};
use crate::rendering::ApiResponse;
use crate::stores::Store;

/// Whether the credential may mute gauges: with `gauges:write`, or with `floods:write` everywhere, because a gauge is evidence for
/// areas of all offices.
pub(crate) fn may_mute(credential: &Credential) -> bool {
    credential.allows(Scope::GaugesWrite) || credential.limit(Scope::FloodsWrite).is_everywhere()
}

/// Mutes a gauge, or ends that if there is no `body`.
pub(crate) async fn mute_gauge(
    credential: &Credential,
    username: Option<String>,
    id: &str,
    body: Option<&Object>,
    now: Timestamp,
    store: &dyn Store,
) -> Result<ApiResponse, Problem> {
    if !may_mute(credential) {
        let reason = "missing scope: needs gauges:write, or floods:write without a limit of areas";
        return Err(Problem::forbidden(reason, Some(&credential.subject)));
    }
    let order =
        body.map(|body| read_mute(body, now)).transpose().map_err(|faults| Problem::faults(&faults))?;
    let (until, reason) = order.map_or((None, String::new()), |order| (Some(order.until), order.reason));
    let by = Actor { subject: credential.subject.clone(), username };
    store.mute_gauge(id, Mute { at: now, until, reason: reason.into(), by }).await?;
    ApiResponse::bare(&json!({ "gaugeid": id, "muted_until": until, "updated": true }))
}
