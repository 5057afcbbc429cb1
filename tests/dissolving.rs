//! Areas that are dissolved to larger outlines, and simplified: nothing is lost, and neighbours meet.

use geo::{
    Area as _, BooleanOps, Contains, Coord, InteriorPoint, LineString, MultiPolygon, Point, Polygon,
    Validation, coord, unary_union,
};
use proptest::prelude::*;
use siaga::model::topology::{Fineness, Topology, simplified};
use siaga::model::{AreaLevel, AreaSelector, AreaSet, Geometry, MapLayer, Places};

const SIDE: usize = 5;
const GROUPS: usize = 4;
const TOLERANCE: f64 = 0.1;

/// A map of cells with crooked sides that neighbours share, and the group of each cell.
#[derive(Clone, Debug)]
struct Mosaic {
    cells: Vec<Polygon<f64>>,
    groups: Vec<usize>,
}

fn mosaics() -> impl Strategy<Value = Mosaic> {
    let offsets = prop::collection::vec(-0.2..0.2, 2 * (SIDE + 1) * (SIDE + 1) * 4);
    (offsets, prop::collection::vec(0..GROUPS, SIDE * SIDE)).prop_map(|(offsets, groups)| {
        // Between two corners there are three more positions, moved to one side or the other.
        let side = |x: usize, y: usize, upwards: bool| -> Vec<Coord<f64>> {
            let first = 4 * (2 * (y * (SIDE + 1) + x) + usize::from(upwards));
            let at = |step: usize| {
                let along = step as f64 / 4.0;
                let aside = if step == 0 { 0.0 } else { offsets[first + step] };
                let (x, y) = (x as f64, y as f64);
                if upwards {
                    coord! { x: x + aside, y: y + along }
                } else {
                    coord! { x: x + along, y: y + aside }
                }
            };
            (0..4)
                .map(at)
                .chain([if upwards {
                    coord! { x: x as f64, y: y as f64 + 1.0 }
                } else {
                    coord! { x: x as f64 + 1.0, y: y as f64 }
                }])
                .collect()
        };
        let cells = (0..SIDE * SIDE).map(|index| {
            let (x, y) = (index % SIDE, index / SIDE);
            let back = |mut side: Vec<Coord<f64>>| {
                side.reverse();
                side
            };
            let ring = [
                side(x, y, false),
                side(x + 1, y, true),
                back(side(x, y + 1, false)),
                back(side(x, y, true)),
            ];
            Polygon::new(LineString(ring.concat()), Vec::new())
        });
        Mosaic { cells: cells.collect(), groups }
    })
}

impl Mosaic {
    fn dissolved(&self) -> Vec<MultiPolygon<f64>> {
        let cells: Vec<_> = self.cells.iter().map(Geometry::Polygon).collect();
        Topology::new(&cells, Fineness::Exact).dissolved(&self.groups, GROUPS)
    }
}

fn area(surfaces: &[MultiPolygon<f64>]) -> f64 {
    surfaces.iter().map(geo::Area::unsigned_area).sum()
}

fn is_near(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-6
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_union_of_a_group_is_that_of_its_areas(mosaic in mosaics()) {
        let dissolved = mosaic.dissolved();
        for (group, surface) in dissolved.iter().enumerate() {
            prop_assert!(surface.is_valid(), "{group}: {:?}", surface.check_validation());
            prop_assert!(surface.iter().all(|polygon| polygon.signed_area() > 0.0));
            let own = || mosaic.cells.iter().zip(&mosaic.groups).filter(|(_, of)| **of == group);
            let sum: f64 = own().map(|(cell, _)| cell.unsigned_area()).sum();
            prop_assert!(is_near(surface.unsigned_area(), sum));
            prop_assert!(own().all(|(cell, _)| surface.contains(&cell.interior_point().unwrap())));
            let union = unary_union(own().map(|(cell, _)| cell));
            prop_assert_eq!(surface.0.len(), union.0.len(), "no border is left inside");
        }
    }

    #[test]
    fn simplified_neighbours_neither_gap_nor_overlap(mosaic in mosaics()) {
        let dissolved = mosaic.dissolved();
        let surfaces: Vec<_> = dissolved.iter().map(Geometry::surface).collect();
        let simple = simplified(&surfaces, TOLERANCE, |position| position);
        for surface in &simple {
            prop_assert!(surface.iter().all(|polygon| polygon.is_valid() && polygon.signed_area() > 0.0));
        }
        let positions = |all: &[MultiPolygon<f64>]| {
            all.iter().flatten().map(|polygon| polygon.exterior().0.len()).sum::<usize>()
        };
        prop_assert!(positions(&simple) <= positions(&dissolved));
        let union = simple.iter().fold(MultiPolygon::new(Vec::new()), |sum, surface| sum.union(surface));
        prop_assert!(is_near(area(&simple), union.unsigned_area()), "neighbours overlap");
        prop_assert!(union.iter().all(|polygon| {
            polygon.interiors().iter().all(|hole| is_near(Polygon::new(hole.clone(), Vec::new()).unsigned_area(), 0.0))
        }), "neighbours gap");
    }
}

