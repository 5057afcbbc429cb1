//! The picture of a link to the map, for services in which people share it.

use std::num::NonZeroUsize;
use std::sync::Arc;

use lru::LruCache;
use rocket::tokio::sync::Mutex;
use rocket::tokio::time::timeout;
use rocket::{State, get};

use super::flood_list::flooded_areas;
use crate::changes;
use crate::config::Config;
use crate::data::statements::{FloodData, Watch};
use crate::guards::{AreaFilter, Caller};
use crate::http::error::{Problem, Source};
use crate::model::alerts::Status;
use crate::model::{
    Area, AreaId, AreaLevel, AreaOutline, AreaSelector, AreaSet, FloodState, Places, Timestamp,
};
use crate::pages::drawing::{DrawnFlood, PICTURE_SIZE, Picture, Plane};
use crate::rendering::{ApiResponse, ResponseCache};
use crate::runtime::off_thread;
use crate::schema::resources;
use crate::sources::watch;
use crate::stores::Store;

const KEPT: NonZeroUsize = NonZeroUsize::MIN.saturating_add(63);
/// The margin around all areas, and around a single one, with which its surroundings are shown, in pixels.
const MARGIN: f64 = 30.0;
const SURROUNDINGS: f64 = 240.0;
/// The maximum number of areas around a single one.
const MAX_AROUND: usize = 500;

/// The pictures that were drawn last. At most one is drawn at a time.
#[derive(Debug)]
pub(crate) struct Pictures(Mutex<LruCache<PictureKey, (PictureState, Png)>>);

type PictureKey = (Option<AreaId>, AreaSelector);
type Png = Arc<Vec<u8>>;

impl Default for Pictures {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(KEPT)))
    }
}

/// All that a picture depends on.
#[derive(Clone, Debug)]
struct PictureState {
    areas: Arc<AreaSet>,
    places: Arc<Places>,
    selector: AreaSelector,
    chosen: Option<usize>,
    floods: Vec<PictureStateFlood>,
    is_doubtful: bool,
    is_exercise: bool,
}

/// Position and state of a flooded area, and whether the flood is unconfirmed.
type PictureStateFlood = (usize, FloodState, bool);

/// Responds with the present picture of an area with its surroundings, of a city, or of all areas. Caches may store it only if `time`
/// is that of the newest change: then the address of the next picture is another one.
#[get("/map/picture.png?<area>&<time>", rank = 1)]
pub(in crate::pages) async fn draw(
    _caller: Caller,
    select: AreaFilter<resources::Floods>,
    area: Option<&str>,
    time: Option<&str>,
    cache: ResponseCache,
    pictures: &State<Pictures>,
    store: &State<Arc<dyn Store>>,
    config: &State<Config>,
) -> Result<ApiResponse, Problem> {
    let time = time.map(Timestamp::parse).transpose();
    let time = time.map_err(|error| Problem::invalid(Source::Query, "time", error))?;
    let (state, floods) = cache.floods().await;
    let state = state.ok_or_else(|| Problem::slow_store("the floods cannot be read"))?;
    let areas = state.areas();
    let found = |id: &str| id.parse().ok().and_then(|id| areas.position(id));
    let unknown = || Problem::not_found("this area");
    let chosen = area.map(|id| found(id).ok_or_else(unknown)).transpose()?;
    let render = async {
        let places = store.places().await?.value;
        let shown = PictureState {
            areas: Arc::clone(areas),
            places,
            selector: if chosen.is_some() { AreaSelector::default() } else { select.areas },
            chosen,
            floods: drawn_floods(&state, cache.now()),
            is_doubtful: floods != FloodData::Now
                || matches!(watch(&cache.sources.reports()).0, Watch::Silent { .. }),
            is_exercise: config.issuer().status != Status::Actual,
        };
        pictures.png(shown).await
    };
    let png = timeout(config.limits.timeout, render).await.map_err(Problem::slow_store)??;
    let picture = ApiResponse::public("image/png", png.to_vec());
    let is_newest = floods == FloodData::Now && time == state.last_changed();
    Ok(if is_newest { picture } else { picture.not_stored() })
}

fn drawn_floods(state: &changes::State, now: Timestamp) -> Vec<PictureStateFlood> {
    let floods = flooded_areas(state);
    floods.map(|row| (row.position, row.flood.state, row.flood.is_unconfirmed(now))).collect()
}

impl Pictures {
    /// Returns the picture of a state as PNG. Fails with 404 if the state has no geometry.
    async fn png(&self, shown: PictureState) -> Result<Png, Problem> {
        let id = shown.chosen.map(|position| shown.areas[position].id);
        let key = (id, shown.selector.clone());
        let mut kept = self.0.lock().await;
        if let Some((of, png)) = kept.get(&key)
            && of.is_same(&shown)
        {
            return Ok(Arc::clone(png));
        }
        let (shown, png) = off_thread(move |_| {
            let png = shown.picture().map(|picture| picture.png());
            (shown, png)
        })
        .await
        .map_err(Problem::internal)?;
        let png = png.ok_or_else(|| Problem::not_found("a picture of areas without geometry"))?;
        let png = Arc::new(png.map_err(Problem::internal)?);
        kept.put(key, (shown, Arc::clone(&png)));
        Ok(png)
    }
}

impl PictureState {
    fn is_same(&self, other: &Self) -> bool {
        let marks = |of: &Self| (of.is_doubtful, of.is_exercise);
        Arc::ptr_eq(&self.areas, &other.areas)
            && Arc::ptr_eq(&self.places, &other.places)
            && self.floods == other.floods
            && marks(self) == marks(other)
    }

    /// Returns what to draw; `None` if there is no geometry. Costs O(positions) of what is shown.
    fn picture(&self) -> Option<Picture> {
        let bounds = match self.chosen {
            Some(position) => self.areas.bounds(position),
            None => self.areas.around(&self.selector),
        };
        let margin = if self.chosen.is_some() { SURROUNDINGS } else { MARGIN };
        let plane = Plane::fit(bounds?, PICTURE_SIZE.map(f64::from), margin);
        let rings = |area: &Area| plane.rings(&area.outline).collect::<Vec<_>>();
        let land = if self.chosen.is_some() {
            self.areas
                .near(plane.bbox())
                .take(MAX_AROUND)
                .map(|position| rings(&self.areas[position]))
                .collect()
        } else {
            let cities = self.places.area_layer(&self.selector, AreaLevel::City);
            let surface = |city: &AreaOutline| match city {
                AreaOutline::Union(outline) => plane.rings(&outline.surface).collect(),
                AreaOutline::Area(_) | AreaOutline::City(_) => Vec::new(),
            };
            cities.outlines().iter().map(surface).collect()
        };
        let floods = self.floods.iter().filter_map(|&(position, state, is_unconfirmed)| {
            let (area, bounds) = (&self.areas[position], self.areas.bounds(position)?);
            let rings = plane.visible_rings(&area.outline, bounds);
            Some(DrawnFlood { state, is_unconfirmed, rings })
        });
        Some(Picture {
            land,
            floods: floods.collect(),
            chosen: self.chosen.map(|position| rings(&self.areas[position])).unwrap_or_default(),
            is_doubtful: self.is_doubtful,
            is_exercise: self.is_exercise,
        })
    }
}
