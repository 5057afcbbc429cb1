use std::collections::{BTreeMap, HashMap};
use std::fmt;

use geo::{Coord, LineString};
use rstar::primitives::{GeomWithData, Rectangle};
use rstar::{AABB, RTree};

use super::lines::{Line, Point, bounds, join, length, simplify};
use crate::model::{BasemapFeature, BasemapKind, BasemapShape, BasemapShapeType, Position};

/// Units per degree.
pub(super) const UNITS: f64 = 1e7;

const ZOOMS: [u8; 5] = [8, 10, 12, 14, 16];

/// The maximum number of place names that a search uses.
const MAX_NAMES: usize = 2_000;

/// Returns the units per pixel. At zoom 0 the world is 256 pixels wide.
pub(super) fn units_per_pixel(zoom: u8) -> f64 {
    360.0 * UNITS / 256.0 / 2_f64.powi(zoom.into())
}

/// Returns the lowest zoom at which a kind is shown.
pub(super) fn min_zoom(kind: BasemapKind) -> u8 {
    match kind {
        BasemapKind::Land | BasemapKind::Motorway => 7,
        BasemapKind::Water | BasemapKind::River => 8,
        BasemapKind::Primary => 10,
        BasemapKind::Rail | BasemapKind::Park | BasemapKind::Place => 11,
        BasemapKind::Secondary => 12,
        BasemapKind::Street => 14,
    }
}

#[derive(Default)]
pub(super) struct BasemapBuilder {
    names: HashMap<String, u32>,
    lines: BTreeMap<(BasemapKind, u32), Vec<Line>>,
    areas: Vec<BasemapGeometry>,
    points: Vec<BasemapGeometry>,
    hash: blake3::Hasher,
}

/// A line, the rings of an area, or a point.
#[derive(Clone)]
pub(super) struct BasemapGeometry {
    pub(super) kind: BasemapKind,
    pub(super) name: u32,
    pub(super) lines: Vec<Line>,
}

pub(super) struct ZoomLevels {
    names: Vec<String>,
    zooms: Vec<ZoomLevel>,
    version: String,
}

pub(super) struct ZoomLevel {
    /// Most important first: sorted by kind, then by length. Points are last.
    pub(super) parts: Vec<BasemapGeometry>,
    index: RTree<GeomWithData<Rectangle<[i64; 2]>, usize>>,
}

impl fmt::Debug for ZoomLevels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ZoomLevels").field("version", &self.version).finish_non_exhaustive()
    }
}

/// Converts degrees to units. 360 degrees are 3.6 thousand million units, which fit 32 bits.
fn to_units(at: Coord<f64>) -> Point {
    [at.x, at.y].map(|degrees| (degrees * UNITS).round() as i32)
}

fn to_line(string: &LineString<f64>) -> Line {
    let mut line: Line = string.0.iter().copied().map(to_units).collect();
    line.dedup();
    line
}

impl BasemapBuilder {
    /// Adds a feature. `into_levels` joins lines of the same kind and name; it joins no other shapes.
    pub(super) fn add(&mut self, BasemapFeature { kind, name, shape }: BasemapFeature) {
        self.hash.update(&[kind as u8]).update(name.as_bytes()).update(&[0]);
        let next = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        let name = *self.names.entry(name).or_insert(next);
        let lines = match shape {
            BasemapShape::Lines(lines) => {
                let lines: Vec<Line> = lines.iter().map(to_line).filter(|line| line.len() > 1).collect();
                self.hash_lines(&lines);
                return self.lines.entry((kind, name)).or_default().extend(lines);
            }
            BasemapShape::Areas(areas) => {
                let rings =
                    areas.iter().flat_map(|area| [area.exterior()].into_iter().chain(area.interiors()));
                rings.map(to_line).collect()
            }
            BasemapShape::Point(at) => vec![vec![to_units(at.coord())]],
        };
        self.hash_lines(&lines);
        let features = if kind == BasemapKind::Place { &mut self.points } else { &mut self.areas };
        features.push(BasemapGeometry { kind, name, lines });
    }

    fn hash_lines(&mut self, lines: &[Line]) {
        for [x, y] in lines.iter().flatten() {
            self.hash.update(&x.to_le_bytes()).update(&y.to_le_bytes());
        }
    }

    /// Joins lines, sorts all parts, and simplifies them for each zoom. The version is empty if there are no parts.
    pub(super) fn into_levels(self) -> ZoomLevels {
        let Self { names, lines, areas, points, hash } = self;
        let lines = lines.into_iter().flat_map(|((kind, name), lines)| {
            join(lines).into_iter().map(move |line| BasemapGeometry { kind, name, lines: vec![line] })
        });
        let mut parts: Vec<(f64, BasemapGeometry)> = areas
            .into_iter()
            .chain(lines)
            .map(|part| (part.lines.iter().map(|line| length(line)).sum(), part))
            .collect();
        parts.sort_by(|(one, a), (other, b)| a.kind.cmp(&b.kind).then(other.total_cmp(one)));
        // Points stay in the order of the file.
        let mut parts: Vec<BasemapGeometry> = parts.into_iter().map(|(_, part)| part).chain(points).collect();
        let is_empty = parts.is_empty();
        let mut levels: Vec<ZoomLevel> = Vec::with_capacity(ZOOMS.len());
        // Starts at the highest zoom, because each level is made by simplifying the level of the next higher zoom.
        for zoom in ZOOMS.into_iter().rev() {
            parts = parts.iter().filter_map(|part| part.simplify(zoom)).collect();
            levels.push(ZoomLevel::new(parts.clone()));
        }
        levels.reverse();
        let mut by_number: Vec<(u32, String)> =
            names.into_iter().map(|(name, number)| (number, name)).collect();
        by_number.sort_unstable();
        let names = by_number.into_iter().map(|(_, name)| name).collect();
        let version = if is_empty { String::new() } else { hex::encode(&hash.finalize().as_bytes()[..8]) };
        ZoomLevels { names, zooms: levels, version }
    }
}

