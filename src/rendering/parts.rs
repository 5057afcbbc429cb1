use std::sync::Arc;
use std::time::Duration;

use geo::{Rect, coord};
use rocket::tokio::time::timeout;

use super::{ResponseCache, ResponseKey};
use crate::formats::Format;
use crate::model::{AreaSelector, AreaSet, BoundingBox, InfrastructureKind};
use crate::stores::{LayerQuery, Resource};

/// How long the store may take to tell its revision. The revision is in memory, unless the store is away.
const QUICK: Duration = Duration::from_millis(50);

impl ResponseCache {
    /// Returns the question about a part of a layer. The part is narrowed to where there are areas, or infrastructure, so that
    /// parts with the same areas have one response, and a part with all areas has the response for the whole map.
    pub(super) async fn narrowed(
        &self,
        part: BoundingBox,
        query: LayerQuery,
        format: Arc<dyn Format>,
    ) -> ResponseKey {
        let around = match &query {
            LayerQuery::Floods(query) => self.around(&query.selector).await,
            LayerQuery::Areas(query) => self.around(&query.selector).await,
            LayerQuery::Infrastructure(selector, kind) => self.around_infrastructure(selector, *kind).await,
            // A report can be anywhere.
            _ => Some(Rect::new(coord! { x: -180.0, y: -90.0 }, coord! { x: 180.0, y: 90.0 })),
        };
        match around.map_or(Some(part), |around| part.narrowed(around)) {
            Some(part) => ResponseKey::Within(part, query, format),
            None => ResponseKey::Layer(query, format),
        }
    }

    /// Returns a box that contains the selected areas; `None` if there are none, or if the store does not tell them in time.
    async fn around(&self, selector: &AreaSelector) -> Option<Rect<f64>> {
        timeout(self.renderer.timeout, self.areas()).await.ok()??.around(selector)
    }

    /// Returns a box that contains the selected infrastructure, which the store has in memory; `None` as before.
    async fn around_infrastructure(
        &self,
        selector: &AreaSelector,
        kind: Option<InfrastructureKind>,
    ) -> Option<Rect<f64>> {
        let places = timeout(self.renderer.timeout, self.renderer.store.places()).await.ok()?.ok()?;
        places.value.infrastructure_layer(selector, kind).bounds()
    }

    /// Returns the current areas: those that the follower has read, if the floods are still of the same revision. While the
    /// store is away, these are the last ones that were read.
    async fn areas(&self) -> Option<Arc<AreaSet>> {
        let store = &self.renderer.store;
        let known = self.follower.states().borrow().clone();
        let present = timeout(QUICK, store.revision(Resource::Floods)).await;
        let known =
            known.filter(|known| !matches!(present, Ok(Ok(present)) if present != known.cursor().floods));
        match known {
            Some(known) => Some(Arc::clone(known.areas())),
            None => Some(Arc::clone(store.places().await.ok()?.value.areas())),
        }
    }
}
