//! The map below the floods: roads, rails, rivers, waters, parks and names near a place.

use std::collections::{HashMap, HashSet};

use geo::{Coord, LineString, MultiPolygon, Rect};
use osmpbf::{RelMemberType, Relation, Way};
use serde_json::{Value, json};

use crate::SetupError;
use crate::boundaries::Outline;
use crate::extract::Kind;
use crate::features::{feature, line, multi_polygon};
use crate::positions::Positions;
use crate::rings::{join, polygons};
use crate::survey::{Survey, samples};

/// The kinds of lines and areas of a base map, the least important first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum BasemapKind {
    Street,
    Park,
    Secondary,
    Rail,
    Primary,
    Motorway,
    River,
    Water,
}

/// The maximum number of positions that Siaga reads.
const MAX_POSITIONS: usize = 5_000_000;
/// How far the map goes beyond the place, in degrees of latitude: about 2 km.
const MARGIN: f64 = 0.018;

impl BasemapKind {
    const ALL: [Self; 8] = [
        Self::Street,
        Self::Park,
        Self::Secondary,
        Self::Rail,
        Self::Primary,
        Self::Motorway,
        Self::River,
        Self::Water,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Street => "street",
            Self::Park => "park",
            Self::Secondary => "secondary",
            Self::Rail => "rail",
            Self::Primary => "primary",
            Self::Motorway => "motorway",
            Self::River => "river",
            Self::Water => "water",
        }
    }

    fn is_area(self) -> bool {
        matches!(self, Self::Park | Self::Water)
    }

    fn of_tag(key: &str, value: &str) -> Option<Self> {
        Some(match (key, value) {
            ("highway", "motorway" | "motorway_link" | "trunk" | "trunk_link") => Self::Motorway,
            ("highway", "primary" | "primary_link") => Self::Primary,
            ("highway", "secondary" | "secondary_link" | "tertiary" | "tertiary_link") => Self::Secondary,
            ("highway", "residential" | "unclassified" | "living_street" | "pedestrian") => Self::Street,
            ("railway", "rail") => Self::Rail,
            ("waterway", "river" | "canal") => Self::River,
            ("natural", "water") => Self::Water,
            ("leisure", "park") => Self::Park,
            _ => return None,
        })
    }

    pub(crate) fn of_way(way: &Way<'_>) -> Option<Self> {
        way.tags().filter_map(|(key, value)| Self::of_tag(key, value)).max()
    }
}

/// A water or park of several ways.
pub(crate) struct AreaRelation {
    kind: BasemapKind,
    name: String,
    pub(crate) ways: Vec<i64>,
}

impl AreaRelation {
    pub(crate) fn new(relation: &Relation<'_>) -> Option<Self> {
        let (mut kind, mut name, mut is_area) = (None, String::new(), false);
        for (key, value) in relation.tags() {
            match (key, value) {
                ("type", "multipolygon") => is_area = true,
                ("name", value) => value.clone_into(&mut name),
                _ => kind = kind.max(BasemapKind::of_tag(key, value)),
            }
        }
        let kind = kind.filter(|kind| is_area && kind.is_area())?;
        let ways = relation.members().filter(|member| member.member_type == RelMemberType::Way);
        Some(Self { kind, name, ways: ways.map(|member| member.member_id).collect() })
    }
}

struct BasemapWay {
    id: i64,
    /// `None` for a part of an area relation.
    kind: Option<BasemapKind>,
    name: String,
    nodes: Vec<i64>,
}

/// What is drawn near a place.
pub(crate) struct Basemap {
    /// Features of a base map.
    pub(crate) features: Vec<String>,
    /// Features of the data folder's waterways.
    pub(crate) waterways: Vec<String>,
    pub(crate) notes: Vec<String>,
}

/// Grows a box by the margin of the map.
fn with_margin(place: Rect) -> Rect {
    let east = MARGIN / place.center().y.to_radians().cos().max(0.1);
    let (min, max) = (place.min(), place.max());
    Rect::new((min.x - east, min.y - MARGIN), (max.x + east, max.y + MARGIN))
}