impl FromIterator<BasemapFeature> for BasemapBuilder {
    fn from_iter<I: IntoIterator<Item = BasemapFeature>>(parts: I) -> Self {
        let mut builder = Self::default();
        parts.into_iter().for_each(|part| builder.add(part));
        builder
    }
}

impl BasemapGeometry {
    /// Returns the part simplified for a zoom; `None` if the part is too small or not shown at this zoom.
    fn simplify(&self, zoom: u8) -> Option<Self> {
        let Self { kind, name, .. } = *self;
        if min_zoom(kind) > zoom {
            return None;
        }
        if kind == BasemapKind::Place {
            return Some(self.clone());
        }
        let pixel = units_per_pixel(zoom);
        let [west, south, east, north] = bounds(&self.lines).map(f64::from);
        let is_nearest = Some(&zoom) == ZOOMS.last();
        if !is_nearest && (east - west).hypot(north - south) < 3.0 * pixel {
            return None;
        }
        let min_points = if self.is_area() { 4 } else { 2 };
        let lines = self.lines.iter().map(|line| simplify(line, 0.6 * pixel));
        let lines: Vec<Line> = lines.filter(|line| line.len() >= min_points).collect();
        (!lines.is_empty()).then_some(Self { kind, name, lines })
    }

    pub(super) fn is_area(&self) -> bool {
        self.kind.shape_type() == BasemapShapeType::Areas
    }
}

impl ZoomLevel {
    fn new(parts: Vec<BasemapGeometry>) -> Self {
        let bounds = parts.iter().enumerate().map(|(number, part)| {
            let [west, south, east, north] = bounds(&part.lines).map(i64::from);
            GeomWithData::new(Rectangle::from_corners([west, south], [east, north]), number)
        });
        let index = RTree::bulk_load(bounds.collect());
        Self { parts, index }
    }

    /// Returns the parts whose bounds touch any of the boxes, the most important first.
    pub(super) fn within(&self, boxes: &[[i32; 4]]) -> impl Iterator<Item = &BasemapGeometry> + use<'_> {
        let envelopes = boxes.iter().map(|sides| {
            let [west, south, east, north] = sides.map(i64::from);
            AABB::from_corners([west, south], [east, north])
        });
        let mut numbers: Vec<usize> = Vec::new();
        for envelope in envelopes {
            numbers.extend(self.index.locate_in_envelope_intersecting(&envelope).map(|entry| entry.data));
        }
        numbers.sort_unstable();
        numbers.dedup();
        numbers.into_iter().map(|number| &self.parts[number])
    }
}

impl ZoomLevels {
    pub(super) fn version(&self) -> &str {
        &self.version
    }

    /// Returns whether the map tells land from sea.
    pub(super) fn has_land(&self) -> bool {
        // Land is the first part.
        let nearest = self.zooms.last().and_then(|level| level.parts.first());
        nearest.is_some_and(|part| part.kind == BasemapKind::Land)
    }

    pub(super) fn at(&self, zoom: u8) -> Option<&ZoomLevel> {
        let level = ZOOMS.iter().position(|level| *level >= zoom).unwrap_or(ZOOMS.len() - 1);
        self.zooms.get(level)
    }

    pub(super) fn name(&self, number: u32) -> &str {
        self.names.get(number as usize).map_or("", String::as_str)
    }

    /// Returns the named roads and streets with their numbers.
    pub(super) fn roads(&self) -> impl Iterator<Item = (usize, &BasemapGeometry)> {
        let nearest = self.zooms.last().into_iter().flat_map(|level| &level.parts).enumerate();
        nearest.filter(|(_, part)| part.kind.is_road() && !self.name(part.name).is_empty())
    }

    pub(super) fn road(&self, number: usize) -> Option<&BasemapGeometry> {
        self.zooms.last()?.parts.get(number)
    }

    pub(super) fn places(&self) -> impl Iterator<Item = (&str, Position)> {
        let nearest = self.zooms.last().into_iter().flat_map(|level| &level.parts);
        let labels = nearest.filter(|part| part.kind == BasemapKind::Place).filter_map(|part| {
            let [x, y] = part.lines.first()?.first()?.map(|units| f64::from(units) / UNITS);
            Some((self.name(part.name), Position::new(x, y)?))
        });
        labels.filter(|(name, _)| !name.is_empty()).take(MAX_NAMES)
    }
}
