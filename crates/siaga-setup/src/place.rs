//! Chooses the place and the areas in it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use geo::{Area as _, Intersects, Rect};

use crate::SetupError;
use crate::boundaries::{Boundary, Outline, Shape, bounds, fold};

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
        Self::new(None, Extent::WholeFile, boundaries)
    }

    fn new(boundary: Option<&'b Boundary>, extent: Extent<'b>, boundaries: &'b [Boundary]) -> Self {
        let mut levels: BTreeMap<u8, Vec<&Boundary>> = BTreeMap::new();
        let is_smaller = |area: &&Boundary| boundary.is_none_or(|place| area.level > place.level);
        for area in boundaries.iter().filter(is_smaller).filter(|area| extent.has(area)) {
            levels.entry(area.level).or_default().push(area);
        }
        Self { boundary, extent, levels, notes: Vec::new() }
    }

    /// Returns the place of a boundary, if its border is closed, has one short gap, or lists parts of the level.
    fn of_boundary(place: &'b Boundary, level: Option<u8>, boundaries: &'b [Boundary]) -> Option<Self> {
        let nearly = match &place.shape {
            Shape::Closed(outline) => {
                return Some(Self::new(Some(place), Extent::Outline(outline), boundaries));
            }
            Shape::Open { nearly, .. } => nearly.as_ref(),
        };
        let parts: HashSet<_> = place.parts.iter().copied().collect();
        let is_part =
            |area: &&Boundary| parts.contains(&area.id) && level.is_none_or(|level| level == area.level);
        let has_parts = boundaries.iter().filter(is_part).any(|area| area.closed().is_some());
        let (extent, how) = match nearly {
            _ if has_parts => (Extent::Parts(parts), "its areas are those that it lists"),
            nearly => (Extent::Outline(nearly?), "a straight line closes its gap"),
        };
        let mut found = Self::new(Some(place), extent, boundaries);
        found.notes.push(format!("The border of {} is not complete: {how}.", place.label()));
        Some(found)
    }

    /// Returns the place with a name, or with a number such as `r1155955`.
    ///
    /// If a city and its county have the same name, chooses the one with the most areas of the level, then the closed one, then the
    /// smaller one.
    pub(crate) fn find(
        name: &str,
        level: Option<u8>,
        boundaries: &'b [Boundary],
    ) -> Result<Self, SetupError> {
        let folded = fold(name);
        let number = folded.strip_prefix('r').unwrap_or(&folded).parse::<i64>();
        let is_wanted = |place: &&Boundary| match number {
            Ok(number) => number == place.id,
            Err(_) => place.is_named(&folded),
        };
        let found: Vec<_> = boundaries.iter().filter(is_wanted).collect();
        if found.is_empty() {
            return Err(SetupError::Failed(format!(
                "{name:?} is not in the extract: {}",
                largest(boundaries)
            )));
        }
        if are_apart(&found) {
            let line = |place: &&Boundary| {
                let around = boundaries
                    .iter()
                    .filter(|around| around.is_around(place))
                    .max_by_key(|around| around.level);
                format!(
                    "{}, level {}, in {}",
                    place.label(),
                    place.level,
                    around.map_or("no larger area", |around| &around.name)
                )
            };
            return Err(SetupError::Failed(format!(
                "several places are called {name:?}, choose one by --place-id: {}",
                found.iter().map(line).collect::<Vec<_>>().join("; ")
            )));
        }
        let places = found.iter().filter_map(|place| Self::of_boundary(place, level, boundaries));
        let rank = |place: &Self| {
            let of_level = |number: u8| level.is_none_or(|level| level == number);
            let count = place
                .levels
                .iter()
                .filter(|(number, _)| of_level(**number))
                .map(|(_, areas)| areas.len())
                .max();
            (count, place.boundary.map(|place| (place.closed().is_some(), place.level)))
        };
        let mut best = places.max_by_key(rank).ok_or_else(|| {
            let missing: Vec<_> = found.iter().map(|place| place.missing_ways()).collect();
            SetupError::Failed(format!(
                "the border of {name:?} has gaps in this extract ({}): take a larger extract, choose another place by \
                 --place-id, or take all areas in the file by --whole-file",
                missing.join("; ")
            ))
        })?;
        if found.len() > 1 {
            best.notes
                .extend(best.boundary.map(|place| format!("Took {}, level {}.", place.label(), place.level)));
        }
        Ok(best)
    }

    /// Returns the areas of a level.
    pub(crate) fn areas(
        &self,
        level: u8,
        boundaries: &'b [Boundary],
    ) -> Result<Vec<&'b Boundary>, SetupError> {
        let areas = self.levels.get(&level).cloned().unwrap_or_default();
        if areas.len() > 1 {
            return Ok(areas);
        }
        let counts: Vec<_> =
            self.levels.iter().map(|(level, areas)| format!("level {level} has {}", areas.len())).collect();
        Err(SetupError::Failed(format!(
            "--level {level} has {} closed areas in the place, and a map needs two or more: {}. Left out for gaps: {}",
            areas.len(),
            counts.join(", "),
            self.left_out(level, boundaries).count()
        )))
    }

    /// Names the areas of a level that are left out because their border is not closed.
    pub(crate) fn left_out(&self, level: u8, boundaries: &[Boundary]) -> impl Iterator<Item = String> {
        let is_here = move |area: &&Boundary| match (&area.shape, &self.extent) {
            (Shape::Closed(_), _) => false,
            // The neighbours of the place share its border, but have no node inside.
            (Shape::Open { known, .. }, Extent::Outline(outline)) => {
                known.iter().any(|at| outline.contains((*at).into()))
            }
            (_, Extent::Parts(parts)) => parts.contains(&area.id),
            (_, Extent::WholeFile) => true,
        };
        let open = boundaries.iter().filter(move |area| area.level == level).filter(is_here);
        open.map(|area| format!("Left out, because its border is not closed: {}.", area.missing_ways()))
    }

    /// Returns the box around the place.
    pub(crate) fn bounds(&self) -> Option<Rect> {
        match &self.extent {
            Extent::Outline(outline) => Some(outline.bounds),
            _ => bounds(self.levels.values().flatten().filter_map(|area| Some(area.closed()?.bounds))),
        }
    }

    /// Proposes the level whose areas are smallest and cover nearly all of the place.
    pub(crate) fn proposed_level(&self) -> Option<u8> {
        let size = |areas: &[&Boundary]| -> f64 {
            areas.iter().filter_map(|area| area.closed()).map(|outline| outline.shape.unsigned_area()).sum()
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
        let best = counts.into_iter().max_by_key(|(language, count)| (*count, Reverse(*language)));
        best.map(|(language, _)| language.to_owned())
    }
}

/// Whether places of one name are not a city and its county, of which one contains the other.
fn are_apart(places: &[&Boundary]) -> bool {
    let is_in = |one: &Boundary, other: &Boundary| match (one.closed(), other.closed()) {
        (Some(one), Some(other)) => other.contains(one.inside),
        // Without a closed border, places near each other are taken for the same.
        _ => one.bounds().zip(other.bounds()).is_some_and(|(one, other)| one.intersects(&other)),
    };
    let pairs = places
        .iter()
        .enumerate()
        .flat_map(|(index, one)| places[..index].iter().map(move |other| (one, other)));
    pairs.into_iter().any(|(one, other)| !is_in(one, other) && !is_in(other, one))
}

/// Names the largest places of the extract.
fn largest(boundaries: &[Boundary]) -> String {
    let mut places: Vec<_> = boundaries.iter().filter(|place| place.closed().is_some()).collect();
    places.sort_by_key(|place| (place.level, place.id));
    let names: Vec<_> = places.iter().take(5).map(|place| place.name.as_str()).collect();
    if names.is_empty() {
        "it has no closed boundaries, or is cut off".to_owned()
    } else {
        format!("it has {} …", names.join(", "))
    }
}
