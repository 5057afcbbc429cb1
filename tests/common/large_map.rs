//! A service in memory on a map of many areas, each with a state.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use figment::Figment;
use rocket::local::asynchronous::Client;
use siaga::Siaga;
use siaga::folder::Dataset;
use siaga::model::{Actor, Area, AreaSet, Clock, FloodChange, ManualClock, Places};
use siaga::stores::memory::MemoryStore;
use siaga::stores::{OpenError, OpenStore, OpenedStore, StoreSettings};

use crate::fixture;

/// Opens a store whose map has as many squares of 0.01° along each side, from 100 E, 0 N. The border of a square has four
/// times as many positions as `points`.
#[derive(Debug)]
pub(crate) struct OpenLarge {
    pub(crate) side: u64,
    pub(crate) points: u64,
}

impl OpenLarge {
    fn area(&self, number: u64) -> Area {
        let (x, y) = ((number % self.side) as f64, (number / self.side) as f64);
        let along = |from: [f64; 2], to: [f64; 2]| {
            (0..self.points).map(move |step| {
                let part = step as f64 / self.points as f64;
                let at = |index: usize| from[index] + (to[index] - from[index]) * part;
                geo::Coord { x: 100.0 + at(0) / 100.0, y: at(1) / 100.0 }
            })
        };
        let corners = [[x, y], [x + 1.0, y], [x + 1.0, y + 1.0], [x, y + 1.0]];
        let ring = (0..4).flat_map(|corner| along(corners[corner], corners[(corner + 1) % 4]));
        Area {
            id: fixture::id(number + 1),
            geom_id: number.to_string(),
            outline: geo::MultiPolygon(vec![geo::Polygon::new(ring.collect(), vec![])]),
            ..fixture::areas()[0].clone()
        }
    }

    fn dataset(&self) -> Dataset {
        let areas = AreaSet::new((0..self.side * self.side).map(|number| self.area(number)).collect());
        let areas = Arc::new(areas.unwrap());
        let change = |area: &Area| FloodChange {
            area: area.id,
            state: Some(fixture::state(2)),
            at: fixture::now().saturating_sub(Duration::from_hours(1)),
            received: fixture::now().saturating_sub(Duration::from_hours(1)),
            by: Actor { subject: "import".to_owned(), username: None },
        };
        let flood_log = areas.iter().map(change).collect();
        Dataset { places: Places::new(areas, Vec::new(), Vec::new()), flood_log, ..Dataset::default() }
    }
}

#[async_trait]
impl OpenStore for OpenLarge {
    fn name(&self) -> &'static str {
        "large"
    }

    fn keeps_data(&self) -> bool {
        true
    }

    async fn open(&self, settings: &StoreSettings) -> Result<OpenedStore, OpenError> {
        Ok(OpenedStore::new(Arc::new(MemoryStore::new(self.dataset(), Arc::clone(&settings.clock)))))
    }
}

pub(crate) async fn service(
    store: impl OpenStore + 'static,
    configured: impl FnOnce(Figment) -> Figment,
) -> Client {
    let figment = Figment::from(rocket::Config {
        log_level: rocket::config::LogLevel::Off,
        ..rocket::Config::debug_default()
    })
    .merge(("siaga.store", "large"))
    .merge(("siaga.images.url", "memory:///"))
    .merge(("siaga.images.signing_key", "a secret of thirty-two bytes or more"));
    let clock = Arc::new(ManualClock::new(fixture::now()));
    let builder = Siaga::builder().figment(configured(figment)).store(Arc::new(store));
    Client::untracked(builder.clock(clock as Arc<dyn Clock>).build().await.unwrap().rocket).await.unwrap()
}
