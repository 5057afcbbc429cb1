//! Which local area and province a place lies in.

#[path = "../crates/siaga-conformance/src/fixture.rs"]
mod fixture;

use std::sync::Arc;

use geo::{Coord, Intersects};
use proptest::prelude::*;
use siaga::folder::{Dataset, FolderRules};
use siaga::model::{Area, AreaId, AreaSet, Locator, Position, Region, Tags};

use crate::fixture::{areas, cities, now, place, regions};

fn located(locator: &Locator, x: f64, y: f64) -> (Option<u64>, Option<String>) {
    let Tags { instance_region_code, local_area_id, .. } = locator.locate(place(x, y));
    (local_area_id.map(AreaId::number), instance_region_code.map(String::from))
}

fn fixture() -> Locator {
    Locator::new(Arc::new(areas()), regions(), cities())
}

#[test]
fn a_place_belongs_to_the_area_around_it_and_that_areas_province() {
    let locator = fixture();
    for (x, y, area, region) in [
        (0.5, 0.5, Some(1), Some("ID-JK")),
        (1.5, 0.5, Some(2), Some("ID-JK")),
        (0.5, 2.5, Some(5), Some("ID-JK")),
        (3.5, 0.5, Some(30), Some("ID-JB")),
        (5.5, 3.5, None, Some("ID-JK")),
        (8.0, 0.0, None, Some("ID-JB")),
        (50.0, 50.0, None, None),
        (-50.0, 0.5, None, None),
    ] {
        assert_eq!(located(&locator, x, y), (area, region.map(str::to_owned)), "{x} {y}");
    }
}

#[test]
fn a_hole_belongs_to_what_fills_it_and_each_part_to_its_area() {
    let locator = fixture();
    assert_eq!(located(&locator, 1.5, 2.5).0, Some(10), "in the hole of 5");
    assert_eq!(located(&locator, 4.5, 1.5).0, Some(10), "in the second part");
    let only_5: Vec<Area> = areas().iter().filter(|area| area.id.number() == 5).cloned().collect();
    let locator = Locator::new(Arc::new(AreaSet::new(only_5).unwrap()), regions(), cities());
    assert_eq!(located(&locator, 1.5, 2.5), (None, Some("ID-JK".to_owned())), "an empty hole");
}

#[test]
fn on_a_border_and_in_a_corner_the_lowest_area_counts() {
    let locator = fixture();
    for (x, y, area) in [
        (1.0, 0.5, 1),  // between 1 and 2
        (0.5, 1.0, 1),  // between 1 and 5
        (1.0, 1.0, 1),  // where 1, 2 and 5 meet
        (1.0, 2.0, 5),  // a corner of the hole of 5, which 10 fills
        (4.0, 1.0, 10), // where 10 and 30 touch
        (0.0, 0.0, 1),  // a corner on the outside
        (3.0, 4.0, 5),
    ] {
        assert_eq!(located(&locator, x, y).0, Some(area), "{x} {y}");
    }
}

#[test]
fn of_overlapping_areas_the_lowest_counts() {
    let template = &areas()[0];
    let twice = [7, 3].map(|number: u64| Area { id: number.try_into().unwrap(), ..template.clone() });
    let locator = Locator::new(Arc::new(AreaSet::new(twice.to_vec()).unwrap()), regions(), cities());
    assert_eq!(located(&locator, 0.5, 0.5).0, Some(3));
}

#[test]
fn an_area_without_a_province_lies_in_the_one_around_it() {
    let nowhere = Area { region_code: String::new(), ..areas()[0].clone() };
    let locator = Locator::new(Arc::new(AreaSet::new(vec![nowhere]).unwrap()), regions(), cities());
    assert_eq!(located(&locator, 0.5, 0.5), (Some(1), Some("ID-JK".to_owned())));
}

/// What a look at every area and every province finds.
fn naive(areas: &AreaSet, regions: &[Arc<Region>], position: Position) -> Tags {
    let area = areas.iter().find(|area| area.outline.intersects(&position.coord()));
    let region = regions.iter().find(|region| region.outline.intersects(&position.coord()));
    let of_area = area.map(|area| area.region_code.as_str());
    Tags {
        instance_region_code: of_area.or_else(|| region.map(|region| region.code.as_str())).map(Box::from),
        local_area_id: area.map(|area| area.id),
        ..Tags::default()
    }
}

#[test]
fn a_place_is_in_the_city_whose_boundary_holds_it_and_otherwise_in_the_city_of_its_area() {
    let locator = fixture();
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
        let outline = areas().iter().find(|of| of.id.number() == area).unwrap().outline.clone();
        Arc::new(Region { code: code.to_owned(), name: code.to_owned(), outline })
    };
    // Two cities around one area: the first code counts.
    let locator = Locator::new(Arc::new(areas()), regions(), vec![around("jbd", 2), around("sby", 2)]);
    let city = |x, y| locator.city(&locator.locate(place(x, y))).map(str::to_owned);
    assert_eq!(city(0.5, 0.5), None, "area 1 says jbd, but lies outside its boundary");
    assert_eq!(city(1.5, 0.5).as_deref(), Some("jbd"));
    assert_eq!(city(3.5, 0.5).as_deref(), Some("bdg"), "a city without a boundary is its areas");
}

#[test]
fn the_index_finds_what_a_look_at_every_area_finds() {
    let demo = Dataset::load("demo", &FolderRules::default(), now()).unwrap();
    let locator = Locator::new(Arc::clone(demo.places.areas()), demo.places.regions().to_vec(), Vec::new());
    let vertices: Vec<Coord<f64>> =
        demo.places.areas().iter().flat_map(|area| area.outline.0[0].exterior().coords().copied()).collect();
    proptest!(|(lng in 106.66..107.0f64, lat in -6.40..-6.06f64, vertex in any::<prop::sample::Index>())| {
        let vertex = vertex.get(&vertices);
        for position in [Position::new(lng, lat), Position::new(vertex.x, vertex.y)] {
            let position = position.unwrap();
            prop_assert_eq!(locator.locate(position), naive(demo.places.areas(), demo.places.regions(), position));
        }
    });
}
