//! Use cases that routes and pages share. An action returns an [`ApiResponse`](crate::rendering::ApiResponse) or a problem.

mod flood_batches;
mod gauge_mute;
mod report_visibility;

pub(crate) use self::flood_batches::{area_members, change_batch, object_members, undo_batch};
pub(crate) use self::gauge_mute::{may_mute, mute_gauge};
pub(crate) use self::report_visibility::set_report_visibility;
use crate::auth::{Credential, Scope};
use crate::model::{Actor, AreaLimit};

/// Who requests a change, and the areas that they may change.
pub(crate) struct Author {
    pub(crate) by: Actor,
    pub(crate) limit: AreaLimit,
}

impl Author {
    /// Returns the author of a change that needs `scope`.
    pub(crate) fn new(credential: &Credential, scope: Scope, username: Option<String>) -> Self {
        let by = Actor { subject: credential.subject.clone(), username };
        Self { by, limit: credential.limit(scope) }
    }
}
