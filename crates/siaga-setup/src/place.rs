//! Chooses the place and the areas in it.

use std::collections::{BTreeMap, HashMap, HashSet};

use geo::{Area as _, Intersects, Rect};

use crate::SetupError;
use crate::basemap;
use crate::boundaries::{Boundary, Outline, Shape, fold};

/// What lies in a place.
pub(crate) enum Extent<'b> {
    Outline(&'b Outline),
    /// The parts that the place lists, because its own border is not closed.
    Parts(HashSet<i64>),
    WholeFile,
}

impl Extent<'_> {
    fn has(&self, area: &Boundary) -> bool {
        let Some(closed) = area.closed() else { return false };
        match self {
            Self::Outline(outline) => outline.contains(closed.inside),
            Self::Parts(parts) => parts.contains(&area.id),
            Self::WholeFile => true,
        }
    }
}

/// A place and the closed areas in it, by level.
pub(crate) struct Place<'b> {
    /// `None` for the whole file.
    pub(crate) boundary: Option<&'b Boundary>,
    pub(crate) extent: Extent<'b>,
    pub(crate) levels: BTreeMap<u8, Vec<&'b Boundary>>,
    pub(crate) notes: Vec<String>,
}

impl<'b> Place<'b> {
    pub(crate) fn whole_file(boundaries: &'b [Boundary]) -> Self {
        Self::new(None, Extent::WholeFile, boundaries, Vec::new())
    }

    fn new(
        boundary: Option<&'b Boundary>,
        extent: Extent<'b>,
        boundaries: &'b [Boundary],
        notes: Vec<String>,
    ) -> Self {
        let mut levels: BTreeMap<u8, Vec<&Boundary>> = BTreeMap::new();
        let is_smaller = |area: &&Boundary| boundary.is_none_or(|place| area.level > place.level);
        for area in boundaries.iter().filter(is_smaller).filter(|area| extent.has(area)) {
            levels.entry(area.level).or_default().push(area);
        }
        Self { boundary, extent, levels, notes }
    }

    /// Returns the place of a boundary, if its border is closed, has one gap, or lists parts.
    fn of_boundary(place: &'b Boundary, boundaries: &'b [Boundary]) -> Option<Self> {
        let nearly = match &place.shape {
            Shape::Closed(outline) => {
                return Some(Self::new(Some(place), Extent::Outline(outline), boundaries, Vec::new()));
            }
            Shape::Open { nearly, .. } => nearly,
        };
        let parts: HashSet<_> = place.parts.iter().copied().collect();
        let (name, id) = (&place.name, place.id);
        if boundaries.iter().any(|area| parts.contains(&area.id) && area.closed().is_some()) {
            let note =
                format!("The border of {name} (r{id}) is not complete: its areas are those that it lists.");
            return Some(Self::new(Some(place), Extent::Parts(parts), boundaries, vec![note]));
        }
        let outline = nearly.as_ref()?;
        let note = format!("The border of {name} (r{id}) is not complete: a straight line closes its gap.");
        Some(Self::new(Some(place), Extent::Outline(outline), boundaries, vec![note]))
    }

    /// Returns the place with a name or a number such as `r1155955`.
    ///
    /// If a city and its county have the same name, chooses the one with the most areas of the level, then the closed one, then the
    /// smaller one.
    pub(crate) fn find(
        name: Option<&str>,
        id: Option<&str>,
        level: Option<u8>,
        boundaries: &'b [Boundary],
    ) -> Result<Self, SetupError> {
        let (what, folded) = (id.or(name).unwrap_or_default(), name.map(fold).unwrap_or_default());
        let number = id.map(|id| id.trim_start_matches('r').parse::<i64>());
        let is_wanted = |boundary: &&Boundary| match &number {
            Some(number) => number.as_ref().is_ok_and(|number| *number == boundary.id),
            None => boundary.is_named(&folded),
        };
        let found: Vec<_> = boundaries.iter().filter(is_wanted).collect();
        if found.is_empty() {
            return Err(SetupError::Failed(format!(
                "{what:?} is not in the extract: {}",
                similar(&folded, boundaries)
            )));
        }
        let places: Vec<_> =
            found.iter().filter_map(|boundary| Self::of_boundary(boundary, boundaries)).collect();
        if let Some((one, other)) = different(&places) {
            let line = |place: &Boundary| {
                let around = around(place, boundaries).max_by_key(|area| area.level);
                let around = around.map_or("no larger area", |area| &area.name);
                format!("--place-id r{} is {}, level {}, in {around}", place.id, place.name, place.level)
            };
            return Err(SetupError::Failed(format!(
                "--place {what:?} is the name of several places. {}. {}",
                line(one),
                line(other)
            )));
        }
        let rank = |place: &Self| {
            let counts =
                place.levels.iter().filter(|(number, _)| level.is_none_or(|level| level == **number));
            let count = counts.map(|(_, areas)| areas.len()).max().unwrap_or_default();
            let boundary = place.boundary.map(|place| (place.closed().is_some(), place.level));
            (count, boundary)
        };
        places.into_iter().max_by_key(rank).ok_or_else(|| {
            let missing: Vec<_> = found.iter().map(|place| missing_ways(place)).collect();
            SetupError::Failed(format!(
                "the border of {what:?} has gaps in this extract ({}): take a larger extract, choose another place by \
                 --place-id, or take all areas in the file by --whole-file",
                missing.join("; ")
            ))
        })
    }

