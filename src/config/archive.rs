use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The public archive: files with the data of finished months.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Archive {
    /// The folder that this server writes, and serves at `/archive`. **Default: none; there is no archive then**
    pub(crate) folder: Option<PathBuf>,
    /// Whether reports have their title and text, which may name people. **Default: `false`**
    pub(crate) text: bool,
    /// To how many metres the places of reports are rounded; 0 leaves them as they are. **Default: 0**
    pub(crate) coarse: u16,
}
