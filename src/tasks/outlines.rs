use std::sync::Arc;

use rocket::fairing::AdHoc;

use crate::formats::{EncodeContext, Format};
use crate::model::{AreaLevel, FloodLayer, Layer};
use crate::runtime::{off_thread, run_in_background};
use crate::stores::{AreaQuery, Store};

/// Prepares the geometry of areas after startup, so that requests need not wait: hundreds of thousands of areas take seconds.
/// Fills the cache of `format` for the areas, and merges areas into larger areas and cities.
pub(crate) fn prepare_outlines(
    store: Arc<dyn Store>,
    format: Option<Arc<dyn Format>>,
    context: EncodeContext,
) -> AdHoc {
    AdHoc::on_liftoff("Outlines", |rocket| {
        let task = async move {
            // If the store is unavailable, the first request prepares the geometry.
            if let (Some(format), Ok(places)) = (format, store.places().await) {
                let empty = Layer::Floods(FloodLayer::new(Arc::clone(places.value.areas()), Vec::new()));
                drop(off_thread(move |_| format.encode(&empty, &context, &mut Vec::new())).await);
            }
            for level in [AreaLevel::City, AreaLevel::Parent] {
                let _ = AreaQuery { level, ..AreaQuery::default() }.run(&*store).await;
            }
        };
        Box::pin(async move { run_in_background(rocket, task) })
    })
}
