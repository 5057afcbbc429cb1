use imbl::{OrdMap, OrdSet};

use crate::model::{PhotoPlace, Timestamp};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::stores) struct PendingMove {
    pub(in crate::stores) to: PhotoPlace,
    /// The time from which a server may take the photo.
    pub(in crate::stores) due: Timestamp,
}

#[derive(Clone, Debug, Default)]
pub(super) struct MoveQueue {
    by_photo: OrdMap<Box<str>, PendingMove>,
    /// Photos to move, by due time. They come before the photos to delete.
    moves: OrdSet<(Timestamp, Box<str>)>,
    deletions: OrdSet<(Timestamp, Box<str>)>,
}

impl FromIterator<(Box<str>, PendingMove)> for MoveQueue {
    fn from_iter<I: IntoIterator<Item = (Box<str>, PendingMove)>>(all: I) -> Self {
        let mut moves = Self::default();
        all.into_iter().for_each(|(photo, pending)| moves.put(&photo, pending));
        moves
    }
}

impl MoveQueue {
    pub(super) fn is_empty(&self) -> bool {
        self.by_photo.is_empty()
    }

    pub(super) fn get(&self, photo: &str) -> Option<PendingMove> {
        self.by_photo.get(photo).copied()
    }

    pub(super) fn put(&mut self, photo: &str, pending: PendingMove) {
        self.remove(photo);
        self.list(pending.to).insert((pending.due, photo.into()));
        self.by_photo.insert(photo.into(), pending);
    }

    pub(super) fn remove(&mut self, photo: &str) -> Option<PendingMove> {
        let previous = self.by_photo.remove(photo)?;
        self.list(previous.to).remove(&(previous.due, photo.into()));
        Some(previous)
    }

    /// Returns the photo that a server may take next, if one is due.
    pub(super) fn next(&self, now: Timestamp) -> Option<(Box<str>, PendingMove)> {
        let mut first = [&self.moves, &self.deletions].into_iter().filter_map(OrdSet::get_min);
        let (_, photo) = first.find(|(due, _)| *due <= now)?;
        Some((photo.clone(), self.get(photo)?))
    }

    fn list(&mut self, to: PhotoPlace) -> &mut OrdSet<(Timestamp, Box<str>)> {
        match to {
            PhotoPlace::Hidden | PhotoPlace::Public => &mut self.moves,
            PhotoPlace::Gone => &mut self.deletions,
        }
    }
}
