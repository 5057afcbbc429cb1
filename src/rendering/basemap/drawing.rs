use indexmap::IndexMap;
use serde::Serialize;
use serde_json::{Value, json};

use super::builder::{BasemapGeometry, ZoomLevels, min_zoom, units_per_pixel};
use super::lines::{Line, Point, clip_line, clip_ring};
use crate::http::error::Problem;
use crate::model::{BasemapKind, BasemapShapeType, BoundingBox};
use crate::rendering::envelope;

/// The maximum number of positions in a response. Each takes three to four compressed bytes. A line counts as `LINE_OVERHEAD`
/// more.
const MAX_POSITIONS: usize = 20_000;
const LINE_OVERHEAD: usize = 5;
const MAX_PLACES: usize = 150;
const NAMES_MIN_ZOOM: u8 = 14;
/// Below this zoom, either all streets are drawn or none, because a map with only some of its streets looks broken.
const PARTIAL_STREETS_MIN_ZOOM: u8 = 16;
/// The width in pixels of a margin around the box. Lines are drawn there too, so that none ends at the edge of a screen.
const MARGIN: f64 = 16.0;
/// The resolution of the grid to which a response rounds positions.
const STEPS_PER_PIXEL: f64 = 2.0;

/// Identifies lines or areas that become one geometry: by kind, and by name if names are shown.
type Group<'a> = (BasemapKind, &'a str);

#[derive(Serialize)]
struct Topology<'a> {
    r#type: &'static str,
    transform: Transform,
    arcs: Vec<Line>,
    objects: Objects<'a>,
}

#[derive(Serialize)]
struct Transform {
    scale: [f64; 2],
    translate: [f64; 2],
}

#[derive(Serialize)]
struct Objects<'a> {
    basemap: Collection<'a>,
}

#[derive(Serialize)]
struct Collection<'a> {
    r#type: &'static str,
    geometries: Vec<Shape<'a>>,
}

#[derive(Serialize)]
struct Shape<'a> {
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    arcs: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    coordinates: Option<Point>,
    properties: Properties<'a>,
}

#[derive(Serialize)]
struct Properties<'a> {
    kind: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    name: &'a str,
}

/// Converts coordinates to numbers of steps from the origin, as TopoJSON quantises them.
struct Grid {
    origin: Point,
    step: f64,
}

impl Grid {
    fn at(&self, place: Point) -> Point {
        [0, 1]
            .map(|axis| ((f64::from(place[axis]) - f64::from(self.origin[axis])) / self.step).round() as i32)
    }

    /// Returns a line with delta-encoded positions, as in `TopoJSON`.
    fn arc(&self, line: &[Point]) -> Line {
        let mut previous = [0, 0];
        let mut arc = Line::with_capacity(line.len());
        for point in line.iter().map(|point| self.at(*point)) {
            if !arc.is_empty() && point == previous {
                continue;
            }
            arc.push([point[0] - previous[0], point[1] - previous[1]]);
            previous = point;
        }
        arc
    }
}

