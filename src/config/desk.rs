use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Desk {
    /// Serves the desk at `/desk`. **Default: `true`**
    pub(crate) enabled: bool,
    /// Lets API keys log in at the desk, in addition to people with OpenID Connect. **Default: `true`**
    pub(crate) keys: bool,
    /// Name and telephone number of the operator, on the card of the shift. **Default: none; the card has a line to write on**
    pub(crate) operator: Option<String>,
}

impl Default for Desk {
    fn default() -> Self {
        Self { enabled: true, keys: true, operator: None }
    }
}
