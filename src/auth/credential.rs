use std::num::NonZeroU32;

use super::Scope;

/// The proven identity of a caller, and what it allows.
///
/// `kind` and `subject` together identify the holder: they are the same in all its requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    /// Whether an API key or a token proved it.
    pub kind: CredentialKind,
    /// The name of the API key or the `sub` of the token.
    pub subject: String,
    pub(super) quota: Option<OwnQuota>,
    pub(super) scopes: Vec<Scope>,
}

/// A kind of credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CredentialKind {
    /// An API key.
    ApiKey,
    /// A token.
    Token,
}

/// A credential's own quota, in place of the configured one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OwnQuota {
    /// Requests per second. **Default: as configured for all**
    pub per_second: Option<NonZeroU32>,
    /// Requests per day. **Default: as configured for all**
    pub per_day: Option<NonZeroU32>,
}

impl Credential {
    /// Returns its own quota; `None` if the quota for all applies, as for every token.
    #[must_use]
    pub fn quota(&self) -> Option<OwnQuota> {
        self.quota
    }

    /// Returns whether the credential grants the scope; [`Scope::Admin`] grants all.
    #[must_use]
    pub fn allows(&self, scope: Scope) -> bool {
        self.scopes.iter().any(|&own| own == scope || own == Scope::Admin)
    }
}
