use std::time::Duration;

use rocket::data::ByteUnit;
use serde::{Deserialize, Serialize};

use crate::duration;

/// What is too much.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// The longest period a request may ask about. **Default: `366d`**
    #[serde(with = "duration")]
    pub max_period: Duration,
    /// The largest JSON body: a size such as `100KiB`, or a number of bytes. **Default: `100KiB`**
    pub body: ByteUnit,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_period: Duration::from_hours(8784), body: ByteUnit::Kibibyte(100) }
    }
}
