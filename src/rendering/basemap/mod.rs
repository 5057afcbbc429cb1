//! The base map: roads, rails, rivers, parks and place names from a file, and waterways from the store, simplified for each zoom.
//!
//! A server reads the file once, at startup, and keeps the map in memory. It draws each response for the box that a client shows:
//! the most important parts first, up to a number of positions that compress to about 60 kB.

mod builder;
mod drawing;
mod lines;
mod streets;

use std::num::NonZeroUsize;
use std::sync::Arc;

use lru::LruCache;
use rocket::tokio::sync::Mutex;

use self::builder::{BasemapBuilder, ZoomLevels};
use self::drawing::draw;
use self::streets::StreetIndex;
use crate::config::Config;
use crate::data::demo;
use crate::data::folder::{DatasetError, Folder};
use crate::http::error::Problem;
use crate::model::{
    BasemapFeature, BasemapKind, BasemapShape, BoundingBox, Geometry, InfrastructureKind, Places, Position,
};
use crate::rendering::cache::RenderedResponse;
use crate::rendering::{JSON, PermitPool, Permits, precompress};
use crate::runtime::off_thread;
use crate::stores::Store;

/// The number of cached responses: enough for the views that visitors see first.
const CACHED_RESPONSES: NonZeroUsize = NonZeroUsize::MIN.saturating_add(31);

#[derive(Debug)]
pub(crate) struct Basemap {
    file: Arc<ZoomLevels>,
    streets: Arc<StreetIndex>,
    snapshot: Mutex<Option<Arc<BasemapSnapshot>>>,
}

pub(crate) struct BasemapSnapshot {
    places: Arc<Places>,
    file: Arc<ZoomLevels>,
    waterways: ZoomLevels,
    /// An identifier of the map's content; empty if there is no content.
    pub(crate) version: String,
    responses: Mutex<LruCache<(Option<BoundingBox>, u8), RenderedResponse>>,
}

impl std::fmt::Debug for BasemapSnapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BasemapSnapshot").field("version", &self.version).finish_non_exhaustive()
    }
}

impl Basemap {
    /// Reads the configured file, or the base map of the demo. Fails with the first error in the file.
    pub(crate) fn load(config: &Config) -> Result<Self, DatasetError> {
        let file = match config.basemap() {
            Some(file) => {
                if let Err(source) = std::fs::metadata(&file) {
                    return Err(DatasetError::Unreadable { path: file, source });
                }
                if config.map.basemap.attribution.is_none() {
                    tracing::warn!(
                        "{} is shown without saying whose map it is: set map.basemap.attribution as its licence requires",
                        file.display()
                    );
                }
                read(&Folder::from_basemap(file))?
            }
            None if config.is_demo() => read(&demo::folder())?,
            None => BasemapBuilder::default(),
        };
        let file = Arc::new(file.into_levels());
        let streets = Arc::new(StreetIndex::new(Arc::clone(&file)));
        Ok(Self { file, streets, snapshot: Mutex::default() })
    }

    /// Returns the base map with the waterways of the store. While the store is unavailable, uses the waterways that were last
    /// read; fails if they were never read.
    pub(crate) async fn snapshot(&self, store: &dyn Store) -> Result<Arc<BasemapSnapshot>, Problem> {
        let places = store.places().await.map(|places| places.value);
        let mut cached = self.snapshot.lock().await;
        let places = match (&*cached, places) {
            (Some(snapshot), Ok(places)) if !Arc::ptr_eq(&snapshot.places, &places) => places,
            (Some(snapshot), _) => return Ok(Arc::clone(snapshot)),
            (None, places) => places?,
        };
        let file = Arc::clone(&self.file);
        let snapshot = off_thread(move |_| Arc::new(BasemapSnapshot::new(places, file))).await;
        let snapshot = snapshot.map_err(Problem::internal)?;
        *cached = Some(Arc::clone(&snapshot));
        Ok(snapshot)
    }

    /// Returns the base map that `snapshot` returned last, if any, without querying the store.
    pub(crate) async fn last_snapshot(&self) -> Option<Arc<BasemapSnapshot>> {
        self.snapshot.lock().await.clone()
    }

    /// Returns whether the map tells land from sea.
    pub(crate) fn has_land(&self) -> bool {
        self.file.has_land()
    }

    /// Returns the search for streets of the file.
    pub(crate) fn streets(&self) -> Arc<StreetIndex> {
        Arc::clone(&self.streets)
    }

    pub(crate) fn places(&self) -> impl Iterator<Item = (&str, Position)> {
        self.file.places()
    }
}

fn read(folder: &Folder) -> Result<BasemapBuilder, DatasetError> {
    let mut builder = BasemapBuilder::default();
    folder.basemap(|row| {
        builder.add(row.value);
        Ok::<_, DatasetError>(())
    })?;
    Ok(builder)
}

impl BasemapSnapshot {
    /// Adds the waterways of the store to the map in the file.
    fn new(places: Arc<Places>, file: Arc<ZoomLevels>) -> Self {
        let ways = places.infrastructure().iter().filter(|item| item.kind == InfrastructureKind::Waterways);
        let waterways: BasemapBuilder = ways
            .filter_map(|way| {
                let Geometry::LineString(line) = way.geometry() else { return None };
                let shape = BasemapShape::Lines(vec![line.clone()]);
                Some(BasemapFeature { kind: BasemapKind::River, name: way.name.clone(), shape })
            })
            .collect();
        let waterways = waterways.into_levels();
        let version = format!("{}{}", file.version(), waterways.version());
        Self { places, file, waterways, version, responses: Mutex::new(LruCache::new(CACHED_RESPONSES)) }
    }

    /// Returns the response for a box, or for the whole map. Fails if too many renderings wait.
    pub(crate) async fn draw(
        self: &Arc<Self>,
        within: Option<BoundingBox>,
        zoom: u8,
        permits: &Permits,
    ) -> Result<RenderedResponse, Problem> {
        let key = (within, zoom);
        if let Some(cached) = self.responses.lock().await.get(&key) {
            return Ok(cached.clone());
        }
        let _permit = permits.small(PermitPool::Current).await.map_err(Problem::from)?;
        let snapshot = Arc::clone(self);
        let task = off_thread(move |_| draw(&[&snapshot.waterways, &snapshot.file], within, zoom));
        let body = task.await.map_err(Problem::internal)??;
        let rendered = precompress(JSON, body).await?;
        self.responses.lock().await.put(key, rendered.clone());
        Ok(rendered)
    }
}
