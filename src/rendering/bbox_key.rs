use std::sync::Arc;
use std::time::Duration;

use geo::{Rect, coord};
use rocket::tokio::time::timeout;

use super::{ResponseCache, ResponseKey};
use crate::formats::Format;
use crate::model::{AreaSelector, AreaSet, BoundingBox, InfrastructureKind};
use crate::stores::{LayerQuery, Resource};

/// The time limit for reading the revision. Reading is fast while the store is available: the revision is in memory.
const REVISION_TIMEOUT: Duration = Duration::from_millis(50);

impl ResponseCache {
    /// Returns the key for a bounding box. Cuts the box to the bounds of all selected areas or infrastructure, so that boxes that
    /// differ only outside these bounds share one response. A box that contains the bounds uses the response for the whole map.
    pub(super) async fn bbox_key(
        &self,
        part: BoundingBox,
        query: LayerQuery,
        format: Arc<dyn Format>,
    ) -> ResponseKey {
        let bounds = match &query {
            LayerQuery::Floods(query) => self.area_bounds(&query.selector).await,
            LayerQuery::Areas(query) => self.area_bounds(&query.selector).await,
            LayerQuery::Infrastructure(selector, kind) => self.infrastructure_bounds(selector, *kind).await,
            // The bounds of the world, because a report can be anywhere.
            _ => Some(Rect::new(coord! { x: -180.0, y: -90.0 }, coord! { x: 180.0, y: 90.0 })),
        };
        match bounds.map_or(Some(part), |bounds| part.narrowed(bounds)) {
            Some(part) => ResponseKey::Within(part, query, format),
            None => ResponseKey::Layer(query, format),
        }
    }

    /// Returns the bounds of the selected areas; `None` if there are no such areas, or if the store does not respond in time.
    async fn area_bounds(&self, selector: &AreaSelector) -> Option<Rect<f64>> {
        timeout(self.renderer.timeout, self.areas()).await.ok()??.around(selector)
    }

    async fn infrastructure_bounds(
        &self,
        selector: &AreaSelector,
        kind: Option<InfrastructureKind>,
    ) -> Option<Rect<f64>> {
        let places = timeout(self.renderer.timeout, self.renderer.store.places()).await.ok()?.ok()?;
        places.value.infrastructure_layer(selector, kind).bounds()
    }

    /// Returns the areas of the follower if its revision of floods is current, and otherwise the areas of the store. While the
    /// store is unavailable, returns the areas that the follower read last.
    async fn areas(&self) -> Option<Arc<AreaSet>> {
        let store = &self.renderer.store;
        let state = self.follower.states().borrow().clone();
        let present = timeout(REVISION_TIMEOUT, store.revision(Resource::Floods)).await;
        let state =
            state.filter(|state| !matches!(present, Ok(Ok(present)) if present != state.cursor().floods));
        match state {
            Some(state) => Some(Arc::clone(state.areas())),
            None => Some(Arc::clone(store.places().await.ok()?.value.areas())),
        }
    }
}
