use std::num::NonZeroU32;

use super::Scope;

/// What a caller proved to be.
///
/// `kind` and `subject` together say who it is: they are the same for every request of one holder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    /// What it was proved by.
    pub kind: CredentialKind,
    /// The name of the API key or the `sub` of the token.
    pub subject: String,
    pub(super) quota: Option<OwnQuota>,
    pub(super) scopes: Vec<Scope>,
}

/// What a caller proved to be something by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CredentialKind {
    /// An API key.
    ApiKey,
    /// A token.
    Token,
}

/// How many requests whoever holds a credential may send, where it is not the configured number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OwnQuota {
    /// Requests a second. **Default: as configured for all**
    pub per_second: Option<NonZeroU32>,
    /// Requests a day. **Default: as configured for all**
    pub per_day: Option<NonZeroU32>,
}

impl Credential {
    /// The quota of its own; `None` for that of all, as every token has it.
    #[must_use]
    pub fn quota(&self) -> Option<OwnQuota> {
        self.quota
    }

    /// Whether the credential covers the scope; [`Scope::Admin`] covers all.
    #[must_use]
    pub fn allows(&self, scope: Scope) -> bool {
        self.scopes.iter().any(|&own| own == scope || own == Scope::Admin)
    }
}
