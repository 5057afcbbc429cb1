use std::sync::Arc;

use rocket::fairing::AdHoc;

use crate::formats::{EncodeContext, Format};
use crate::model::{AreaLevel, FloodLayer, Layer};
use crate::runtime::{off_thread, run_in_background};
use crate::stores::{AreaQuery, Store};

/// Prepares the outlines of areas after startup, so that requests need not wait for it: it takes seconds for hundreds of thousands
/// of areas. `format` prepares what it caches for each set of areas, and larger areas and cities are dissolved.
pub(crate) fn prepare_outlines(
    store: Arc<dyn Store>,
    format: Option<Arc<dyn Format>>,
    context: EncodeContext,
) -> AdHoc {
    AdHoc::on_liftoff("Outlines", |rocket| {
        let preparing = async move {
            // If the store is away, the first request does it.
            if let (Some(format), Ok(places)) = (format, store.places().await) {
                let none = Layer::Floods(FloodLayer::new(Arc::clone(places.value.areas()), Vec::new()));
                drop(off_thread(move |_| format.encode(&none, &context, &mut Vec::new())).await);
            }
            for level in [AreaLevel::City, AreaLevel::Parent] {
                let _ = AreaQuery { level, ..AreaQuery::default() }.ask(&*store).await;
            }
        };
        Box::pin(async move { run_in_background(rocket, preparing) })
    })
}
