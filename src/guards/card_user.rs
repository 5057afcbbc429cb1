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

/// The header with the token that permits sending a photo after the report of a card.
pub(crate) const PHOTO_TOKEN: &str = "X-Photo-Token";

/// The caller of a request about one card. The caller needs a credential that grants the permission `P`, unless `cards.open` is
/// set. Then the card's identifier alone is enough until the card has a report or `cards.open_for` has passed.
pub(crate) struct CardUser<P> {
    anonymous: Option<Anonymous>,
    permission: PhantomData<P>,
}

struct Anonymous {
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
        Problem::outcome(
            request,
            Self::for_request(request).and_then(|user| user.check_guesses().map(|()| user)),
        )
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
    /// Returns the caller. Call [`check_guesses`](Self::check_guesses) before reading a card.
    pub(crate) fn for_request(request: &Request<'_>) -> Result<Self, Problem> {
        let caller = Caller::for_request(request).clone()?;
        let config = managed::<Config>(request)?;
        if caller.0.is_some() || !config.cards.open {
            Authenticated::require(caller).and_then(Authorized::<P>::require)?;
            return Ok(Self { anonymous: None, permission: PhantomData });
        }
        let quotas = Arc::clone(managed::<Arc<Quotas>>(request)?);
        let anonymous = Anonymous {
            address: RequestInfo::for_request(request).client,
            photo_token: request.headers().get_one(PHOTO_TOKEN).map(str::to_owned),
            quotas,
            metrics: managed::<Metrics>(request)?.clone(),
            clock: Arc::clone(managed::<Arc<dyn Clock>>(request)?),
            config: config.clone(),
        };
        Ok(Self { anonymous: Some(anonymous), permission: PhantomData })
    }

    pub(crate) fn check_guesses(&self) -> Result<(), Problem> {
        let Some(Anonymous { address: Some(address), quotas, .. }) = &self.anonymous else { return Ok(()) };
        quotas.check_guess(*address).map_err(|too_many| Problem::too_many(too_many.retry_after))
    }

    pub(crate) fn has_credential(&self) -> bool {
        self.anonymous.is_none()
    }

    /// Returns the photo token, if the card still accepts it from a caller without a credential.
    pub(crate) fn photo_token(&self, card: &Card) -> Option<&str> {
        let anonymous = self.anonymous.as_ref()?;
        anonymous.photo_token.as_deref().filter(|_| anonymous.is_open(card))
    }

    /// Returns a card. For a caller without a credential, a card without a report is not found after `cards.open_for`, and each
    /// card that is not found counts as a guess of the caller's address.
    pub(crate) async fn card(&self, id: &CardId, store: &dyn Store) -> Result<Arc<Card>, StoreError> {
        let card = store.card(id).await;
        let Some(anonymous) = &self.anonymous else { return card };
        let card = match card {
            Ok(card) if card.report.is_none() && !anonymous.is_open(&card) => Err(StoreError::no_card(id)),
            card => card,
        };
        if matches!(card, Err(StoreError::NotFound { .. })) {
            anonymous.metrics.unknown_card();
            if let Some(address) = anonymous.address {
                anonymous.quotas.count_guess(address);
            }
        }
        card
    }
}

impl Anonymous {
    fn is_open(&self, card: &Card) -> bool {
        self.config.cards.is_open(card, self.clock.now())
    }
}
