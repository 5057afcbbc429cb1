use rocket::data::ByteUnit;
use serde::{Deserialize, Serialize};

/// The answers that are kept at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Cache {
    /// How much memory they may take, a size such as `64MiB`; `0` to keep none. **Default: `64MiB`**
    pub size: ByteUnit,
}

impl Default for Cache {
    fn default() -> Self {
        Self { size: ByteUnit::Mebibyte(64) }
    }
}
