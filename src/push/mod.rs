//! Push messages to the phones of residents (Web Push: RFC 8030, 8291, 8292).
//!
//! A subscription is a record in the store. When states change, the [`fan_out`] marks the records of the changed areas as due, and the
//! [`sender`] of each push service sends what is due: the present state, so a message never waits in a queue. Both run on the server
//! that holds the lease of the webhooks. A push service that hangs delays only its own phones.

mod delivery;
mod encryption;
mod error;
mod fan_out;
mod flood_map;
mod message;
mod records;
mod sender;
mod subscription;
#[cfg(test)]
mod tests;
mod vapid;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use rocket::Request;
use rocket::futures::FutureExt;
use rocket::futures::future::BoxFuture;
use rocket::tokio::sync::{OnceCell, Semaphore};
use url::Url;

pub(crate) use self::error::PushError;
pub(crate) use self::fan_out::skip_imported;

use self::encryption::{BrowserKeys, EncryptionError};
use self::fan_out::FanOut;
use self::flood_map::FloodMap;
use self::message::Writer;
use self::records::MAX_ATTEMPTS;
use self::sender::Sender;
use self::subscription::Subscription;
use self::vapid::VapidKey;
use crate::auth::random;
use crate::config::{Config, Push as Settings};
use crate::data::country::{CountrySettings, Translations};
use crate::http::admission::PUSH_SECRET;
use crate::http::error::Problem;
use crate::http::managed::{guard, managed};
use crate::model::alerts::Status;
use crate::model::bodies::{PushAreas, PushBody};
use crate::model::{AreaId, Clock};
use crate::openapi::{Interface, Operation, Part};
use crate::stores::{FloodQuery, Store, StoreError};
use crate::telemetry::Metrics;
use crate::webhooks::{Lease, Transport, repeat};

/// The maximum number of requests to one push service at a time, each on a connection.
pub(crate) const CONNECTIONS: usize = 100;
/// The maximum number of first messages to one push service at a time, on this server.
const MAX_CONFIRMING: usize = 64;
/// The shortest time between two trials of a phone.
const TRIAL_INTERVAL: Duration = Duration::from_mins(1);
/// How long a client should wait after a push service did not respond, or too many phones subscribe.
const RETRY_AFTER: Duration = Duration::from_secs(10);
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// A new subscription.
#[derive(Debug)]
pub(crate) struct Subscribed {
    pub(crate) id: u64,
    pub(crate) secret: String,
    /// The chosen areas that exist; none if a larger area was chosen.
    pub(crate) areas: Vec<AreaId>,
}

/// Subscriptions of phones, and the messages to them.
#[derive(Clone)]
pub(crate) struct PushService(Arc<Shared>);

struct Shared {
    settings: Settings,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    country: CountrySettings,
    zone: chrono_tz::Tz,
    site: String,
    contact: String,
    /// Whether alerts are real. If not, phones get only first messages and trials.
    is_actual: bool,
    transport: Arc<dyn Transport>,
    key: OnceCell<VapidKey>,
    /// Permits for first messages and trials, for each push service.
    confirming: BTreeMap<String, Semaphore>,
    metrics: Metrics,
    /// Encrypts a message. Tests read it, because keys of `ring` decrypt one message only.
    encrypt: Encrypt,
}

type Encrypt = fn(&BrowserKeys, &[u8]) -> Result<Vec<u8>, EncryptionError>;

guard!(PushService, |request| Self::enabled(request));

impl Part for PushService {
    fn describe(operation: &mut Operation, _: &Interface<'_>) {
        operation.error(404, "The service sends no push messages.");
    }
}

impl PushService {
    fn enabled(request: &Request<'_>) -> Result<Self, Problem> {
        let service = managed::<Option<Self>>(request)?.clone();
        service.ok_or_else(|| Problem::not_found("push messages: the service sends none"))
    }

