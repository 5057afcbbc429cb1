//! The local area and province of a place.

#[path = "../crates/siaga-conformance/src/fixture.rs"]
mod fixture;

use std::sync::Arc;

use geo::{Coord, Intersects};
use proptest::prelude::*;
use siaga::folder::{Dataset, FolderRules};
use siaga::model::{Area, AreaSet, Locator, Position, Region, Tags};

use crate::fixture::{areas, cities, now, place, regions};

/// Linear search over all areas and provinces: the lowest area that contains a place, borders included, and its
/// province, else the province that contains the place.
fn linear_search(areas: &AreaSet, regions: &[Arc<Region>], position: Position) -> Tags {
    let area = areas.iter().find(|area| area.outline.intersects(&position.coord()));
    let region = regions.iter().find(|region| region.outline.intersects(&position.coord()));
    let of_area = area.map(|area| area.region_code.as_str()).filter(|code| !code.is_empty());
    Tags {
        instance_region_code: of_area.or_else(|| region.map(|region| region.code.as_str())).map(Box::from),
        local_area_id: area.map(|area| area.id),
        ..Tags::default()
    }
}

#[test]
fn the_index_finds_the_same_as_a_linear_scan_inside_and_on_every_border() {
    let all: Vec<Area> = areas().iter().cloned().collect();
    let overlapping = [7, 3].map(|number: u64| Area { id: number.try_into().unwrap(), ..all[0].clone() });
    let nowhere = Area { region_code: String::new(), ..all[0].clone() };
    let with_a_hole = all.iter().filter(|area| area.id.number() == 5).cloned().collect();
    for areas in [all, overlapping.to_vec(), vec![nowhere], with_a_hole] {
        let areas = Arc::new(AreaSet::new(areas).unwrap());
        let locator = Locator::new(Arc::clone(&areas), regions(), cities());
        for (x, y) in (-8..=20).flat_map(|x| (-8..=12).map(move |y| (f64::from(x) / 2.0, f64::from(y) / 2.0)))
        {
            // Of the areas here, one has a district.
            let found = Tags { district_id: None, ..locator.locate(place(x, y)) };
            assert_eq!(
                found,
                linear_search(&areas, &regions(), place(x, y)),
                "{x} {y} of {} areas",
                areas.len()
            );
        }
    }
}

#[test]
fn a_place_is_in_the_city_whose_boundary_holds_it_and_otherwise_in_the_city_of_its_area() {
    let locator = Locator::new(Arc::new(areas()), regions(), cities());
    let city = |x, y| locator.city(&locator.locate(place(x, y))).map(str::to_owned);
    for (x, y, code) in [
        (40.0, 40.0, Some("sby")),
        (39.0, 39.0, Some("sby")),
        (38.9, 39.0, None),
        (0.5, 0.5, Some("jbd")),
        (3.5, 0.5, Some("bdg")),
        (5.5, 3.5, None),
    ] {
        assert_eq!(city(x, y).as_deref(), code, "{x} {y}");
    }
}

#[test]
fn an_area_outside_its_city_s_boundary_is_not_in_the_city() {
    let around = |code: &str, area: u64| {
        let outline = areas().iter().find(|candidate| candidate.id.number() == area).unwrap().outline.clone();
        Arc::new(Region { code: code.to_owned(), name: code.to_owned(), outline })
    };
    // Two cities around one area: the first code counts.
    let locator = Locator::new(Arc::new(areas()), regions(), vec![around("jbd", 2), around("sby", 2)]);
    let city = |x, y| locator.city(&locator.locate(place(x, y))).map(str::to_owned);
    assert_eq!(city(0.5, 0.5), None, "area 1 has the city jbd, but lies outside its boundary");
    assert_eq!(city(1.5, 0.5).as_deref(), Some("jbd"));
    assert_eq!(city(3.5, 0.5).as_deref(), Some("bdg"), "a city without a boundary is its areas");
}

#[test]
fn the_index_finds_the_same_in_the_demo() {
    let demo = Dataset::load("demo", &FolderRules::default(), now()).unwrap();
    let locator = Locator::new(Arc::clone(demo.places.areas()), demo.places.regions().to_vec(), Vec::new());
    let vertices: Vec<Coord<f64>> =
        demo.places.areas().iter().flat_map(|area| area.outline.0[0].exterior().coords().copied()).collect();
    proptest!(|(lng in 106.66..107.0f64, lat in -6.40..-6.06f64, vertex in any::<prop::sample::Index>())| {
        let vertex = vertex.get(&vertices);
        for position in [Position::new(lng, lat), Position::new(vertex.x, vertex.y)] {
            let position = position.unwrap();
            prop_assert_eq!(locator.locate(position), linear_search(demo.places.areas(), demo.places.regions(), position));
        }
    });
}
