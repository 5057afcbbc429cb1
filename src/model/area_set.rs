use std::ops::Index;

use super::{Area, AreaId};

/// All areas a store serves, in the order of their identifiers.
///
/// A set never changes once made. Its parts are shared by reference, so an answer that shows every
/// area copies none of them. An area is named by its *position*: its place in the order, from 0.
#[derive(Debug, Default)]
pub struct AreaSet {
    areas: Vec<Area>,
}

/// Two areas of one set have the same identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("area_id {0} occurs more than once")]
pub struct DuplicateArea(pub AreaId);

impl AreaSet {
    /// Puts `areas` in order.
    ///
    /// # Errors
    ///
    /// When two areas share an identifier.
    pub fn new(mut areas: Vec<Area>) -> Result<Self, DuplicateArea> {
        areas.sort_by_key(|area| area.id);
        match areas.windows(2).find(|pair| pair[0].id == pair[1].id) {
            Some(pair) => Err(DuplicateArea(pair[0].id)),
            None => Ok(Self { areas }),
        }
    }

    /// The position of an area, found in O(log n).
    #[must_use]
    pub fn position(&self, id: AreaId) -> Option<usize> {
        self.areas.binary_search_by_key(&id, |area| area.id).ok()
    }

    /// The areas in the order of their identifiers.
    pub fn iter(&self) -> std::slice::Iter<'_, Area> {
        self.areas.iter()
    }

    /// How many areas there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.areas.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.areas.is_empty()
    }
}

impl<'a> IntoIterator for &'a AreaSet {
    type Item = &'a Area;
    type IntoIter = std::slice::Iter<'a, Area>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Index<usize> for AreaSet {
    type Output = Area;

    fn index(&self, position: usize) -> &Area {
        &self.areas[position]
    }
}
