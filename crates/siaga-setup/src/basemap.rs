//! The map below the floods: roads, rails, rivers, waters, parks and names near a place.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use geo::{Coord, LineString, MultiPolygon, Rect};
use osmpbf::{RelMemberType, Relation};
use serde_json::{Value, json};

use crate::SetupError;
use crate::extract::{Kind, name_of};
use crate::features::{feature, line, multi_polygon};
use crate::positions::{Positions, degrees, for_each_node};
use crate::rings::{join, polygons};
use crate::survey::Survey;

/// The kinds of lines and areas of a base map with the tags of their objects, the least important first.
const KINDS: [(&str, &str, &[&str]); 8] = [
    ("street", "highway", &["residential", "unclassified", "living_street", "pedestrian"]),
    ("park", "leisure", &["park"]),
    ("secondary", "highway", &["secondary", "secondary_link", "tertiary", "tertiary_link"]),
    ("rail", "railway", &["rail"]),
    ("primary", "highway", &["primary", "primary_link"]),
    ("motorway", "highway", &["motorway", "motorway_link", "trunk", "trunk_link"]),
    ("river", "waterway", &["river", "canal"]),
    ("water", "natural", &["water"]),
];
const PLACES: [&str; 6] = ["city", "town", "suburb", "quarter", "neighbourhood", "village"];
/// The maximum number of positions that Siaga reads.
const MAX_POSITIONS: usize = 5_000_000;
/// The maximum number of nodes near the place, 16 bytes each; most of them belong to buildings.
const MAX_NODES: usize = 20_000_000;
/// How far the map goes beyond the place, in degrees of latitude: about 2 km.
const MARGIN: f64 = 0.018;

/// A kind, as an index of `KINDS`.
type KindIndex = usize;

fn kind_of<'t>(tags: impl Iterator<Item = (&'t str, &'t str)>) -> Option<KindIndex> {
    let kind =
        |(key, value)| KINDS.iter().rposition(|(_, own, values)| *own == key && values.contains(&value));
    tags.filter_map(kind).max()
}

fn is_area(kind: KindIndex) -> bool {
    ["park", "water"].contains(&KINDS[kind].0)
}

/// A water or park of several ways.
pub(crate) struct AreaRelation {
    kind: KindIndex,
    name: String,
    ways: Vec<i64>,
}

impl AreaRelation {
    pub(crate) fn new(relation: &Relation<'_>) -> Option<Self> {
        let is_multipolygon = relation.tags().any(|tag| tag == ("type", "multipolygon"));
        let kind = kind_of(relation.tags()).filter(|kind| is_multipolygon && is_area(*kind))?;
        let ways = relation.members().filter(|member| member.member_type == RelMemberType::Way);
        let name = name_of(relation.tags(), "").unwrap_or_default();
        Some(Self { kind, name, ways: ways.map(|member| member.member_id).collect() })
    }
}

/// What is drawn near a place.
#[derive(Default)]
pub(crate) struct Basemap {
    /// Features of a base map.
    pub(crate) features: Vec<String>,
    /// Features of the data folder's waterways.
    pub(crate) waterways: Vec<String>,
    pub(crate) notes: Vec<String>,
}

