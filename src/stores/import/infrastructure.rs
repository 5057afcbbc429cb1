//! Imports infrastructure. Compares all features in memory, and rewrites all of them if any of them differs.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use super::{Import, RowStatus, Target};
use crate::data::folder::FolderFile;
use crate::model::{AreaId, Infrastructure, Locator};
use crate::stores::OpenError;

impl<T: Target> Import<'_, T> {
    /// Imports infrastructure, and finds new areas for stored features in removed areas.
    pub(super) fn infrastructure(&mut self, removed: &[AreaId]) -> Result<(), OpenError> {
        let places = Arc::clone(&self.places);
        let mut read = Vec::new();
        self.import_file(
            FolderFile::Infrastructure,
            |folder, each| folder.infrastructure(places.locator(), each),
            |_, rows| {
                read.extend(rows.into_iter().map(|row| row.value));
                Ok(())
            },
        )?;
        let mut stored: Vec<_> =
            places.infrastructure().iter().map(|piece| Infrastructure::clone(piece)).collect();
        let moved = relocate(&mut stored, removed, places.locator());
        self.summary.relocated += moved;
        let mut is_changed = moved > 0;
        for status in merge(&mut stored, read) {
            is_changed |= self.count(FolderFile::Infrastructure, status);
        }
        if is_changed { self.target.put_infrastructure(stored) } else { Ok(()) }
    }
}

/// Moves the features of removed areas to the areas that now contain their first positions. Returns how many features moved.
fn relocate(pieces: &mut [Infrastructure], removed: &[AreaId], locator: &Locator) -> u64 {
    let removed: HashSet<_> = removed.iter().copied().collect();
    let mut moved = 0;
    for piece in pieces {
        if piece.tags.local_area_id.is_some_and(|area| removed.contains(&area)) {
            piece.tags.local_area_id = locator.locate(piece.shape.beginning()).local_area_id;
            moved += 1;
        }
    }
    moved
}

/// Merges the features of a folder into the stored features. Returns the status of each feature of the folder.
///
/// A feature replaces the stored feature with the same identifier. If there is none, it replaces a stored feature with the same
/// kind, name and first position that no other feature of the folder replaces. So a stored feature gets the identifier that a
/// file has for it, and keeps this identifier if a later file has none.
fn merge(stored: &mut Vec<Infrastructure>, mut read: Vec<Infrastructure>) -> Vec<RowStatus> {
    Infrastructure::identify(&mut read);
    let by_id: HashMap<_, _> =
        stored.iter().enumerate().map(|(index, piece)| (piece.id.clone(), index)).collect();
    let same_id: Vec<_> = read.iter().map(|piece| by_id.get(&piece.id).copied()).collect();
    let matched: HashSet<_> = same_id.iter().flatten().copied().collect();
    let mut unmatched: HashMap<String, VecDeque<usize>> = HashMap::new();
    if matched.len() < read.len() {
        for (index, piece) in stored.iter().enumerate().filter(|(index, _)| !matched.contains(index)) {
            unmatched.entry(piece.derived_id()).or_default().push_back(index);
        }
    }
    let mut merge_one = |mut piece: Infrastructure, same_id: Option<usize>| {
        let derived = piece.derived_id();
        let index = same_id.or_else(|| unmatched.get_mut(&derived)?.pop_front());
        let Some(current) = index.map(|index| &mut stored[index]) else {
            stored.push(piece);
            return RowStatus::New;
        };
        if same_id.is_none() && piece.id.starts_with(&derived) {
            piece.id.clone_from(&current.id);
        }
        let status = if is_same(current, &piece) { RowStatus::Unchanged } else { RowStatus::Changed };
        *current = piece;
        status
    };
    read.into_iter().zip(same_id).map(|(piece, same_id)| merge_one(piece, same_id)).collect()
}

/// Whether two features are stored as the same row. Ignores city and district, which are derived from the place and the area.
fn is_same(left: &Infrastructure, right: &Infrastructure) -> bool {
    let Infrastructure { id, kind, name, tags, shape } = left;
    (id, kind, name, shape) == (&right.id, &right.kind, &right.name, &right.shape)
        && tags.instance_region_code == right.tags.instance_region_code
        && tags.local_area_id == right.tags.local_area_id
}
