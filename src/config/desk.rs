use serde::{Deserialize, Serialize};

/// The desk, where officers set flood states in a browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Desk {
    /// Whether the desk is at `/desk`. **Default: `true`**
    pub(crate) enabled: bool,
}

impl Default for Desk {
    fn default() -> Self {
        Self { enabled: true }
    }
}
