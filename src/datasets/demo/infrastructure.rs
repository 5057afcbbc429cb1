//! Floodgates, pumps and the rivers.

use geo::{Coord, LineString};

use super::flood::RIVERS;
use crate::model::{Infrastructure, InfrastructureKind, InfrastructureShape, Locator, Position};

const PLACES: [(InfrastructureKind, &str, f64, f64); 9] = [
    (InfrastructureKind::Floodgates, "Pintu Air Karet", 106.811, -6.199),
    (InfrastructureKind::Floodgates, "Pintu Air Manggarai", 106.848, -6.208),
    (InfrastructureKind::Floodgates, "Pintu Air Pulo Gadung", 106.905, -6.192),
    (InfrastructureKind::Floodgates, "Pintu Air Cengkareng Drain", 106.733, -6.160),
    (InfrastructureKind::Pumps, "Pompa Pluit", 106.797, -6.112),
    (InfrastructureKind::Pumps, "Pompa Ancol", 106.829, -6.124),
    (InfrastructureKind::Pumps, "Pompa Melati", 106.819, -6.197),
    (InfrastructureKind::Pumps, "Pompa Sunter Selatan", 106.868, -6.139),
    (InfrastructureKind::Pumps, "Pompa Cideng", 106.812, -6.168),
];

const RIVER_NAMES: [&str; 3] = ["Kali Angke", "Ciliwung", "Kali Sunter"];

/// What the demo city keeps its water with.
pub(super) fn infrastructure(locator: &Locator) -> Vec<Infrastructure> {
    let places = PLACES.into_iter().filter_map(|(kind, name, lng, lat)| {
        let place = Position::new(lng, lat)?;
        let tags = locator.locate(place);
        let shape = InfrastructureShape::Place(place);
        Some(Infrastructure { kind, name: name.to_owned(), tags, shape })
    });
    let rivers = RIVER_NAMES.iter().zip(RIVERS).filter_map(|(name, course)| {
        let &(lng, lat) = course.first()?;
        let course = course.iter().map(|&(x, y)| Coord { x, y }).collect();
        Some(Infrastructure {
            kind: InfrastructureKind::Waterways,
            name: (*name).to_owned(),
            tags: locator.locate(Position::new(lng, lat)?),
            shape: InfrastructureShape::Course(LineString(course)),
        })
    });
    places.chain(rivers).collect()
}