/// Reads what lies in a box and about 2 km around it: two passes over the file.
pub(crate) fn read(survey: &Survey, place: Rect) -> Result<Basemap, SetupError> {
    let bounds = with_margin(place);
    let is_in = |at: Coord| {
        (bounds.min().x..=bounds.max().x).contains(&at.x) && (bounds.min().y..=bounds.max().y).contains(&at.y)
    };
    let nearby = survey.samples.filter(is_in);
    let members: HashSet<i64> =
        survey.area_relations.iter().flat_map(|area| area.ways.iter().copied()).collect();
    let found = survey.extract.read(Kind::Way, "Reading roads", |block| {
        let mut found = Vec::new();
        for way in block.groups().flat_map(|group| group.ways()) {
            let kind = BasemapKind::of_way(&way);
            if kind.is_some() || members.contains(&way.id()) {
                let nodes: Vec<_> = way.refs().collect();
                if samples(&nodes).any(|node| nearby.binary_search(node).is_ok()) {
                    let name = way.tags().find(|(key, _)| *key == "name").map(|(_, name)| name.to_owned());
                    found.push(BasemapWay { id: way.id(), kind, name: name.unwrap_or_default(), nodes });
                }
            }
        }
        found
    })?;
    let mut ways: Vec<_> = found.into_iter().flatten().collect();
    let mut notes = Vec::new();
    for kind in BasemapKind::ALL {
        if ways.iter().map(|way| way.nodes.len()).sum::<usize>() > MAX_POSITIONS {
            ways.retain(|way| way.kind != Some(kind));
            notes.push(format!(
                "The base map has nothing of the kind {}, because it would be too large.",
                kind.name()
            ));
        }
    }
    let positions = Positions::new(ways.iter().flat_map(|way| way.nodes.iter().copied()).collect());
    survey.extract.read(Kind::Node, "Reading positions", |block| positions.fill(block))?;
    let names = survey.places.iter().filter(|(_, at)| is_in(*at));
    let names = names.map(|(name, at)| {
        basemap_feature("place", name, json!({ "type": "Point", "coordinates": [at.x, at.y] }))
    });
    let mut basemap = Basemap { features: names.collect(), waterways: Vec::new(), notes };
    for way in &ways {
        let Some(kind) = way.kind else { continue };
        if kind.is_area() {
            if way.nodes.len() > 3 && way.nodes.first() == way.nodes.last() {
                basemap.features.push(area(kind, &way.name, &polygons(vec![shape(&way.nodes, &positions)])));
            }
            continue;
        }
        for part in parts(&way.nodes, &positions, is_in) {
            let geometry = line(&part);
            if kind == BasemapKind::River {
                let id = format!("w{}-{}", way.id, basemap.waterways.len());
                let properties = json!({ "type": "waterways", "id": id, "name": way.name });
                basemap.waterways.push(feature(properties, geometry.clone()));
            }
            basemap.features.push(basemap_feature(kind.name(), &way.name, geometry));
        }
    }
    let ways: HashMap<i64, &[i64]> = ways.iter().map(|way| (way.id, &way.nodes[..])).collect();
    for relation in &survey.area_relations {
        let found: Vec<_> = relation
            .ways
            .iter()
            .filter_map(|way| ways.get(way).copied())
            .filter(|way| way.len() > 1)
            .collect();
        let rings: Vec<_> = join(&found).rings.iter().map(|nodes| shape(nodes, &positions)).collect();
        if !rings.is_empty() {
            basemap.features.push(area(relation.kind, &relation.name, &polygons(rings)));
        }
    }
    Ok(basemap)
}

fn shape(nodes: &[i64], positions: &Positions) -> LineString {
    nodes.iter().filter_map(|node| positions.get(*node)).collect()
}

/// Returns the parts of a line in a box, each with one position outside at its ends.
fn parts(nodes: &[i64], positions: &Positions, is_in: impl Fn(Coord) -> bool) -> Vec<LineString> {
    let line = shape(nodes, positions).0;
    let is_near = |index: usize| {
        let around = index.saturating_sub(1)..=(index + 1).min(line.len() - 1);
        line[around].iter().any(|at| is_in(*at))
    };
    let near: Vec<_> = (0..line.len()).filter(|index| is_near(*index)).collect();
    let parts = near.chunk_by(|one, other| one + 1 == *other).filter(|part| part.len() > 1);
    parts.map(|part| part.iter().map(|index| line[*index]).collect()).collect()
}

fn area(kind: BasemapKind, name: &str, shape: &MultiPolygon) -> String {
    basemap_feature(kind.name(), name, multi_polygon(shape))
}

fn basemap_feature(kind: &str, name: &str, geometry: Value) -> String {
    feature(json!({ "kind": kind, "name": name }), geometry)
}

/// Returns the box around outlines.
pub(crate) fn bounds<'o>(outlines: impl Iterator<Item = &'o Outline>) -> Option<Rect> {
    outlines.map(|outline| outline.bounds).reduce(|one, other| {
        let min = (one.min().x.min(other.min().x), one.min().y.min(other.min().y));
        let max = (one.max().x.max(other.max().x), one.max().y.max(other.max().y));
        Rect::new(min, max)
    })
}
