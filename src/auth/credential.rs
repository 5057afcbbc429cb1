use std::fmt;
use std::num::NonZeroU32;

use super::Scope;
use crate::model::{AreaLimit, AreaRule};

/// The verified identity of a caller, and its grants.
///
/// `kind` and `subject` together identify the holder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    /// API key, token or login.
    pub kind: CredentialKind,
    /// The name of the API key, the `sub` of the token, or `oidc:` with the `sub` of the person.
    pub subject: String,
    pub(super) quota: Option<OwnQuota>,
    pub(super) grants: Vec<Grant>,
}

/// Scopes, and the areas in which they apply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The scopes.
    pub scopes: Vec<Scope>,
    /// The areas; `None` for all areas.
    pub areas: Option<AreaRule>,
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scopes: Vec<_> = self.scopes.iter().map(|scope| scope.name()).collect();
        write!(f, "{} in ", scopes.join(" "))?;
        match &self.areas {
            Some(areas) => areas.fmt(f),
            None => f.write_str("all areas"),
        }
    }
}

/// The kind of a [`Credential`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CredentialKind {
    /// An API key.
    ApiKey,
    /// A JSON Web Token.
    Token,
    /// A login with OpenID Connect.
    Login,
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
        self.grants_of(scope).next().is_some()
    }

    /// Returns the areas in which the credential grants the scope: those of all grants with this scope or [`Scope::Admin`].
    /// [`Scope::Admin`] does not lift a limit. Without such a grant, there is no area in the limit.
    #[must_use]
    pub fn limit(&self, scope: Scope) -> AreaLimit {
        let rules: Option<Vec<_>> = self.grants_of(scope).map(|grant| grant.areas.clone()).collect();
        rules.map_or(AreaLimit::Everywhere, |rules| AreaLimit::Within(rules.into()))
    }

    fn grants_of(&self, scope: Scope) -> impl Iterator<Item = &Grant> {
        let has_scope = move |own: &Scope| *own == scope || *own == Scope::Admin;
        self.grants.iter().filter(move |grant| grant.scopes.iter().any(has_scope))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::PlaceNames;

    fn grant(scopes: &[Scope], parent: Option<&str>) -> Grant {
        let areas =
            parent.map(|name| AreaRule::new([vec![], vec![], vec![], vec![name.to_owned()]]).unwrap());
        Grant { scopes: scopes.to_vec(), areas }
    }

    #[test]
    fn grants_of_different_scopes_do_not_mix() {
        let grants = vec![
            grant(&[Scope::FloodsWrite], Some("TEBET")),
            grant(&[Scope::Admin], Some("GROGOL")),
            grant(&[Scope::ReportsModerate], None),
        ];
        let credential =
            Credential { kind: CredentialKind::Token, subject: "ana".to_owned(), quota: None, grants };
        let is_inside = |scope, parent| {
            let names = PlaceNames { parent: Some(parent), ..PlaceNames::default() };
            credential.limit(scope).contains(&names)
        };
        for (scope, tebet, grogol, menteng) in [
            (Scope::FloodsWrite, true, true, false),
            (Scope::ReportsModerate, true, true, true),
            (Scope::CardsWrite, false, true, false),
        ] {
            let inside = ["TEBET", "GROGOL", "MENTENG"].map(|parent| is_inside(scope, parent));
            assert_eq!(inside, [tebet, grogol, menteng], "{scope}");
        }
    }

    #[test]
    fn a_scope_that_is_not_granted_has_no_area() {
        let grants = vec![grant(&[Scope::CardsRead], None)];
        let credential =
            Credential { kind: CredentialKind::ApiKey, subject: "bot".to_owned(), quota: None, grants };
        assert!(!credential.allows(Scope::FloodsWrite));
        assert_eq!(credential.limit(Scope::FloodsWrite), AreaLimit::Within([].into()));
    }
}
