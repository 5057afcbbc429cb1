use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;

use crate::stores::{Revision, Versioned};

/// A value with many readers and one writer at a time. Every reader sees one whole value.
#[derive(Debug)]
pub(super) struct Snapshots<T> {
    current: ArcSwap<Versioned<T>>,
    /// Held by the one writer; readers never take it.
    writing: Mutex<()>,
}

/// The result of a change, and whether readers of the resource can see the change.
pub(super) enum Written<R> {
    /// Readers can see it: the revision grows.
    Visible(R),
    /// Readers cannot see it.
    Unseen(R),
}

impl<T: Clone> Snapshots<T> {
    pub(super) fn new(value: T) -> Self {
        Self::of(Arc::new(Versioned::at(Revision(0), value)))
    }

    fn of(first: Arc<Versioned<T>>) -> Self {
        Self { current: ArcSwap::new(first), writing: Mutex::new(()) }
    }

    /// Returns the same value, to be changed on its own. Costs nothing until it is changed.
    pub(super) fn fork(&self) -> Self {
        Self::of(self.read())
    }

    /// Makes the revision go on from another one.
    pub(super) fn at(self, revision: Revision) -> Self {
        let value = self.read().value.clone();
        Self::of(Arc::new(Versioned::at(revision, value)))
    }

    /// Returns the current value.
    pub(super) fn read(&self) -> Arc<Versioned<T>> {
        self.current.load_full()
    }

    pub(super) fn revision(&self) -> Revision {
        self.current.load().revision
    }

    /// Makes the next value from the current one. If `change` fails, nothing changes.
    pub(super) fn write<R, E>(&self, change: impl FnOnce(&mut T) -> Result<Written<R>, E>) -> Result<R, E> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = Versioned::clone(&self.current.load());
        let answer = match change(&mut next.value)? {
            Written::Visible(answer) => {
                next.revision.0 += 1;
                answer
            }
            Written::Unseen(answer) => answer,
        };
        self.current.store(Arc::new(next));
        Ok(answer)
    }
}

impl<T> Versioned<T> {
    /// Returns something read from the value, at its revision.
    pub(super) fn of<U>(&self, value: U) -> Versioned<U> {
        Versioned::at(self.revision, value)
    }
}
