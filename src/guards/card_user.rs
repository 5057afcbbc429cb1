use std::marker::PhantomData;
use std::net::IpAddr;
use std::sync::Arc;

use rocket::Request;
use rocket::request::{FromRequest, Outcome};

use super::Caller;
use super::credential::{Authenticated, Authorized, Permission};
use super::managed;
use crate::config::Config;
use crate::http::error::Problem;
use crate::http::fairings::RequestInfo;
use crate::http::quotas::Quotas;
use crate::model::{Card, CardId, Clock};
use crate::openapi::{Interface, Operation, Part};
use crate::stores::{Store, StoreError};
use crate::telemetry::Metrics;

/// The header of the token with which the photo of a card can be sent after its report.
pub(crate) const PHOTO_TOKEN: &str = "X-Photo-Token";

/// The caller of a request about one card: with a credential that grants a permission, or, if `cards.open`, without any. Then
/// the identifier of the card is the permission, until the card has its report or `cards.open_for` has passed.
pub(crate) struct CardUser<P> {
    /// `None` for a caller with a credential.
    bearer: Option<Bearer>,
    permission: PhantomData<P>,
}

/// A caller who knows the identifier of a card, and has no credential.
struct Bearer {
    /// `None` if the request came without a connection.
    address: Option<IpAddr>,
    photo_token: Option<String>,
    quotas: Arc<Quotas>,
    metrics: Metrics,
    clock: Arc<dyn Clock>,
    config: Config,
}

#[rocket::async_trait]
impl<'r, P: Permission> FromRequest<'r> for CardUser<P> {
    type Error = Problem;

    async fn from_request(request: &'r Request<'_>) -> Outcome<Self, Problem> {
        Problem::outcome(request, Self::for_request(request).and_then(|user| user.admit().map(|()| user)))
    }
}

impl<P: Permission> Part for CardUser<P> {
    fn describe(operation: &mut Operation, interface: &Interface<'_>) {
        <Authorized<P> as Part>::describe(operation, interface);
        if interface.config.cards.open {
            operation.optional_credential();
        }
    }
}

impl<P: Permission> CardUser<P> {
    /// Returns the caller of a request, which must be [admitted](Self::admit) before it names a card.
    pub(crate) fn for_request(request: &Request<'_>) -> Result<Self, Problem> {
        let caller = Caller::for_request(request).clone()?;
        let config = managed::<Config>(request)?;
        if caller.0.is_some() || !config.cards.open {
            Authenticated::require(caller).and_then(Authorized::<P>::require)?;
            return Ok(Self { bearer: None, permission: PhantomData });
        }
        let quotas = Arc::clone(managed::<Arc<Quotas>>(request)?);
        let bearer = Bearer {
            address: RequestInfo::for_request(request).client,
            photo_token: request.headers().get_one(PHOTO_TOKEN).map(str::to_owned),
            quotas,
            metrics: managed::<Metrics>(request)?.clone(),
            clock: Arc::clone(managed::<Arc<dyn Clock>>(request)?),
            config: config.clone(),
        };
        Ok(Self { bearer: Some(bearer), permission: PhantomData })
    }

    /// Checks that an address without a credential may name a card.
    ///
    /// # Errors
    ///
    /// 429 if it has named too many unknown ones.
    pub(crate) fn admit(&self) -> Result<(), Problem> {
        let Some(Bearer { address: Some(address), quotas, .. }) = &self.bearer else { return Ok(()) };
        quotas.may_guess(*address).map_err(|too_many| Problem::too_many(too_many.retry_after))
    }

    pub(crate) fn has_credential(&self) -> bool {
        self.bearer.is_none()
    }

    /// Returns the token of the request's header, if the card of a caller without a credential still accepts it.
    pub(crate) fn photo_token(&self, card: &Card) -> Option<&str> {
        let bearer = self.bearer.as_ref()?;
        bearer.photo_token.as_deref().filter(|_| bearer.is_open(card))
    }

    /// Returns a card. For a caller without a credential, a card without a report whose time is over does not exist, and each
    /// card that does not exist is counted for the address.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`], [`StoreError::Unavailable`].
    pub(crate) async fn card(&self, id: &CardId, store: &dyn Store) -> Result<Arc<Card>, StoreError> {
        let found = store.card(id).await;
        let Some(bearer) = &self.bearer else { return found };
        let found = match found {
            Ok(card) if card.report.is_none() && !bearer.is_open(&card) => Err(StoreError::no_card(id)),
            found => found,
        };
        if matches!(found, Err(StoreError::NotFound { .. })) {
            bearer.metrics.unknown_card();
            if let Some(address) = bearer.address {
                bearer.quotas.guessed(address);
            }
        }
        found
    }
}

impl Bearer {
    fn is_open(&self, card: &Card) -> bool {
        self.config.cards.is_open(card, self.clock.now())
    }
}
