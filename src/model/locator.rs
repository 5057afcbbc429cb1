use std::sync::Arc;

use geo::{BoundingRect, Coord, Intersects, Polygon};
use rstar::primitives::{GeomWithData, Rectangle};
use rstar::{AABB, RTree};

use super::{Area, AreaId, AreaSet, Position, Region, Tags};

/// Finds the local area, province and city of a place.
///
/// If several areas contain a place, such as on a border, the lowest `area_id` wins; for provinces and cities, the first code.
/// A place in a local area has the province of the area. Costs O(log n), plus the vertices of the polygons whose bounding box
/// contains the place.
#[derive(Debug)]
pub struct Locator {
    areas: Arc<AreaSet>,
    regions: Vec<Arc<Region>>,
    cities: Vec<Arc<Region>>,
    area_boxes: RTree<Bounds>,
    region_boxes: RTree<Bounds>,
    city_boxes: RTree<Bounds>,
}

/// The bounding box of a polygon, with two indices: of its area or region, and of the polygon within the area or region.
type Bounds = GeomWithData<Rectangle<[f64; 2]>, (usize, usize)>;

impl Locator {
    /// Indexes areas, provinces, and cities with their own boundary. `regions` and `cities` must be ordered by code.
    #[must_use]
    pub fn new(areas: Arc<AreaSet>, regions: Vec<Arc<Region>>, cities: Vec<Arc<Region>>) -> Self {
        let area_boxes = boxes(areas.iter().map(|area| area.outline.0.as_slice()));
        let region_boxes_of =
            |regions: &[Arc<Region>]| boxes(regions.iter().map(|region| region.outline.0.as_slice()));
        let (region_boxes, city_boxes) = (region_boxes_of(&regions), region_boxes_of(&cities));
        Self { areas, regions, cities, area_boxes, region_boxes, city_boxes }
    }

    /// Returns the tags of a place.
    #[must_use]
    pub fn locate(&self, place: Position) -> Tags {
        let city = self.city_at(place).map(Box::from);
        let place = place.coord();
        let area = first_containing(&self.area_boxes, place, |area| &self.areas[area].outline.0)
            .map(|position| &self.areas[position]);
        let of_area = area.map(|area| area.region_code.as_str()).filter(|code| !code.is_empty());
        let region = of_area.or_else(|| code_of_first(&self.region_boxes, &self.regions, place));
        Tags {
            instance_region_code: region.map(Box::from),
            local_area_id: area.map(|area| area.id),
            district_id: area.and_then(Area::district_id),
            city,
        }
    }

    #[must_use]
    pub(crate) fn district(&self, area: Option<AreaId>) -> Option<Box<str>> {
        self.areas.find(area?)?.district_id()
    }

    #[must_use]
    pub(crate) fn city_at(&self, place: Position) -> Option<&str> {
        code_of_first(&self.city_boxes, &self.cities, place.coord())
    }

    /// Returns the city code of a place with these tags: the city whose own boundary contains the place, otherwise the city of
    /// its local area. `None` if the city of the local area has its own boundary, which does not contain the place.
    #[must_use]
    pub fn city<'t>(&'t self, tags: &'t Tags) -> Option<&'t str> {
        tags.city.as_deref().or_else(|| {
            let code = self.areas.find(tags.local_area_id?)?.city_code.as_str();
            let has_boundary = self.cities.binary_search_by(|city| city.code.as_str().cmp(code)).is_ok();
            (!has_boundary).then_some(code)
        })
    }
}

fn code_of_first<'r>(
    boxes: &RTree<Bounds>,
    regions: &'r [Arc<Region>],
    place: Coord<f64>,
) -> Option<&'r str> {
    let position = first_containing(boxes, place, |region| &regions[region].outline.0)?;
    Some(regions[position].code.as_str())
}

/// Indexes the bounding boxes of all polygons, each with the indices of its outline and of the polygon within the outline.
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

/// Returns the lowest index of an outline that contains the place or has the place on its border.
fn first_containing<'a>(
    boxes: &RTree<Bounds>,
    place: Coord<f64>,
    polygons: impl Fn(usize) -> &'a Vec<Polygon<f64>>,
) -> Option<usize> {
    boxes
        .locate_in_envelope_intersecting(&AABB::from_point([place.x, place.y]))
        .filter(|bounds| {
            let (outline, part) = bounds.data;
            polygons(outline)[part].intersects(&place)
        })
        .map(|bounds| bounds.data.0)
        .min()
}
