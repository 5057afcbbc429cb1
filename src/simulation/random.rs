use std::sync::atomic::{AtomicU64, Ordering};

/// A sequence of numbers that is the same for the same seed (SplitMix64).
#[derive(Debug)]
pub(super) struct Random(AtomicU64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    pub(super) fn next(&self) -> u64 {
        const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
        let mut mixed = self.0.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn below(&self, bound: u64) -> u64 {
        self.next() % bound
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
