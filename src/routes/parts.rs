use std::sync::{Arc, Weak};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use geo::{Rect, coord};
use rocket::tokio::time::timeout;

use super::Question;
use crate::formats::Format;
use crate::model::{AreaSelector, BoundingBox, Places};
use crate::stores::{LayerQuery, Resource, Store, Versioned};

/// How long the store may take to tell its revision. The revision is in memory, unless the store is away.
const QUICK: Duration = Duration::from_millis(50);

/// Narrows parts of the map to where there are areas, so that parts with the same areas have one response, and a part with all
/// areas has the response for the whole map.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    /// The places when a request last needed them.
    known: ArcSwapOption<Versioned<Weak<Places>>>,
}

impl Parts {
    /// Returns the question about a part of a layer, after at most `patience`.
    pub(super) async fn question(
        &self,
        store: &dyn Store,
        patience: Duration,
        part: BoundingBox,
        query: LayerQuery,
        format: Arc<dyn Format>,
    ) -> Question {
        let around = match &query {
            LayerQuery::Floods(query) => self.around(store, patience, &query.selector).await,
            LayerQuery::Areas(query) => self.around(store, patience, &query.selector).await,
            // A report can be anywhere.
            _ => Some(Rect::new(coord! { x: -180.0, y: -90.0 }, coord! { x: 180.0, y: 90.0 })),
        };
        match around.map_or(Some(part), |around| part.narrowed(around)) {
            Some(part) => Question::Within(part, query, format),
            None => Question::Layer(query, format),
        }
    }

    /// Returns a box that contains the selected areas; `None` if there are none, or if the store does not tell them.
    async fn around(
        &self,
        store: &dyn Store,
        patience: Duration,
        selector: &AreaSelector,
    ) -> Option<Rect<f64>> {
        timeout(patience, self.places(store)).await.ok()??.areas().around(selector)
    }

    /// Returns the current places. As long as they are the known ones, this asks the store only for its revision. While the
    /// store is away, this returns the known ones.
    async fn places(&self, store: &dyn Store) -> Option<Arc<Places>> {
        let known = self.known.load_full();
        let known = known.and_then(|known| Some((known.revision, known.value.upgrade()?)));
        let present = timeout(QUICK, store.revision(Resource::Places)).await;
        let Ok(Ok(present)) = present else { return known.map(|(_, places)| places) };
        if let Some((_, places)) = known.filter(|(revision, _)| *revision == present) {
            return Some(places);
        }
        let places = store.places().await.ok()?;
        self.known.store(Some(Arc::new(places.clone().map(|places| Arc::downgrade(&places)))));
        Some(places.value)
    }
}