    pub(crate) fn new(
        config: &Config,
        store: &Arc<dyn Store>,
        clock: &Arc<dyn Clock>,
        metrics: &Metrics,
        transport: Arc<dyn Transport>,
    ) -> Self {
        let contact = config
            .alerts
            .contact
            .as_deref()
            .filter(|contact| contact.starts_with("mailto:") || contact.starts_with("https://"));
        Self(Arc::new(Shared {
            settings: config.push.clone(),
            store: Arc::clone(store),
            clock: Arc::clone(clock),
            country: config.country.clone(),
            zone: config.time_zone,
            site: config.site.name.clone(),
            contact: contact.unwrap_or_else(|| config.base_url.origin()).to_owned(),
            is_actual: config.issuer().status == Status::Actual,
            transport,
            key: OnceCell::new(),
            confirming: config
                .push
                .services
                .iter()
                .map(|host| (host.clone(), Semaphore::new(MAX_CONFIRMING)))
                .collect(),
            metrics: metrics.clone(),
            encrypt: BrowserKeys::encrypt,
        }))
    }

    /// Whether phones get messages about floods, not only trials.
    pub(crate) fn is_actual(&self) -> bool {
        self.0.is_actual
    }

    /// Returns the public key with which browsers subscribe.
    pub(crate) async fn public_key(&self) -> Result<String, StoreError> {
        Ok(self.0.key().await?.public_key())
    }

    /// Stores a subscription, if its push service accepts the first message, which `count` counts before.
    pub(crate) async fn subscribe(
        &self,
        body: &PushBody,
        count: impl FnOnce() -> Result<(), PushError>,
    ) -> Result<Subscribed, PushError> {
        let shared = &self.0;
        let secret =
            random::url_safe::<43>().map_err(|error| StoreError::Backend { source: error.into() })?;
        let secret = format!("{PUSH_SECRET}{secret}");
        let (service, map) = (shared.check(body)?, shared.map().await?);
        let subscription = shared.subscription(body, &secret, &map)?;
        if shared.store.count_push_records().await? >= u64::from(shared.settings.max) {
            return Err(PushError::Full);
        }
        count()?;
        shared.confirm(&body.endpoint, &subscription, &map).await?;
        let id = shared.put_new(body, service, &subscription, &map).await?;
        Ok(Subscribed { id, secret, areas: map.known(&body.areas) })
    }

    /// Replaces all of a subscription except its secret, and renews it. If the endpoint is another one, or messages to it fail, its push
    /// service must accept a first message, which `count` counts before. Removes the subscription if its push service has ended it.
    /// Returns which of its areas exist.
    pub(crate) async fn replace(
        &self,
        id: u64,
        secret: &str,
        body: &PushBody,
        count: impl FnOnce() -> Result<(), PushError>,
    ) -> Result<Vec<AreaId>, PushError> {
        let shared = &self.0;
        let (record, earlier) = shared.find(id, secret).await?;
        let service = shared.check(body)?;
        let map = shared.map().await?;
        let is_confirmed = record.content.endpoint != body.endpoint || earlier.failures > 0;
        if is_confirmed {
            let subscription = shared.subscription(body, secret, &map)?;
            count()?;
            let confirmed = shared.confirm(&body.endpoint, &subscription, &map).await;
            if matches!(confirmed, Err(PushError::Ended)) && record.content.endpoint == body.endpoint {
                shared.remove_ended(id, secret, &body.endpoint).await?;
            }
            confirmed?;
        }
        shared.put_replacement(id, secret, body, &service, &map, is_confirmed).await?;
        Ok(map.known(&body.areas))
    }

    /// Removes a subscription.
    pub(crate) async fn remove(&self, id: u64, secret: &str) -> Result<(), PushError> {
        for _ in 0..MAX_ATTEMPTS {
            let (record, _) = self.0.find(id, secret).await?;
            if self.0.put(record.removal()).await? {
                return Ok(());
            }
        }
        Err(PushError::contended())
    }

