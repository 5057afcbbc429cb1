//! The picture of a link to the map, for services in which people share it.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use geo::Intersects;
use lru::LruCache;
use rocket::tokio::sync::Semaphore;
use rocket::tokio::time::timeout;
use rocket::{State, get};

use super::flood_list::flooded_areas;
use crate::changes::{self, Cursor};
use crate::config::Config;
use crate::data::statements::{FloodData, Watch};
use crate::guards::{AreaFilter, Caller};
use crate::http::error::{Problem, Source};
use crate::model::alerts::Status;
use crate::model::{Area, AreaId, AreaSelector, AreaSet, FloodState, Places, Timestamp};
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
pub(crate) struct Pictures {
    kept: Arc<Mutex<LruCache<PictureKey, (PictureState, Png)>>>,
    drawing: Arc<Semaphore>,
}

type PictureKey = (Option<AreaId>, AreaSelector);
type Png = Arc<Vec<u8>>;

impl Default for Pictures {
    fn default() -> Self {
        let kept = Arc::new(Mutex::new(LruCache::new(KEPT)));
        Self { kept, drawing: Arc::new(Semaphore::new(1)) }
    }
}

/// Returns the revision of the picture of a page: it changes with all that the picture shows.
pub(super) fn revision(cursor: Cursor, watch: Watch, unconfirmed: usize) -> String {
    format!("{cursor}.{}.{unconfirmed}", u8::from(watch.is_silent()))
}

/// All that a picture depends on.
#[derive(Clone, Debug)]
struct PictureState {
    areas: Arc<AreaSet>,
    places: Arc<Places>,
    selector: AreaSelector,
    chosen: Option<usize>,
    floods: Vec<PictureFlood>,
    is_doubtful: bool,
    is_exercise: bool,
}

/// Position and state of a flooded area, and whether the flood is unconfirmed.
type PictureFlood = (usize, FloodState, bool);

/// Responds with the present picture of an area with its surroundings, of a city, or of all areas. Caches may store it only if `time`
/// and `revision` are the present ones: then the address of the next picture is another one.
#[get("/map/picture.png?<area>&<time>&<revision>", rank = 1)]
#[expect(clippy::too_many_arguments, reason = "each is a guard")]
pub(in crate::pages) async fn draw(
    _caller: Caller,
    select: AreaFilter<resources::Floods>,
    area: Option<&str>,
    time: Option<&str>,
    revision: Option<&str>,
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
    let selector = if chosen.is_some() { AreaSelector::default() } else { select.areas };
    let (watched, _) = watch(&cache.sources.reports());
    let drawn = drawn_floods(&state, &selector, cache.now());
    let unconfirmed = drawn.iter().filter(|(_, _, is_unconfirmed)| *is_unconfirmed).count();
    let is_newest = floods == FloodData::Now
        && time == state.last_changed()
        && revision == Some(&*self::revision(state.cursor(), watched, unconfirmed));
    let render = async {
        let shown = PictureState {
            areas: Arc::clone(areas),
            places: store.places().await?.value,
            selector,
            chosen,
            floods: drawn,
            is_doubtful: floods != FloodData::Now || watched.is_silent(),
            is_exercise: config.issuer().status != Status::Actual,
        };
        pictures.png(shown).await
    };
    let png = timeout(config.limits.timeout, render).await.map_err(Problem::slow_store)??;
    let picture = ApiResponse::public("image/png", png.to_vec());
    Ok(if is_newest { picture } else { picture.not_stored() })
}

/// Returns the selected floods, the least deep first.
fn drawn_floods(state: &changes::State, selector: &AreaSelector, now: Timestamp) -> Vec<PictureFlood> {
    let selected = flooded_areas(state).filter(|row| selector.matches(&state.areas()[row.position]));
    let mut floods: Vec<_> =
        selected.map(|row| (row.position, row.flood.state, row.flood.is_unconfirmed(now))).collect();
    floods.sort_by_key(|(_, state, _)| *state);
    floods
}

impl Pictures {
    /// Returns a picture as PNG. Fails with 404 if there is no geometry.
    async fn png(&self, shown: PictureState) -> Result<Png, Problem> {
        if let Some(png) = self.kept(&shown) {
            return Ok(png);
        }
        let permit = Arc::clone(&self.drawing).acquire_owned().await.map_err(Problem::internal)?;
        // Another request may have drawn it.
        if let Some(png) = self.kept(&shown) {
            return Ok(png);
        }
        let kept = Arc::clone(&self.kept);
        // A picture is kept even if nobody waits for it any more.
        let drawing = off_thread(move |_| {
            let _permit = permit;
            let drawn = shown.picture().map(|picture| picture.png());
            let png = drawn.ok_or_else(|| Problem::not_found("a picture of areas without geometry"))?;
            let png = Arc::new(png.map_err(Problem::internal)?);
            let value = (shown, Arc::clone(&png));
            kept.lock().unwrap_or_else(PoisonError::into_inner).put(value.0.key(), value);
            Ok(png)
        });
        drawing.await.map_err(Problem::internal)?
    }

    fn kept(&self, shown: &PictureState) -> Option<Png> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let (of, png) = kept.get(&shown.key())?;
        of.is_same(shown).then(|| Arc::clone(png))
    }
}

impl PictureState {
    fn key(&self) -> PictureKey {
        (self.chosen.map(|position| self.areas[position].id), self.selector.clone())
    }

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
            plane.city_rings(&self.places, &self.selector)
        };
        let seen = plane.bbox();
        let is_seen = |position| self.areas.bounds(position).is_some_and(|bounds| bounds.intersects(&seen));
        let floods = self.floods.iter().filter(|(position, ..)| is_seen(*position));
        let floods = floods.map(|&(position, state, is_unconfirmed)| {
            let rings = plane.area_rings(&self.areas, position);
            DrawnFlood { state, is_unconfirmed, rings }
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
