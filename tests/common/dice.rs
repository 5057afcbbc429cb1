//! Pseudo-random numbers that a seed repeats.

#![allow(dead_code, reason = "few test targets use all of it")]

/// A deterministic pseudo-random generator (xorshift). The seed must not be 0.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}