fn square(x: f64, y: f64, side: f64) -> LineString<f64> {
    LineString::from(vec![(x, y), (x + side, y), (x + side, y + side), (x, y + side), (x, y)])
}

#[test]
fn a_hole_that_is_too_small_to_simplify_does_not_keep_the_border_around_it_whole() {
    let circle = (0..=400).map(|step| f64::from(step % 400).to_radians() * 0.9);
    let circle = circle.map(|angle| coord! { x: 10.0 * angle.cos(), y: 10.0 * angle.sin() });
    let hole = square(0.0, 0.0, TOLERANCE / 10.0);
    let surface = MultiPolygon::from(Polygon::new(circle.collect(), vec![hole.clone()]));
    let simple = simplified(&[Geometry::surface(&surface)], TOLERANCE, |position| position).remove(0);
    assert!(simple.is_valid());
    assert!(simple.0[0].exterior().0.len() < 40);
    let inside = |ring: &LineString<f64>| Polygon::new(ring.clone(), vec![]).unsigned_area();
    assert!(is_near(inside(&simple.0[0].interiors()[0]), inside(&hole)));
}

fn alone(polygons: &[Polygon<f64>]) -> MultiPolygon<f64> {
    let geometries: Vec<_> = polygons.iter().map(Geometry::Polygon).collect();
    let groups = vec![0; polygons.len()];
    Topology::new(&geometries, Fineness::Exact).dissolved(&groups, 1).remove(0)
}

#[test]
fn areas_that_touch_at_a_corner_stay_two_polygons() {
    let diagonal =
        alone(&[Polygon::new(square(0.0, 0.0, 1.0), vec![]), Polygon::new(square(1.0, 1.0, 1.0), vec![])]);
    assert_eq!(diagonal.0.len(), 2);
    assert!(diagonal.is_valid());
}

#[test]
fn a_ring_of_areas_has_a_hole_which_an_area_inside_fills() {
    let ring: Vec<_> = (0..9)
        .filter(|index| *index != 4)
        .map(|index| Polygon::new(square(f64::from(index % 3), f64::from(index / 3), 1.0), vec![]))
        .collect();
    let with_hole = alone(&ring);
    assert_eq!((with_hole.0.len(), with_hole.0[0].interiors().len()), (1, 1));
    assert!(!with_hole.contains(&Point::new(1.5, 1.5)));
    let filled = alone(&[ring, vec![Polygon::new(square(1.0, 1.0, 1.0), vec![])]].concat());
    assert_eq!((filled.0.len(), filled.0[0].interiors().len()), (1, 0));
}

#[test]
fn an_area_that_is_given_twice_counts_once() {
    let twice =
        alone(&[Polygon::new(square(0.0, 0.0, 1.0), vec![]), Polygon::new(square(0.0, 0.0, 1.0), vec![])]);
    assert!(is_near(twice.unsigned_area(), 1.0));
}

#[test]
fn no_areas_have_no_outlines() {
    let places = Places::new(AreaSet::default().into(), Vec::new(), Vec::new());
    for level in AreaLevel::ALL {
        assert!(places.area_layer(&AreaSelector::default(), level).is_empty());
    }
}
