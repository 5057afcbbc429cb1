use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use crate::model::Number;

/// A whole number that is at least 1, such as a limit of concurrency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Number", into = "u32")]
pub struct PositiveCount(NonZeroU32);

/// A number that is not a [`PositiveCount`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a whole number from 1 to {}", u32::MAX)]
pub struct InvalidPositiveCount;

impl PositiveCount {
    #[must_use]
    pub(crate) const fn new(number: NonZeroU32) -> Self {
        Self(number)
    }

    #[must_use]
    pub(crate) fn get(self) -> NonZeroU32 {
        self.0
    }
}

impl TryFrom<Number> for PositiveCount {
    type Error = InvalidPositiveCount;

    fn try_from(number: Number) -> Result<Self, InvalidPositiveCount> {
        number.get().and_then(NonZeroU32::new).map(Self).ok_or(InvalidPositiveCount)
    }
}

impl From<PositiveCount> for u32 {
    fn from(number: PositiveCount) -> Self {
        number.0.get()
    }
}
