//! Administrative boundaries of an extract: relations, and the polygons that their ways enclose.

use std::collections::{BTreeMap, HashMap, HashSet};

use geo::{BoundingRect, Contains, Coord, InteriorPoint, LineString, MultiPolygon, Point, Rect};
use osmpbf::{RelMemberType, Relation};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::positions::Positions;
use crate::rings::{join, polygons};

/// An administrative boundary.
#[derive(Debug)]
pub(crate) struct Boundary {
    pub(crate) id: i64,
    /// `admin_level`: 2 for countries; the greater, the smaller the area.
    pub(crate) level: u8,
    pub(crate) name: String,
    /// By language.
    pub(crate) names: BTreeMap<String, String>,
    pub(crate) country_code: Option<String>,
    pub(crate) region_code: Option<String>,
    pub(crate) ways: Vec<i64>,
    pub(crate) parts: Vec<i64>,
    pub(crate) shape: Shape,
}

/// A shape, with what tells quickly whether something lies in it.
#[derive(Debug)]
pub(crate) struct Outline {
    pub(crate) shape: MultiPolygon,
    pub(crate) bounds: Rect,
    /// A point inside.
    pub(crate) inside: Point,
}

impl Outline {
    fn new(rings: Vec<LineString>) -> Option<Self> {
        let shape = polygons(rings);
        Some(Self { bounds: shape.bounding_rect()?, inside: shape.interior_point()?, shape })
    }

    pub(crate) fn contains(&self, point: Point) -> bool {
        self.bounds.contains(&point) && self.shape.contains(&point)
    }
}

#[derive(Debug)]
pub(crate) enum Shape {
    Closed(Outline),
    /// Not closed, because the extract lacks ways or nodes.
    Open {
        missing: Vec<i64>,
        /// The area closed by a straight line, if there is only one gap.
        nearly: Option<Outline>,
        /// The positions of the nodes that are there.
        known: Vec<Coord>,
    },
}

impl Boundary {
    /// Returns the boundary that a relation describes, without its shape; `None` for other relations.
    pub(crate) fn new(relation: &Relation<'_>) -> Option<Self> {
        let tags: HashMap<_, _> = relation.tags().collect();
        let is_area = matches!(tags.get("type"), Some(&("boundary" | "multipolygon")));
        if !is_area || tags.get("boundary") != Some(&"administrative") {
            return None;
        }
        let names = tags.iter().filter_map(|(key, name)| {
            let language = key.strip_prefix("name:")?;
            Some((language.to_owned(), on_one_line(name)))
        });
        let code = |keys: &[&str]| keys.iter().find_map(|key| tags.get(key)).map(|code| (*code).to_owned());
        let (mut ways, mut parts) = (Vec::new(), Vec::new());
        for member in relation.members() {
            match (member.member_type.clone(), member.role()) {
                (RelMemberType::Way, _) => ways.push(member.member_id),
                (RelMemberType::Relation, Ok("subarea")) => parts.push(member.member_id),
                _ => {}
            }
        }
        // A way that is listed twice is one part of the border.
        let mut seen = HashSet::new();
        ways.retain(|way| seen.insert(*way));
        Some(Self {
            id: relation.id(),
            level: tags.get("admin_level")?.parse().ok()?,
            name: on_one_line(tags.get("name")?),
            names: names.collect(),
            country_code: code(&["ISO3166-1:alpha2", "ISO3166-1"]),
            region_code: code(&["ISO3166-2"]),
            ways,
            parts,
            shape: Shape::Open { missing: Vec::new(), nearly: None, known: Vec::new() },
        })
    }

    /// Assembles the shape.
    pub(crate) fn assemble(&mut self, ways: &HashMap<i64, Vec<i64>>, positions: &Positions) {
        let is_whole = |way: &i64| {
            let nodes = ways.get(way)?;
            (nodes.len() > 1 && nodes.iter().all(|node| positions.get(*node).is_some())).then_some(&nodes[..])
        };
        let missing: Vec<i64> = self.ways.iter().copied().filter(|way| is_whole(way).is_none()).collect();
        let found: Vec<_> = self.ways.iter().filter_map(is_whole).collect();
        let mut joined = join(&found);
        let gaps = joined.open.len();
        joined.rings.append(&mut joined.open);
        // `Polygon` closes the rings.
        let line = |nodes: &Vec<i64>| nodes.iter().filter_map(|node| positions.get(*node)).collect();
        let rings: Vec<LineString> =
            joined.rings.iter().map(line).filter(|ring: &LineString| ring.0.len() > 2).collect();
        let outline = if gaps < 2 { Outline::new(rings) } else { None };
        self.shape = match outline {
            Some(outline) if gaps == 0 && missing.is_empty() => Shape::Closed(outline),
            nearly => {
                let known = found.into_iter().flatten().filter_map(|node| positions.get(*node)).collect();
                Shape::Open { missing, nearly, known }
            }
        };
    }

    pub(crate) fn closed(&self) -> Option<&Outline> {
        match &self.shape {
            Shape::Closed(outline) => Some(outline),
            Shape::Open { .. } => None,
        }
    }

    /// Returns the name in a language, or else the local name.
    pub(crate) fn name_in(&self, language: &str) -> &str {
        self.names.get(language).unwrap_or(&self.name)
    }

    pub(crate) fn is_named(&self, folded: &str) -> bool {
        [&self.name].into_iter().chain(self.names.values()).any(|name| fold(name) == folded)
    }
}

/// Returns a name that files and pages can hold.
pub(crate) fn on_one_line(name: &str) -> String {
    name.replace(char::is_control, " ")
}

/// Returns a name without accents and in small letters, to compare it with what people type.
pub(crate) fn fold(name: &str) -> String {
    let plain = name.nfd().filter(|letter| !is_combining_mark(*letter)).collect::<String>();
    plain.trim().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::fold;

    #[test]
    fn accents_and_capitals_do_not_matter() {
        assert_eq!(fold(" Fläsch "), fold("FLASCH"));
        assert_ne!(fold("Vaduz"), fold("Vadus"));
    }
}