/// Draws the map within a box, or the whole map, as a `TopoJSON` topology in the JSON envelope.
pub(super) fn draw(sets: &[&ZoomLevels], within: Option<BoundingBox>, zoom: u8) -> Result<Vec<u8>, Problem> {
    let pixel = units_per_pixel(zoom.min(16));
    let everywhere = [-1_800_000_000, -900_000_000, 1_800_000_000, 900_000_000];
    let boxes: Vec<[i32; 4]> =
        within.map_or(vec![everywhere], |bbox| bbox.halves().map(|half| half.units()).collect());
    let margin = (MARGIN * pixel).min(1e9) as i32;
    let padded: Vec<[i32; 4]> = boxes
        .iter()
        .map(|[west, south, east, north]| {
            [
                west.saturating_sub(margin),
                south.saturating_sub(margin),
                east.saturating_add(margin),
                north.saturating_add(margin),
            ]
        })
        .collect();
    let [west, south, ..] = boxes.first().copied().unwrap_or(everywhere);
    let grid = Grid { origin: [west, south], step: pixel / STEPS_PER_PIXEL };
    let mut arcs = Vec::new();
    let mut groups: IndexMap<Group<'_>, Vec<Vec<usize>>> = IndexMap::new();
    let mut points = Vec::new();
    let (mut cost, mut lacks_streets) = (0, false);
    for levels in sets {
        for part in levels.at(zoom).into_iter().flat_map(|level| level.within(&padded)) {
            if min_zoom(part.kind) > zoom {
                continue;
            }
            let name = levels.name(part.name);
            if part.kind.shape_type() == BasemapShapeType::Points {
                points.extend(point(part, name, &grid));
                continue;
            }
            // Without its land, a part of the map would be drawn as sea.
            let budget = if part.kind == BasemapKind::Land { 2 * MAX_POSITIONS } else { MAX_POSITIONS };
            if cost > budget {
                lacks_streets |= part.kind == BasemapKind::Street;
                continue;
            }
            let has_name = zoom >= NAMES_MIN_ZOOM && !part.is_area();
            let drawn = padded.iter().map(|sides| lines(part, *sides, &grid));
            for drawn in drawn.filter(|drawn| !drawn.is_empty()) {
                cost += drawn.iter().map(|line| line.len() + LINE_OVERHEAD).sum::<usize>();
                let group = groups.entry((part.kind, if has_name { name } else { "" })).or_default();
                let numbers: Vec<usize> = (arcs.len()..arcs.len() + drawn.len()).collect();
                arcs.extend(drawn);
                group.push(numbers);
            }
        }
    }
    points.truncate(MAX_PLACES);
    if lacks_streets && zoom < PARTIAL_STREETS_MIN_ZOOM {
        groups.retain(|(kind, _), _| *kind != BasemapKind::Street);
        let used = groups.values().flatten().flatten().max().map_or(0, |last| last + 1);
        // Streets are the last arcs, so this removes only streets.
        arcs.truncate(used);
    }
    let mut geometries: Vec<Shape<'_>> =
        groups.into_iter().map(|(group, lines)| shape(group, &lines)).collect();
    geometries.extend(points);
    let degrees = 1e-7;
    let topology = Topology {
        r#type: "Topology",
        transform: Transform {
            scale: [grid.step * degrees; 2],
            translate: grid.origin.map(|units| f64::from(units) / 1e7),
        },
        arcs,
        objects: Objects { basemap: Collection { r#type: "GeometryCollection", geometries } },
    };
    envelope::result(&topology)
}

/// Clips the lines of a part to the bounds and quantises them. Leaves out lines that are too short after that.
fn lines(part: &BasemapGeometry, bounds: [i32; 4], grid: &Grid) -> Vec<Line> {
    let (cut, min_points) = if part.is_area() {
        (part.lines.iter().map(|ring| clip_ring(ring, bounds)).collect::<Vec<_>>(), 4)
    } else {
        (part.lines.iter().flat_map(|line| clip_line(line, bounds)).collect(), 2)
    };
    cut.iter().map(|line| grid.arc(line)).filter(|arc| arc.len() >= min_points).collect()
}

fn point<'a>(part: &BasemapGeometry, name: &'a str, grid: &Grid) -> Option<Shape<'a>> {
    let at = grid.at(*part.lines.first()?.first()?);
    let properties = Properties { kind: part.kind.name(), name };
    Some(Shape { r#type: "Point", arcs: None, coordinates: Some(at), properties })
}

/// Returns a multi-polygon or a multi-line string from the numbers of its arcs.
fn shape<'a>((kind, name): Group<'a>, lines: &[Vec<usize>]) -> Shape<'a> {
    let (r#type, arcs) = match kind.shape_type() {
        BasemapShapeType::Areas => {
            let polygon = |rings: &Vec<usize>| rings.iter().map(|ring| [*ring]).collect::<Vec<_>>();
            ("MultiPolygon", json!(lines.iter().map(polygon).collect::<Vec<_>>()))
        }
        _ => ("MultiLineString", json!(lines.iter().flatten().map(|line| [*line]).collect::<Vec<_>>())),
    };
    Shape { r#type, arcs: Some(arcs), coordinates: None, properties: Properties { kind: kind.name(), name } }
}

#[cfg(test)]
mod tests {
    use geo::{Coord, LineString};

    use super::*;
    use crate::http::content::{AcceptedEncodings, Content};
    use crate::model::{BasemapFeature, BasemapShape};
    use crate::rendering::basemap::builder::BasemapBuilder;

    fn streets(roads: i32, positions: i32) -> Vec<BasemapFeature> {
        let road = |number: i32| {
            let (x, y) = (f64::from(number % 100) * 0.001, f64::from(number / 100) * 0.001);
            let bend = |part: i32| (f64::from(number) + f64::from(part * part) * 1.7).sin() * 0.0004;
            let at = |part: i32| Coord { x: x + f64::from(part) * 0.00015, y: y + bend(part) };
            BasemapFeature {
                kind: BasemapKind::Street,
                name: format!("Jalan {number}"),
                shape: BasemapShape::Lines(vec![LineString((0..positions).map(at).collect())]),
            }
        };
        (0..roads).map(road).collect()
    }

    fn levels(parts: Vec<BasemapFeature>) -> ZoomLevels {
        parts.into_iter().collect::<BasemapBuilder>().into_levels()
    }

    #[test]
    fn a_response_has_at_most_60_kb_however_many_roads_there_are() {
        let (short, long) = (levels(streets(10_000, 6)), levels(streets(500, 200)));
        let compressed_length = |levels: &ZoomLevels, zoom: u8| {
            let content = Content::new(draw(&[levels], None, zoom).unwrap());
            content.compress_all();
            content.representation(AcceptedEncodings::new(["gzip"])).bytes.len()
        };
        for zoom in [16, 22] {
            for levels in [&short, &long] {
                let compressed_length = compressed_length(levels, zoom);
                assert!(
                    (20_000..=60_000).contains(&compressed_length),
                    "zoom {zoom}: {compressed_length} bytes"
                );
            }
        }
        for zoom in [14, 15] {
            assert!(compressed_length(&short, zoom) < 500, "all streets or none: zoom {zoom}");
        }
    }

    #[test]
    fn the_most_important_roads_come_first_when_there_is_no_room_for_all() {
        let mut parts = streets(500, 200);
        let shape = parts[0].shape.clone();
        parts.push(BasemapFeature { kind: BasemapKind::Motorway, name: String::new(), shape });
        let body: Value = serde_json::from_slice(&draw(&[&levels(parts)], None, 16).unwrap()).unwrap();
        let drawn = body["result"]["objects"]["basemap"]["geometries"].as_array().unwrap();
        assert_eq!(drawn[0]["properties"]["kind"], "motorway");
        assert!((2..400).contains(&drawn.len()), "{}", drawn.len());
    }
}