    /// Returns the areas of a level, and a note for each one that is left out because its border is not closed.
    pub(crate) fn areas(
        &self,
        level: u8,
        boundaries: &'b [Boundary],
    ) -> Result<(Vec<&'b Boundary>, Vec<String>), SetupError> {
        let areas = self.levels.get(&level).cloned().unwrap_or_default();
        let is_here = |area: &Boundary| match (&area.shape, &self.extent) {
            (Shape::Closed(_), _) => false,
            // The neighbours of the place share its border, but have no node inside.
            (Shape::Open { known, .. }, Extent::Outline(outline)) => {
                known.iter().any(|at| outline.contains((*at).into()))
            }
            (_, Extent::Parts(parts)) => parts.contains(&area.id),
            (_, Extent::WholeFile) => true,
        };
        let open = boundaries.iter().filter(|area| area.level == level && is_here(area));
        let notes: Vec<_> = open
            .map(|area| format!("Left out, because its border is not closed: {}.", missing_ways(area)))
            .collect();
        if areas.len() < 2 {
            let counts: Vec<_> =
                self.levels.iter().map(|(level, areas)| format!("{level} has {}", areas.len())).collect();
            let counts = if counts.is_empty() {
                "no level has any".to_owned()
            } else {
                format!("level {}", counts.join(", level "))
            };
            return Err(SetupError::Failed(format!(
                "--level {level} has {} closed areas in the place, and a map needs two or more: {counts}. Left out for gaps: {}",
                areas.len(),
                notes.len()
            )));
        }
        Ok((areas, notes))
    }

    /// Returns the box around the place.
    pub(crate) fn bounds(&self) -> Option<Rect> {
        match &self.extent {
            Extent::Outline(outline) => Some(outline.bounds),
            _ => basemap::bounds(self.levels.values().flatten().filter_map(|area| area.closed())),
        }
    }

    /// Proposes the level whose areas are smallest and cover nearly all of the place.
    pub(crate) fn proposed_level(&self) -> Option<u8> {
        let size = |areas: &[&Boundary]| {
            areas.iter().filter_map(|area| area.closed()).map(|area| area.shape.unsigned_area()).sum::<f64>()
        };
        let largest = self.levels.values().map(|areas| size(areas)).fold(0.0, f64::max);
        let covers = |areas: &[&Boundary]| areas.len() > 1 && size(areas) > 0.9 * largest;
        self.levels.iter().rev().find(|(_, areas)| covers(areas)).map(|(level, _)| *level)
    }

    /// Returns the language whose names are the local ones, if there are any but English ones.
    pub(crate) fn language(&self) -> Option<String> {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for boundary in self.levels.values().flatten().copied().chain(self.boundary) {
            let local = boundary.names.iter().filter(|(_, name)| **name == boundary.name);
            for (language, _) in local.filter(|(language, _)| language.len() == 2 && *language != "en") {
                *counts.entry(language).or_default() += 1;
            }
        }
        let best = counts.into_iter().max_by_key(|(language, count)| (*count, std::cmp::Reverse(*language)));
        best.map(|(language, _)| language.to_owned())
    }
}

/// Returns two places of which neither lies in the other.
fn different<'b>(places: &[Place<'b>]) -> Option<(&'b Boundary, &'b Boundary)> {
    let is_in = |one: &Place<'_>, other: &Place<'_>| match (one.boundary, &other.extent) {
        (Some(one), Extent::Outline(other)) => one.closed().is_some_and(|one| other.contains(one.inside)),
        _ => false,
    };
    // Without a closed border, places near each other are taken for the same.
    let is_near = |one: &Place<'_>, other: &Place<'_>| {
        let is_open = |place: &Place<'_>| place.boundary.is_some_and(|place| place.closed().is_none());
        let bounds = one.bounds().zip(other.bounds());
        (is_open(one) || is_open(other)) && bounds.is_some_and(|(one, other)| one.intersects(&other))
    };
    places.iter().enumerate().find_map(|(index, one)| {
        let is_other = |other: &&Place<'_>| !is_in(one, other) && !is_in(other, one) && !is_near(one, other);
        let other = places[..index].iter().find(is_other)?;
        one.boundary.zip(other.boundary)
    })
}

/// Returns the closed boundaries of greater kinds around an area.
pub(crate) fn around<'b>(area: &Boundary, boundaries: &'b [Boundary]) -> impl Iterator<Item = &'b Boundary> {
    let (level, inside) = (area.level, area.closed().map(|area| area.inside));
    boundaries.iter().filter(move |boundary| {
        let outline = boundary.closed().filter(|_| boundary.level < level);
        outline.zip(inside).is_some_and(|(outline, inside)| outline.contains(inside))
    })
}

fn missing_ways(area: &Boundary) -> String {
    let missing = match &area.shape {
        Shape::Open { missing, .. } if !missing.is_empty() => {
            let few: Vec<_> = missing.iter().take(3).map(|way| format!("w{way}")).collect();
            let more =
                if missing.len() > 3 { format!(" and {} more", missing.len() - 3) } else { String::new() };
            format!("without {}{more}", few.join(", "))
        }
        _ => "with gaps".to_owned(),
    };
    format!("{} (r{}), {missing}", area.name, area.id)
}

/// Names a few places of the extract: those that contain the name, or else the largest.
fn similar(folded: &str, boundaries: &[Boundary]) -> String {
    let mut places: Vec<_> = boundaries.iter().filter(|place| fold(&place.name).contains(folded)).collect();
    if places.is_empty() || folded.is_empty() {
        places = boundaries.iter().filter(|place| place.closed().is_some()).collect();
    }
    places.sort_by_key(|place| (place.level, place.id));
    let names: Vec<_> = places.iter().take(5).map(|place| place.name.as_str()).collect();
    if names.is_empty() {
        "it has no closed boundaries".to_owned()
    } else {
        format!("it has {} …", names.join(", "))
    }
}
