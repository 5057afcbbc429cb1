//! Administrative boundaries of an extract: relations, and the polygons that their ways enclose.

use std::collections::{BTreeMap, HashMap, HashSet};

use geo::{Area, BoundingRect, Contains, Coord, InteriorPoint, LineString, MultiPolygon, Point, Rect};
use geo::{Euclidean, Length};
use osmpbf::{RelMemberType, Relation};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::city::is_region_code;
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
        let shape = Some(polygons(rings)).filter(|shape| shape.unsigned_area() > 0.0)?;
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
        let code = |keys: &[&str]| {
            let mut codes = keys.iter().filter_map(|key| tags.get(key)?.split(';').next());
            codes.find(|code| is_region_code(code)).map(str::to_owned)
        };
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
        let line = |nodes: &Vec<i64>| nodes.iter().filter_map(|node| positions.get(*node)).collect();
        // A long line would cut off a part of the area, or add one.
        let is_short = joined.open.iter().map(line).all(|open: LineString| {
            let ends = open.0.first().zip(open.0.last());
            ends.is_some_and(|(from, to)| {
                (from.x - to.x).hypot(from.y - to.y) < 0.4 * Euclidean.length(&open)
            })
        });
        joined.rings.append(&mut joined.open);
        // `Polygon` closes the rings.
        let rings = joined.rings.iter().map(line).filter(|ring: &LineString| ring.0.len() > 2).collect();
        let outline = if gaps < 2 && is_short { Outline::new(rings) } else { None };
        self.shape = match outline {
            Some(outline) if gaps == 0 && missing.is_empty() => Shape::Closed(outline),
            nearly => {
                let known = found.into_iter().flatten().filter_map(|node| positions.get(*node)).collect();
                Shape::Open { missing, nearly: nearly.filter(|_| gaps == 1), known }
            }
        };
    }

    pub(crate) fn closed(&self) -> Option<&Outline> {
        match &self.shape {
            Shape::Closed(outline) => Some(outline),
            Shape::Open { .. } => None,
        }
    }

    /// The code of the region or of the country that the boundary encloses.
    pub(crate) fn code(&self) -> Option<&str> {
        self.region_code.as_deref().or(self.country_code.as_deref())
    }

    /// Whether this is a larger, closed area that contains a closed one.
    pub(crate) fn is_around(&self, area: &Self) -> bool {
        let inside = area.closed().filter(|_| self.level < area.level).map(|area| area.inside);
        self.closed().zip(inside).is_some_and(|(outline, inside)| outline.contains(inside))
    }

    /// Returns the box around what is known of the boundary.
    pub(crate) fn bounds(&self) -> Option<Rect> {
        match &self.shape {
            Shape::Closed(outline) => Some(outline.bounds),
            Shape::Open { known, .. } => bounds(known.iter().map(|at| Rect::new(*at, *at))),
        }
    }

    pub(crate) fn label(&self) -> String {
        format!("{} (r{})", self.name, self.id)
    }

    /// Names the boundary and the first ways that the file lacks.
    pub(crate) fn missing_ways(&self) -> String {
        let missing = match &self.shape {
            Shape::Open { missing, .. } => &missing[..],
            Shape::Closed(_) => &[],
        };
        let few: Vec<_> = missing.iter().take(3).map(|way| format!("w{way}")).collect();
        let more = if missing.len() > 3 { format!(" and {} more", missing.len() - 3) } else { String::new() };
        let without =
            if few.is_empty() { "with gaps".to_owned() } else { format!("without {}{more}", few.join(", ")) };
        format!("{}, {without}", self.label())
    }

    /// Returns the name in a language, or else the local name.
    pub(crate) fn name_in(&self, language: &str) -> &str {
        self.names.get(language).unwrap_or(&self.name)
    }

    pub(crate) fn is_named(&self, folded: &str) -> bool {
        [&self.name].into_iter().chain(self.names.values()).any(|name| fold(name) == folded)
    }
}

/// Returns the box around boxes.
pub(crate) fn bounds(boxes: impl Iterator<Item = Rect>) -> Option<Rect> {
    boxes.reduce(|one, other| {
        let min = (one.min().x.min(other.min().x), one.min().y.min(other.min().y));
        let max = (one.max().x.max(other.max().x), one.max().y.max(other.max().y));
        Rect::new(min, max)
    })
}

/// Returns a name that files and pages can hold.
pub(crate) fn on_one_line(name: &str) -> String {
    name.replace(char::is_control, " ").chars().take(255).collect()
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
