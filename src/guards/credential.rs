use std::marker::PhantomData;

use rocket::Request;
use rocket::request::{FromRequest, Outcome};

use super::Caller;
use crate::auth::{Credential, Scope};
use crate::http::error::Problem;
use crate::http::managed::guard;
use crate::openapi::{Interface, Operation, Part};

/// A caller whose credential grants a permission.
#[derive(Clone, Debug)]
pub struct Authorized<P> {
    /// The credential.
    pub credential: Credential,
    permission: PhantomData<P>,
}

#[derive(Clone, Debug)]
pub(crate) struct Authenticated(pub Credential);

/// A permission that a route can require.
pub trait Permission: Send + Sync + 'static {
    /// The scopes. A credential needs one of them.
    const SCOPES: &'static [Scope];
}

/// The permission to set and clear flood states.
#[derive(Clone, Copy, Debug)]
pub struct FloodsWrite;

/// The permission to read cards.
#[derive(Clone, Copy, Debug)]
pub struct CardsRead;

/// The permission to create cards and to send their reports.
#[derive(Clone, Copy, Debug)]
pub struct CardsWrite;

/// The permission to send reports of partners.
#[derive(Clone, Copy, Debug)]
pub struct FeedsWrite;

/// The permission to send readings of gauges.
#[derive(Clone, Copy, Debug)]
pub struct GaugesWrite;

/// The permission to mute gauges. With `floods:write`, the credential must have no limit of areas, which the action checks.
#[derive(Clone, Copy, Debug)]
pub struct GaugesMute;

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

impl Permission for GaugesMute {
    const SCOPES: &'static [Scope] = &[Scope::GaugesWrite, Scope::FloodsWrite];
}

impl Permission for ReportsModerate {
    const SCOPES: &'static [Scope] = &[Scope::ReportsModerate];
}

impl Part for Authenticated {
    fn describe(operation: &mut Operation, _: &Interface<'_>) {
        operation.any_credential();
    }
}

impl<P: Permission> Part for Authorized<P> {
    fn describe(operation: &mut Operation, _: &Interface<'_>) {
        let scopes: Vec<_> = P::SCOPES.iter().map(|scope| scope.name()).collect();
        operation.credential(&scopes);
    }
}

guard!(Authenticated, |request| Caller::for_request(request).clone().and_then(Self::require));

impl Authenticated {
    pub(super) fn require(Caller(credential): Caller) -> Result<Self, Problem> {
        credential.map(Self).ok_or_else(|| Problem::unauthorized("no credential", None))
    }
}

#[rocket::async_trait]
impl<'r, P: Permission> FromRequest<'r> for Authorized<P> {
    type Error = Problem;

    async fn from_request(request: &'r Request<'_>) -> Outcome<Self, Problem> {
        let authorized =
            Caller::for_request(request).clone().and_then(Authenticated::require).and_then(Self::require);
        Problem::outcome(request, authorized)
    }
}

impl<P: Permission> Authorized<P> {
    pub(super) fn require(Authenticated(credential): Authenticated) -> Result<Self, Problem> {
        if !P::SCOPES.iter().any(|&scope| credential.allows(scope)) {
            let needed: Vec<_> = P::SCOPES.iter().map(|scope| scope.name()).collect();
            let reason = format!("missing scope: needs one of [{}]", needed.join(", "));
            return Err(Problem::forbidden(reason, Some(&credential.subject)));
        }
        Ok(Self { credential, permission: PhantomData })
    }
}