    /// Sends a message that says that it is a trial. Removes the subscription if its push service has ended it.
    pub(crate) async fn send_trial(&self, id: u64, secret: &str) -> Result<(), PushError> {
        let shared = &self.0;
        let (record, mut subscription) = shared.find(id, secret).await?;
        let now = shared.clock.now();
        let wait = TRIAL_INTERVAL.saturating_sub(now.saturating_duration_since(subscription.accepted));
        if !wait.is_zero() {
            return Err(PushError::TooMany(wait));
        }
        // Stored first, so that concurrent requests send one message.
        subscription.accepted = now;
        if !shared.put(subscription.update(&record, record.content.due)).await? {
            return Err(PushError::TooMany(TRIAL_INTERVAL));
        }
        let message = shared.writer(&subscription.language).trial();
        match shared.send_confirmed(&record.content.endpoint, &subscription, &message).await {
            Err(PushError::Ended) => {
                shared.remove_ended(id, secret, &record.content.endpoint).await?;
                Err(PushError::NotFound)
            }
            sent => sent,
        }
    }

    /// Returns the endless tasks that send messages about floods. They work only on the server that holds the lease.
    pub(crate) fn tasks(&self, lease: &Arc<Lease>) -> Vec<BoxFuture<'static, ()>> {
        let fan_out = FanOut::new(Arc::clone(&self.0), Arc::clone(lease));
        let senders = self.0.settings.services.iter();
        let senders = senders.map(|service| Sender::new(Arc::clone(&self.0), Arc::clone(lease), service));
        let senders = senders.map(|sender| repeat(sender).boxed());
        [repeat(fan_out).boxed()].into_iter().chain(senders).collect()
    }
}

impl Shared {
    async fn key(&self) -> Result<&VapidKey, StoreError> {
        self.key.get_or_try_init(|| VapidKey::load(&*self.store, &self.contact)).await
    }

    async fn map(&self) -> Result<FloodMap, StoreError> {
        Ok(FloodMap::new(&self.store.floods(&FloodQuery::default()).await?.value))
    }

    fn texts(&self, language: &str) -> &Translations {
        let country = self.country.data();
        country.language(language).unwrap_or_else(|| country.main())
    }

    fn writer(&self, language: &str) -> Writer<'_> {
        Writer { texts: self.texts(language), zone: self.zone, site: &self.site, now: self.clock.now() }
    }

    /// Returns the push service of the endpoint. Fails if the endpoint, the keys or the language are not allowed. Reads nothing.
    fn check(&self, body: &PushBody) -> Result<String, PushError> {
        if self.country.data().language(&body.language).is_none() {
            let languages = self.country.data().languages().iter().map(|texts| texts.code());
            let must = format!("must be one of [{}]", languages.collect::<Vec<_>>().join(", "));
            return Err(PushError::Field("language", must));
        }
        let refused = || {
            PushError::Field("endpoint", "must be an https address of a push service of a browser".to_owned())
        };
        let url = Url::parse(&body.endpoint).map_err(|_| refused())?;
        let is_plain = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
        let is_reachable = match url.scheme() {
            "https" => url.port().is_none() || self.settings.private,
            "http" => self.settings.private,
            _ => false,
        };
        let service = url.host_str().and_then(|host| self.settings.service(host));
        // A service stores the address as the browser wrote it.
        let is_same = url.as_str() == body.endpoint;
        let service =
            service.filter(|_| is_plain && is_same && is_reachable).map(str::to_owned).ok_or_else(refused)?;
        if BrowserKeys::decode(&body.p256dh, &body.auth).is_none() {
            let must = "must be the keys of the browser's subscription, in base64url".to_owned();
            return Err(PushError::Field("keys", must));
        }
        Ok(service)
    }

    /// Creates the subscription of a body. At least one of its areas must exist: others may have been split since the person chose them.
    fn subscription(&self, body: &PushBody, secret: &str, map: &FloodMap) -> Result<Subscription, PushError> {
        let subscription = Subscription::new(body, secret, map, self.clock.now());
        if map.selected(&subscription).next().is_some() {
            return Ok(subscription);
        }
        Err(match &body.areas {
            PushAreas::Areas(_) => PushError::Field("areas", "must have an area of this service".to_owned()),
            PushAreas::Parent { .. } => {
                PushError::Field("parent", "must be a larger area of this service and its city".to_owned())
            }
        })
    }
}
