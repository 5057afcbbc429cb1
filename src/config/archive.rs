use std::path::PathBuf;

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Archive {
    /// The folder into which this server writes the archive, which it serves at `/archive`. **Default: none, no archive**
    pub(crate) folder: Option<PathBuf>,
    /// Publishes title and text of reports, which may name people. **Default: `false`**
    pub(crate) text: bool,
    /// Rounds the places of reports to this many metres; 0 publishes them as they are. **Default: 0**
    pub(crate) coarse: u16,
}
