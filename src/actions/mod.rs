//! Use cases that routes and pages share. An action receives validated input, and returns an
//! [`ApiResponse`](crate::rendering::ApiResponse) or a problem.

mod flood_batches;
mod report_visibility;

pub(crate) use self::flood_batches::{area_members, change_batch, object_members, undo_batch};
pub(crate) use self::report_visibility::set_report_visibility;
