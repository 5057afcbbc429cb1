use std::marker::PhantomData;

use rocket::Request;
use rocket::request::{FromRequest, Outcome};

use super::managed;
use crate::auth::{Authenticator, Credential, Refused, Scope};
use crate::error::Problem;
use crate::fairings::Subject;
use crate::openapi::{Interface, Operation, Part};

/// The sender of a request: with a valid credential, or without any.
///
/// An invalid credential is refused on public routes too, so that the client learns early that it is wrong.
#[derive(Clone, Debug)]
pub struct Caller(pub Option<Credential>);

/// A caller whose credential grants a permission.
#[derive(Clone, Debug)]
pub struct Authorized<P> {
    /// The credential.
    pub credential: Credential,
    permission: PhantomData<P>,
}

/// A caller with a valid credential, whatever it allows.
#[derive(Clone, Debug)]
pub(crate) struct Identified(pub Credential);

/// A permission that a route can require.
pub trait Permission: Send + Sync + 'static {
    /// A credential needs one of these scopes.
    const SCOPES: &'static [Scope];
}

/// The permission to set and clear flood states.
#[derive(Clone, Copy, Debug)]
pub struct FloodsWrite;

/// The permission to read cards.
#[derive(Clone, Copy, Debug)]
pub struct CardsRead;

/// The permission to make cards and to send their reports.
#[derive(Clone, Copy, Debug)]
pub struct CardsWrite;

/// The permission to send reports of partners.
#[derive(Clone, Copy, Debug)]
pub struct FeedsWrite;

/// The permission to send readings of gauges.
#[derive(Clone, Copy, Debug)]
pub struct GaugesWrite;

/// The permission to hide reports and to show them again.
#[derive(Clone, Copy, Debug)]
pub struct ReportsModerate;

impl Permission for FloodsWrite {
    const SCOPES: &'static [Scope] = &[Scope::FloodsWrite];
}

impl Permission for CardsRead {
    const SCOPES: &'static [Scope] = &[Scope::CardsRead, Scope::CardsWrite];
}

impl Permission for CardsWrite {
    const SCOPES: &'static [Scope] = &[Scope::CardsWrite];
}

impl Permission for FeedsWrite {
    const SCOPES: &'static [Scope] = &[Scope::FeedsWrite];
}

impl Permission for GaugesWrite {
    const SCOPES: &'static [Scope] = &[Scope::GaugesWrite];
}

impl Permission for ReportsModerate {
    const SCOPES: &'static [Scope] = &[Scope::ReportsModerate];
}

guard!(Caller, |request| Self::of(request).clone());

impl Part for Caller {
    fn describe(operation: &mut Operation, _: &Interface<'_>) {
        operation.takes_credential(&[]);
    }
}

impl Part for Identified {
    fn describe(operation: &mut Operation, _: &Interface<'_>) {
        operation.requires_credential();
    }
}

impl<P: Permission> Part for Authorized<P> {
    fn describe(operation: &mut Operation, _: &Interface<'_>) {
        let scopes: Vec<_> = P::SCOPES.iter().map(|scope| scope.name()).collect();
        operation.takes_credential(&scopes);
    }
}

impl Caller {
    /// Returns the sender of this request, or why its credential is refused. The credential is verified at the first call.
    pub(crate) fn of<'r>(request: &'r Request<'_>) -> &'r Result<Self, Problem> {
        request.local_cache(|| {
            let credential = managed(request).and_then(|known| credential(request, known))?;
            if let Some(credential) = &credential {
                Subject::note(request, &credential.subject);
            }
            Ok(Self(credential))
        })
    }
}

guard!(Identified, |request| Caller::of(request).clone().and_then(Self::of));

impl Identified {
    pub(super) fn of(Caller(credential): Caller) -> Result<Self, Problem> {
        credential.map(Self).ok_or_else(|| Problem::unauthorized("no credential", None))
    }
}

#[rocket::async_trait]
impl<'r, P: Permission> FromRequest<'r> for Authorized<P> {
    type Error = Problem;

    async fn from_request(request: &'r Request<'_>) -> Outcome<Self, Problem> {
        let authorized = Caller::of(request).clone().and_then(Identified::of).and_then(Self::of);
        Problem::outcome(request, authorized)
    }
}

impl<P: Permission> Authorized<P> {
    pub(super) fn of(Identified(credential): Identified) -> Result<Self, Problem> {
        if !P::SCOPES.iter().any(|&scope| credential.allows(scope)) {
            let needed: Vec<_> = P::SCOPES.iter().map(|scope| scope.name()).collect();
            let reason = format!("missing scope: needs one of [{}]", needed.join(", "));
            return Err(Problem::forbidden(reason, Some(&credential.subject)));
        }
        Ok(Self { credential, permission: PhantomData })
    }
}

/// Returns the credential in the headers `Authorization` and `X-Api-Key`; `None` if they contain none.
fn credential(request: &Request<'_>, authenticator: &Authenticator) -> Result<Option<Credential>, Problem> {
    let bearer = only(request, "Authorization")?
        .filter(|value| !lacks_token(value))
        .map(|value| {
            bearer_token(value).ok_or_else(|| Problem::unauthorized("Authorization without Bearer", None))
        })
        .transpose()?;
    let key = only(request, "X-Api-Key")?;
    let credential = match (bearer, key) {
        (None, None) => return Ok(None),
        (Some(bearer), Some(key)) if bearer != key => {
            return Err(Problem::unauthorized("two different credentials", None));
        }
        (Some(token), _) => authenticator.token(token),
        (None, Some(key)) => authenticator.key_or_token(key),
    };
    let refused = |Refused { reason, credential }| Problem::unauthorized(reason, Some(&credential));
    credential.map(Some).map_err(refused)
}

/// Returns the value of a header that may be sent only once; `None` if it is absent or empty.
fn only<'r>(request: &'r Request<'_>, name: &str) -> Result<Option<&'r str>, Problem> {
    let mut values = request.headers().get(name);
    match (values.next(), values.next()) {
        (value, None) => Ok(value.map(str::trim).filter(|value| !value.is_empty())),
        _ => Err(Problem::unauthorized(format_args!("{name} is sent more than once"), None)),
    }
}

/// Returns whether the value is `Bearer` followed by what scripts send when they have no token.
fn lacks_token(value: &str) -> bool {
    let (scheme, token) = value.split_once(' ').unwrap_or((value, ""));
    scheme.eq_ignore_ascii_case("Bearer") && ["", "null", "undefined"].contains(&token.trim_start())
}

/// Returns the token of `Bearer <token>` (RFC 6750 §2.1); the scheme is case-insensitive (RFC 9110 §11.1).
pub(super) fn bearer_token(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("Bearer").then_some(token.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_follows_its_scheme() {
        for (value, expected) in [
            ("bearer  abc", Some("abc")),
            ("BEARER abc", Some("abc")),
            ("abc", None),
            ("Bearerabc def", None),
        ] {
            assert_eq!(bearer_token(value), expected, "{value}");
        }
    }
}
