use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use crate::model::Number;

/// A limit of concurrency, at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Number", into = "u32")]
pub struct AtOnce(NonZeroU32);

/// A number that is not an [`AtOnce`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a whole number from 1 to {}", u32::MAX)]
pub struct InvalidAtOnce;

impl AtOnce {
    #[must_use]
    pub(crate) const fn new(number: NonZeroU32) -> Self {
        Self(number)
    }

    #[must_use]
    pub(crate) fn get(self) -> NonZeroU32 {
        self.0
    }
}

impl TryFrom<Number> for AtOnce {
    type Error = InvalidAtOnce;

    fn try_from(number: Number) -> Result<Self, InvalidAtOnce> {
        number.get().and_then(NonZeroU32::new).map(Self).ok_or(InvalidAtOnce)
    }
}

impl From<AtOnce> for u32 {
    fn from(number: AtOnce) -> Self {
        number.0.get()
    }
}
