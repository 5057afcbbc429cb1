//! Areas merged into larger areas and simplified: nothing is lost, neighbours meet, and geometry is valid in each format.

use std::sync::Arc;

use geo::{
    AffineOps, AffineTransform, Area as _, BooleanOps, Contains, Coord, InteriorPoint, LineString,
    MultiPolygon, Polygon, Scale, Validation, coord, unary_union,
};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::Value;
use siaga::formats::geojson::GeoJson;
use siaga::formats::topojson::{Options, Quantization, TopoJson};
use siaga::model::topology::{dissolved, simplified};
use siaga::model::{Area, AreaLevel, AreaSelector, AreaSet, Geometry, Layer, MapLayer, Places};
use siaga_conformance::fixture;
use siaga_conformance::formats::encoded;

use super::topojson::{Ring, surfaces};

const SIDE: usize = 5;
const GROUPS: usize = 4;
const TOLERANCE: f64 = 0.1;

/// A map of cells with crooked sides that neighbours share, and the group of each cell.
#[derive(Clone, Debug)]
struct Mosaic {
    cells: Vec<Polygon<f64>>,
    groups: Vec<usize>,
}

/// Generates mosaics. Positions have 5 decimals, like outlines, so rounding changes nothing.
fn mosaics() -> impl Strategy<Value = Mosaic> {
    let offset = (-20_000..20_000).prop_map(|steps| f64::from(steps) / 1e5);
    let offsets = prop::collection::vec(offset, 2 * (SIDE + 1) * (SIDE + 1) * 4);
    (offsets, prop::collection::vec(0..GROUPS, SIDE * SIDE)).prop_map(|(offsets, groups)| {
        // A side has three positions between its corners, each moved to either side.
        let side = |x: usize, y: usize, upwards: bool| -> Vec<Coord<f64>> {
            let first = 4 * (2 * (y * (SIDE + 1) + x) + usize::from(upwards));
            let at = |step: usize| {
                let along = step as f64 / 4.0;
                let aside = if step.is_multiple_of(4) { 0.0 } else { offsets[first + step] };
                let (x, y) = (x as f64, y as f64);
                if upwards {
                    coord! { x: x + aside, y: y + along }
                } else {
                    coord! { x: x + along, y: y + aside }
                }
            };
            (0..=4).map(at).collect()
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
        dissolved(&cells, &self.groups, GROUPS)
    }

    /// Returns the cells as areas, each about 100 m wide, with the groups as their larger areas. Scales each cell about its
    /// middle, so that some cells overlap, and some leave gaps.
    fn places(&self, scales: &[f64]) -> Places {
        let to_map = AffineTransform::scale(1e-3, 1e-3, Coord::zero()).translated(106.8, -6.2);
        let template = fixture::areas()[0].clone();
        let cells = self.cells.iter().zip(scales).zip(&self.groups).zip(1..);
        let areas = cells.map(|(((cell, scale), group), number)| Area {
            id: fixture::id(number),
            parent_name: group.to_string(),
            outline: cell.scale(*scale).affine_transform(&to_map).into(),
            ..template.clone()
        });
        Places::new(Arc::new(AreaSet::new(areas.collect()).unwrap()), Vec::new(), Vec::new())
    }
}

/// The outlines in a GeoJSON or TopoJSON document. Each ring is closed and has at least four positions.
fn outlines(document: &Value) -> Vec<MultiPolygon<f64>> {
    let of_feature = |feature: &Value| -> Vec<Vec<Ring>> {
        let geometry = &feature["geometry"];
        match geometry["type"].as_str() {
            Some("Polygon") => vec![Deserialize::deserialize(&geometry["coordinates"]).unwrap()],
            _ => Deserialize::deserialize(&geometry["coordinates"]).unwrap(),
        }
    };
    let surfaces = match document["features"].as_array() {
        Some(features) => features.iter().map(of_feature).collect(),
        None => surfaces(document),
    };
    let ring = |ring: Ring| {
        assert!(ring.first() == ring.last() && ring.len() >= 4, "{ring:?}");
        LineString::from(ring)
    };
    let polygon = |rings: Vec<Ring>| {
        let mut rings = rings.into_iter().map(ring);
        Polygon::new(rings.next().unwrap(), rings.collect())
    };
    surfaces.into_iter().map(|polygons| polygons.into_iter().map(polygon).collect()).collect()
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
        let simple = simplified(&surfaces, TOLERANCE);
        for surface in &simple {
            prop_assert!(surface.is_valid(), "{:?}", surface.check_validation());
            prop_assert!(surface.iter().all(|polygon| polygon.signed_area() > 0.0));
        }
        let positions = |all: &[MultiPolygon<f64>]| {
            all.iter().flatten().map(|polygon| polygon.exterior().0.len()).sum::<usize>()
        };
        prop_assert!(positions(&simple) <= positions(&dissolved));
        let union = simple.iter().fold(MultiPolygon::new(Vec::new()), |sum, surface| sum.union(surface));
        let sum = simple.iter().map(MultiPolygon::unsigned_area).sum();
        prop_assert!(is_near(sum, union.unsigned_area()), "neighbours overlap");
        prop_assert!(union.iter().all(|polygon| {
            polygon.interiors().iter().all(|hole| is_near(Polygon::new(hole.clone(), Vec::new()).unsigned_area(), 0.0))
        }), "neighbours gap");
    }

    #[test]
    fn outlines_are_valid_in_each_format_even_if_areas_overlap_or_leave_gaps(
        mosaic in mosaics(),
        scales in prop::collection::vec(prop_oneof![Just(1.0), 0.1..1.8], SIDE * SIDE),
    ) {
        let places = mosaic.places(&scales);
        for level in [AreaLevel::Parent, AreaLevel::City] {
            let layer = Layer::Areas(places.area_layer(&AreaSelector::default(), level));
            let read = |text: Vec<u8>| outlines(&serde_json::from_slice(&text).unwrap());
            let exact = read(encoded(&GeoJson::default(), &layer));
            prop_assert_eq!(exact.len(), layer.len());
            for quantization in [Quantization::default(), 2.try_into().unwrap(), Quantization::NONE] {
                let format = TopoJson::new(Options { quantization });
                for (found, exact) in read(encoded(&format, &layer)).iter().zip(&exact) {
                    prop_assert!(exact.is_valid(), "{:?}", exact.check_validation());
                    prop_assert!(found.is_valid(), "{quantization:?}: {:?}", found.check_validation());
                    prop_assert!((found.unsigned_area() - exact.unsigned_area()).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn where_areas_overlap_the_union_counts_them_once(
        mosaic in mosaics(),
        scales in prop::collection::vec(0.1..1.8, SIDE * SIDE),
    ) {
        let cells: Vec<_> = mosaic.cells.iter().zip(scales).map(|(cell, scale)| cell.scale(scale)).collect();
        let found = alone(&cells);
        prop_assert!(found.is_valid(), "{:?}", found.check_validation());
        // Positions are rounded to 5 decimals, and all borders together are about 200 degrees long.
        let difference = found.unsigned_area() - unary_union(&cells).unsigned_area();
        prop_assert!(difference.abs() < 2e-3, "{difference}");
    }
}

#[test]
fn a_part_in_a_hole_is_a_part_of_its_own_and_one_inside_another_area_disappears() {
    let cell = |x: i32, y: i32| Polygon::new(square(f64::from(x), f64::from(y), 1.0), vec![]);
    let frame = |from: i32, to: i32| {
        let is_border = move |at: i32| at == from || at == to;
        (from..=to)
            .flat_map(move |x| (from..=to).map(move |y| (x, y)))
            .filter(move |(x, y)| is_border(*x) || is_border(*y))
    };
    // A ring-shaped island with a lake, which lies in the lake of a larger island.
    let mut cells: Vec<_> = frame(0, 6).chain(frame(2, 4)).map(|(x, y)| cell(x, y)).collect();
    cells.push(Polygon::new(square(0.25, 0.25, 0.5), vec![]));
    let outline = alone(&cells);
    let rings: Vec<_> = outline.iter().map(|part| (part.unsigned_area(), part.interiors().len())).collect();
    assert_eq!(rings.len(), 2, "{outline:?}");
    assert!(rings.contains(&(24.0, 1)) && rings.contains(&(8.0, 1)), "{rings:?}");
    assert!(outline.is_valid());
}

#[test]
fn an_island_in_a_bay_stays_outside_when_the_border_across_the_bay_is_straightened() {
    let land = LineString::from(vec![
        (0.0, 0.0),
        (4.0, 0.0),
        (4.0, 2.0),
        (2.1, 2.0),
        (2.0, 1.96),
        (1.9, 2.0),
        (0.0, 2.0),
        (0.0, 0.0),
    ]);
    let island = square(1.99, 1.98, 0.02);
    let surface = MultiPolygon::new(vec![Polygon::new(land, vec![]), Polygon::new(island, vec![])]);
    assert!(surface.is_valid());
    let simple = simplified(&[Geometry::surface(&surface)], TOLERANCE).remove(0);
    assert_eq!(simple.0.len(), 2);
    assert!(simple.is_valid(), "{:?}", simple.check_validation());
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
    let simple = simplified(&[Geometry::surface(&surface)], TOLERANCE).remove(0);
    assert!(simple.is_valid());
    assert!(simple.0[0].exterior().0.len() < 40);
    let inside = |ring: &LineString<f64>| Polygon::new(ring.clone(), vec![]).unsigned_area();
    assert!(is_near(inside(&simple.0[0].interiors()[0]), inside(&hole)));
}

fn alone(polygons: &[Polygon<f64>]) -> MultiPolygon<f64> {
    let geometries: Vec<_> = polygons.iter().map(Geometry::Polygon).collect();
    let groups = vec![0; polygons.len()];
    dissolved(&geometries, &groups, 1).remove(0)
}

#[test]
fn an_area_that_is_given_twice_counts_once() {
    let twice = [(); 2].map(|()| Polygon::new(square(0.0, 0.0, 1.0), vec![]));
    assert!(is_near(alone(&twice).unsigned_area(), 1.0));
}

#[test]
fn no_areas_have_no_outlines() {
    let places = Places::new(AreaSet::default().into(), Vec::new(), Vec::new());
    assert!(places.area_layer(&AreaSelector::default(), AreaLevel::City).is_empty());
}