/// Reads what lies in a box and about 2 km around it: at most four passes over the file.
pub(crate) fn read(survey: &Survey, place: Rect, language: &str) -> Result<Basemap, SetupError> {
    let extract = &survey.extract;
    let bounds = with_margin(place);
    let mut basemap = Basemap::default();
    let nodes = AtomicUsize::new(0);
    let blocks = extract.read(Kind::Node, "Reading places", |block| {
        let (mut near, mut places) = (Vec::new(), Vec::new());
        for_each_node(block, |id, (lon, lat), tags| {
            let at = degrees(lon, lat);
            if is_in(bounds, at) && nodes.fetch_add(1, Ordering::Relaxed) < MAX_NODES {
                near.push(id);
                places.extend(place_feature(&tags.collect::<Vec<_>>(), at, language));
            }
        });
        (near, places)
    })?;
    let (near, places): (Vec<_>, Vec<_>) = blocks.into_iter().unzip();
    if nodes.into_inner() > MAX_NODES {
        basemap.notes.push("There is no base map, because the place is too large for one.".to_owned());
        return Ok(basemap);
    }
    let mut near: Vec<i64> = near.into_iter().flatten().collect();
    near.sort_unstable();
    basemap.features = places.into_iter().flatten().collect();
    let members: HashSet<i64> =
        survey.area_relations.iter().flat_map(|area| area.ways.iter().copied()).collect();
    let mut ways = extract.read_ways("Reading roads", |way| {
        let is_drawn = kind_of(way.tags()).is_some() || members.contains(&way.id());
        is_drawn && way.refs().any(|node| near.binary_search(&node).is_ok())
    })?;
    for (kind, (kind_name, ..)) in KINDS.iter().enumerate() {
        if ways.iter().map(|way| way.nodes.len()).sum::<usize>() > MAX_POSITIONS {
            ways.retain(|way| kind_of(way.tags()) != Some(kind));
            basemap.notes.push(format!(
                "The base map has nothing of the kind {kind_name}, because it would be too large."
            ));
        }
    }
    // A lake is whole or absent: some of its ways may be far away.
    let found: HashSet<i64> = ways.iter().map(|way| way.id).collect();
    let relations: Vec<_> =
        survey.area_relations.iter().filter(|area| area.ways.iter().any(|way| found.contains(way))).collect();
    let further: HashSet<i64> = relations
        .iter()
        .flat_map(|area| area.ways.iter().copied())
        .filter(|way| !found.contains(way))
        .collect();
    if !further.is_empty() {
        ways.extend(extract.read_ways("Reading waters", |way| further.contains(&way.id()))?);
    }
    drop(near);
    let positions = Positions::new(ways.iter().flat_map(|way| way.nodes.iter().copied()).collect());
    extract.read(Kind::Node, "Reading positions", |block| positions.fill(block))?;
    for way in &ways {
        let Some(kind) = kind_of(way.tags()) else { continue };
        let name = name_of(way.tags(), language).unwrap_or_default();
        if is_area(kind) {
            basemap.add_area(kind, &name, &[&way.nodes], &positions);
        } else {
            basemap.add_lines(kind, &name, way.id, &positions.line(&way.nodes), bounds);
        }
    }
    let ways: HashMap<i64, &[i64]> = ways.iter().map(|way| (way.id, &way.nodes[..])).collect();
    for relation in relations {
        let parts: Vec<_> = relation.ways.iter().filter_map(|way| ways.get(way).copied()).collect();
        if parts.len() == relation.ways.len() {
            basemap.add_area(relation.kind, &relation.name, &parts, &positions);
        }
    }
    Ok(basemap)
}

impl Basemap {
    /// Adds the area that ways enclose, if they do.
    fn add_area(&mut self, kind: KindIndex, name: &str, ways: &[&[i64]], positions: &Positions) {
        let joined = join(&ways.iter().copied().filter(|way| way.len() > 1).collect::<Vec<_>>());
        let rings: Vec<_> = joined.rings.iter().map(|ring| positions.line(ring)).collect();
        if joined.open.is_empty() && !rings.is_empty() {
            let shape: MultiPolygon = polygons(rings);
            self.features.push(basemap_feature(KINDS[kind].0, name, multi_polygon(&shape)));
        }
    }

    /// Adds the parts of a line in a box, each with one position outside at its ends.
    fn add_lines(&mut self, kind: KindIndex, name: &str, way: i64, whole: &LineString, bounds: Rect) {
        let is_near = |index: usize| {
            let around = index.saturating_sub(1)..=(index + 1).min(whole.0.len() - 1);
            whole.0[around].iter().any(|at| is_in(bounds, *at))
        };
        let near: Vec<_> = (0..whole.0.len()).filter(|index| is_near(*index)).collect();
        let parts = near.chunk_by(|one, other| one + 1 == *other).filter(|part| part.len() > 1);
        for part in parts {
            let geometry = line(&part.iter().map(|index| whole.0[*index]).collect());
            let kind_name = KINDS[kind].0;
            if kind_name == "river" {
                let properties = json!({ "type": "waterways", "id": format!("w{way}"), "name": name });
                self.waterways.push(feature(properties, geometry.clone()));
            }
            self.features.push(basemap_feature(kind_name, name, geometry));
        }
    }
}

fn is_in(bounds: Rect, at: Coord) -> bool {
    (bounds.min().x..=bounds.max().x).contains(&at.x) && (bounds.min().y..=bounds.max().y).contains(&at.y)
}

/// Grows a box by the margin of the map.
fn with_margin(place: Rect) -> Rect {
    let east = MARGIN / place.center().y.to_radians().cos().max(0.1);
    let (min, max) = (place.min(), place.max());
    Rect::new((min.x - east, min.y - MARGIN), (max.x + east, max.y + MARGIN))
}

/// Returns the feature of a node that is a place where people live.
fn place_feature(tags: &[(&str, &str)], at: Coord, language: &str) -> Option<String> {
    let is_place = tags.iter().any(|(key, value)| *key == "place" && PLACES.contains(value));
    let name = name_of(tags.iter().copied(), language).filter(|_| is_place)?;
    Some(basemap_feature("place", &name, json!({ "type": "Point", "coordinates": [at.x, at.y] })))
}

fn basemap_feature(kind: &str, name: &str, geometry: Value) -> String {
    feature(json!({ "kind": kind, "name": name }), geometry)
}
