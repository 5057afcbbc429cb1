use std::sync::Arc;

use rocket::fairing::AdHoc;

use crate::model::AreaLevel;
use crate::stores::{AreaQuery, Store};
use crate::tasks::run_in_background;

/// Dissolves the outlines of larger areas and cities after startup, so that requests need not wait for it: it takes seconds for
/// hundreds of thousands of areas.
pub(crate) fn dissolve_outlines(store: Arc<dyn Store>) -> AdHoc {
    AdHoc::on_liftoff("Outlines", |rocket| {
        let dissolving = async move {
            for level in [AreaLevel::City, AreaLevel::Parent] {
                // If the store is away, the first request does it.
                let _ = AreaQuery { level, ..AreaQuery::default() }.ask(&*store).await;
            }
        };
        Box::pin(async move { run_in_background(rocket, dissolving) })
    })
}
