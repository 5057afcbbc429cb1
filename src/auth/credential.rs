use std::num::NonZeroU32;

use super::Scope;

/// The verified identity of a caller, and its scopes.
///
/// `kind` and `subject` together identify the holder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    /// API key or token.
    pub kind: CredentialKind,
    /// The name of the API key or the `sub` of the token.
    pub subject: String,
    pub(super) quota: Option<OwnQuota>,
    pub(super) scopes: Vec<Scope>,
}

/// The kind of a [`Credential`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CredentialKind {
    /// An API key.
    ApiKey,
    /// A JSON Web Token.
    Token,
}

/// A credential's own quota, which replaces the configured one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OwnQuota {
    /// Requests per second. **Default: as configured for all**
    pub per_second: Option<NonZeroU32>,
    /// Requests per day. **Default: as configured for all**
    pub per_day: Option<NonZeroU32>,
}

impl Credential {
    /// Returns the credential's own quota; `None` if the configured quota applies, as for every token.
    #[must_use]
    pub fn quota(&self) -> Option<OwnQuota> {
        self.quota
    }

    /// Whether the credential grants the scope; [`Scope::Admin`] grants all.
    #[must_use]
    pub fn allows(&self, scope: Scope) -> bool {
        self.scopes.iter().any(|&own| own == scope || own == Scope::Admin)
    }
}
