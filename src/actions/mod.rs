//! What a route and a page both do, each written once. An action takes what was validated, and responds with an [`ApiResponse`] or
//! the problem.
//!
//! [`ApiResponse`]: crate::rendering::ApiResponse

mod flood_batches;
mod report_visibility;

pub(crate) use self::flood_batches::{area_of, members, order_changes, order_undo};
pub(crate) use self::report_visibility::order_visibility;
