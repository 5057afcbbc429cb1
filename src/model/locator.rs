use std::sync::Arc;

use geo::{BoundingRect, Coord, Intersects, Polygon};
use rstar::primitives::{GeomWithData, Rectangle};
use rstar::{AABB, RTree};

use super::{AreaSet, Position, Region, Tags};

/// Finds the local area and the province a place lies in.
///
/// A place on a border lies in both areas that share it; of several areas the one with the lowest `area_id`
/// counts, of several provinces the one with the first code. The province of a place in a local area is that
/// area's. Costs O(log n) and the vertices of the few polygons whose bounding box holds the place.
#[derive(Debug)]
pub struct Locator {
    areas: Arc<AreaSet>,
    regions: Vec<Arc<Region>>,
    area_boxes: RTree<Bounds>,
    region_boxes: RTree<Bounds>,
}

/// The bounding box of a polygon: of which outline, and which of its polygons.
type Bounds = GeomWithData<Rectangle<[f64; 2]>, (usize, usize)>;

impl Locator {
    /// Indexes areas and provinces; `regions` must be in the order of their codes.
    #[must_use]
    pub fn new(areas: Arc<AreaSet>, regions: Vec<Arc<Region>>) -> Self {
        let area_boxes = boxes(areas.iter().map(|area| area.outline.0.as_slice()));
        let region_boxes = boxes(regions.iter().map(|region| region.outline.0.as_slice()));
        Self { areas, regions, area_boxes, region_boxes }
    }

    /// Where a place lies.
    #[must_use]
    pub fn locate(&self, place: Position) -> Tags {
        let place = place.coord();
        let area = lowest(&self.area_boxes, place, |area| &self.areas[area].outline.0)
            .map(|position| &self.areas[position]);
        let of_area = area.map(|area| area.region_code.as_str()).filter(|code| !code.is_empty());
        let region = of_area.or_else(|| {
            let position = lowest(&self.region_boxes, place, |region| &self.regions[region].outline.0)?;
            Some(self.regions[position].code.as_str())
        });
        Tags { instance_region_code: region.map(Box::from), local_area_id: area.map(|area| area.id) }
    }
}

fn boxes<'a>(outlines: impl Iterator<Item = &'a [Polygon<f64>]>) -> RTree<Bounds> {
    let boxes = outlines.enumerate().flat_map(|(outline, polygons)| {
        polygons.iter().enumerate().filter_map(move |(part, polygon)| {
            let bounds = polygon.bounding_rect()?;
            let corner = |corner: Coord<f64>| [corner.x, corner.y];
            let rectangle = Rectangle::from_corners(corner(bounds.min()), corner(bounds.max()));
            Some(Bounds::new(rectangle, (outline, part)))
        })
    });
    RTree::bulk_load(boxes.collect())
}

/// The first of the outlines that hold a place, their borders included.
fn lowest<'a>(
    boxes: &RTree<Bounds>,
    place: Coord<f64>,
    polygons: impl Fn(usize) -> &'a Vec<Polygon<f64>>,
) -> Option<usize> {
    boxes
        .locate_in_envelope_intersecting(&AABB::from_point([place.x, place.y]))
        .filter(|of| {
            let (outline, part) = of.data;
            polygons(outline)[part].intersects(&place)
        })
        .map(|of| of.data.0)
        .min()
}
