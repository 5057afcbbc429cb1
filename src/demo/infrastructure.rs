//! Floodgates, pumps and the rivers.

use super::flood::RIVERS;
use crate::model::{Course, Infrastructure, InfrastructureKind, InfrastructureShape, Locator, Position};

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

/// Returns the infrastructure of the demo city.
pub(super) fn infrastructure(locator: &Locator) -> Vec<Infrastructure> {
    let places = PLACES.into_iter().filter_map(|(kind, name, lng, lat)| {
        Some((kind, name, InfrastructureShape::Place(Position::new(lng, lat)?)))
    });
    let rivers = RIVER_NAMES.into_iter().zip(RIVERS).filter_map(|(name, course)| {
        let positions: Option<Vec<_>> = course.iter().map(|&(lng, lat)| Position::new(lng, lat)).collect();
        let course = Course::new(&positions?)?;
        Some((InfrastructureKind::Waterways, name, InfrastructureShape::Course(course)))
    });
    let made = places.chain(rivers).map(|(kind, name, shape)| Infrastructure {
        kind,
        name: name.to_owned(),
        tags: locator.locate(shape.beginning()),
        shape,
    });
    made.collect()
}
