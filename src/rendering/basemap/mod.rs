//! The base map: roads, rails, rivers, parks and names of places from a file, and the waterways of the store, simplified for each
//! zoom.
//!
//! It is derived data, held in memory: a server reads the file once, at startup, whatever its store is. A response is drawn from the
//! part of the map that a client shows, with at most so many positions that it has some 60 kB when it is compressed: the most
//! important parts come first.

mod builder;
mod drawing;
mod lines;

use std::num::NonZeroUsize;
use std::sync::Arc;

use lru::LruCache;
use rocket::tokio::sync::Mutex;

use self::builder::{BasemapBuilder, ZoomLevels};
use self::drawing::draw;
use crate::config::Config;
use crate::data::demo;
use crate::data::folder::{DatasetError, Folder};
use crate::http::error::Problem;
use crate::model::{
    BasemapFeature, BasemapKind, BasemapShape, BoundingBox, Geometry, InfrastructureKind, Places, Position,
};
use crate::rendering::cache::Rendered;
use crate::rendering::{JSON, PermitPool, Permits, prepared};
use crate::runtime::off_thread;
use crate::stores::Store;

/// How many responses are kept: those for what visitors see first.
const KEPT: NonZeroUsize = NonZeroUsize::MIN.saturating_add(31);

/// The base map of a server.
#[derive(Debug)]
pub(crate) struct Basemap {
    file: Arc<ZoomLevels>,
    ground: Mutex<Option<Arc<BasemapSnapshot>>>,
}

/// The base map with the waterways that the store has.
pub(crate) struct BasemapSnapshot {
    places: Arc<Places>,
    file: Arc<ZoomLevels>,
    waterways: ZoomLevels,
    /// Identifies its content. Empty if there is none.
    pub(crate) version: String,
    drawn: Mutex<LruCache<(Option<BoundingBox>, u8), Rendered>>,
}

impl std::fmt::Debug for BasemapSnapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ground").field("version", &self.version).finish_non_exhaustive()
    }
}

impl Basemap {
    /// Reads the configured file, or the one of the demo.
    ///
    /// # Errors
    ///
    /// The first fault of the file.
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
        Ok(Self { file: Arc::new(file.into_levels()), ground: Mutex::default() })
    }

    /// Returns the base map with the waterways of the store. While the store is away, these are the last that were read.
    ///
    /// # Errors
    ///
    /// If the store fails and has never been read.
    pub(crate) async fn ground(&self, store: &dyn Store) -> Result<Arc<BasemapSnapshot>, Problem> {
        let places = store.places().await.map(|places| places.value);
        let mut known = self.ground.lock().await;
        let places = match (&*known, places) {
            (Some(ground), Ok(places)) if !Arc::ptr_eq(&ground.places, &places) => places,
            (Some(ground), _) => return Ok(Arc::clone(ground)),
            (None, places) => places?,
        };
        let file = Arc::clone(&self.file);
        let ground = off_thread(move |_| Arc::new(BasemapSnapshot::new(places, file))).await;
        let ground = ground.map_err(Problem::internal)?;
        *known = Some(Arc::clone(&ground));
        Ok(ground)
    }

    /// Returns the base map as it was last made.
    pub(crate) async fn last_ground(&self) -> Option<Arc<BasemapSnapshot>> {
        self.ground.lock().await.clone()
    }

    /// Returns the names of the file's places, for searches.
    pub(crate) fn places(&self) -> impl Iterator<Item = (&str, Position)> {
        self.file.places()
    }
}

fn read(folder: &Folder) -> Result<BasemapBuilder, DatasetError> {
    let mut all = BasemapBuilder::default();
    folder.basemap(|row| {
        all.add(row.value);
        Ok::<_, DatasetError>(())
    })?;
    Ok(all)
}

impl BasemapSnapshot {
    fn new(places: Arc<Places>, file: Arc<ZoomLevels>) -> Self {
        let ways = places.infrastructure().iter().filter(|of| of.kind == InfrastructureKind::Waterways);
        let waterways: BasemapBuilder = ways
            .filter_map(|way| {
                let Geometry::LineString(line) = way.geometry() else { return None };
                let shape = BasemapShape::Lines(vec![line.clone()]);
                Some(BasemapFeature { kind: BasemapKind::River, name: way.name.clone(), shape })
            })
            .collect();
        let waterways = waterways.into_levels();
        let version = format!("{}{}", file.version(), waterways.version());
        Self { places, file, waterways, version, drawn: Mutex::new(LruCache::new(KEPT)) }
    }

    /// Returns the response for a part of the map, `None` for all of it, at a zoom.
    ///
    /// # Errors
    ///
    /// If too many are drawn already.
    pub(crate) async fn draw(
        self: &Arc<Self>,
        within: Option<BoundingBox>,
        zoom: u8,
        permits: &Permits,
    ) -> Result<Rendered, Problem> {
        let key = (within, zoom);
        if let Some(known) = self.drawn.lock().await.get(&key) {
            return Ok(known.clone());
        }
        let _permit = permits.small(PermitPool::Current).await.map_err(Problem::from)?;
        let ground = Arc::clone(self);
        let drawing = off_thread(move |_| draw(&[&ground.waterways, &ground.file], within, zoom));
        let body = drawing.await.map_err(Problem::internal)??;
        let rendered = prepared(JSON, body).await?;
        self.drawn.lock().await.put(key, rendered.clone());
        Ok(rendered)
    }
}
