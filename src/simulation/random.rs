use std::sync::Mutex;

use super::dice::Dice;

/// The choices of a simulation, shared by all its tasks.
#[derive(Debug)]
pub(super) struct Random(Mutex<Dice>);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(Mutex::new(Dice(seed)))
    }

    pub(super) fn below(&self, bound: u64) -> u64 {
        self.0.lock().unwrap().below(bound)
    }

    pub(super) fn has_luck(&self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub(super) fn index(&self, count: usize) -> usize {
        usize::try_from(self.below(count as u64)).unwrap()
    }

    pub(super) fn pick<T: Copy>(&self, items: &[T]) -> T {
        items[self.index(items.len())]
    }
}
