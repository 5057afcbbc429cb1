//! Subscriptions of phones to push messages about areas.

use std::net::IpAddr;
use std::sync::Arc;

use rocket::serde::json::json;
use rocket::{Request, delete, get, post, put};

use crate::config::Config;
use crate::described;
use crate::guards::{Caller, JsonBody, PathParam};
use crate::http::admission::{PUSH_SECRET, bearer_token};
use crate::http::error::{Problem, Source};
use crate::http::fairings::RequestInfo;
use crate::http::managed::{guard, managed};
use crate::http::quotas::HourlyLimiter;
use crate::model::bodies::read_push_subscription;
use crate::openapi::{Described, Interface, Operation, Part};
use crate::push::{PushError, PushService, Subscribed};
use crate::rendering::ApiResponse;
use crate::schema::{annotate, area_id, array, object, reference, text};

pub(super) fn routes() -> Vec<Described> {
    let done = || object(json!({}));
    let known = json!({ "description": "The chosen areas that exist; none if a larger area was chosen." });
    let areas = || annotate(array(area_id()), known.clone());
    vec![
        described!(find_push_key)
            .summary("The public key with which browsers subscribe (VAPID)")
            .result(object(json!({
                "publicKey": text("An uncompressed point on P-256, in base64url."),
                "actual": { "type": "boolean", "description": "Whether alerts are real. If not, phones get only trials." },
            }))),
        described!(create_push_subscription)
            .summary("Subscribes a phone to push messages about areas, if its push service accepts a first message")
            .body(|_| reference("PushSubscription"))
            .result(object(json!({
                "id": { "type": "integer", "minimum": 1, "description": "The subscription." },
                "secret": text("Changes and ends the subscription, as a bearer token. Shown this once."),
                "areas": areas(),
            })))
            .error(409, "There are as many subscriptions as the service allows."),
        described!(replace_push_subscription)
            .summary("Replaces and renews a subscription; its secret stays")
            .body(|_| reference("PushSubscription"))
            .result(object(json!({ "areas": areas() }))),
        described!(remove_push_subscription).summary("Ends a subscription").result(done()),
        described!(send_push_trial)
            .summary("Sends a message that says that it is a trial, at most once a minute")
            .result(done()),
    ]
}

/// The number of a subscription.
#[derive(Clone, Copy, Debug)]
pub(super) struct SubscriptionId(u64);

impl crate::guards::PathParameter for SubscriptionId {
    const NAME: &'static str = "id";
    const DESCRIPTION: &'static str = "The subscription.";
    const MISSING: Option<&'static str> =
        Some("There is no such subscription, or the secret is not its own.");

    fn schema() -> serde_json::Value {
        json!({ "type": "integer", "minimum": 1, "maximum": i64::MAX, "examples": [1] })
    }

    fn parse(text: &str) -> Result<Self, String> {
        let number = text.parse().ok().filter(|number| (1..=i64::MAX.cast_unsigned()).contains(number));
        number.map(Self).ok_or_else(|| "must be a whole number from 1".to_owned())
    }
}

/// The secret of a subscription, as a bearer token; empty without one.
#[derive(Clone, Debug)]
pub(super) struct SubscriptionSecret(String);

guard!(SubscriptionSecret, |request| Ok(Self::read(request)));

impl SubscriptionSecret {
    fn read(request: &Request<'_>) -> Self {
        let header = request.headers().get_one("Authorization").and_then(bearer_token);
        Self(header.filter(|secret| secret.starts_with(PUSH_SECRET)).unwrap_or_default().to_owned())
    }
}

impl Part for SubscriptionSecret {
    fn describe(operation: &mut Operation, _: &Interface<'_>) {
        operation.subscription_secret();
    }
}

/// Counts the first messages that an address causes, so that a stranger cannot use up the subscriptions or keep others from subscribing.
pub(super) struct Subscriber {
    limits: SubscribeLimits,
    client: Option<IpAddr>,
}

guard!(Subscriber, |request| Self::read(request));

impl Part for Subscriber {
    fn describe(_: &mut Operation, _: &Interface<'_>) {}
}

impl Subscriber {
    fn read(request: &Request<'_>) -> Result<Self, Problem> {
        let limits = managed::<SubscribeLimits>(request)?.clone();
        Ok(Self { limits, client: RequestInfo::for_request(request).client })
    }

    fn count(&self) -> Result<(), PushError> {
        let counted = self.limits.0.count_address(self.client);
        counted.map_err(|too_many| PushError::TooMany(too_many.retry_after))
    }
}

/// The number of first messages of each address.
#[derive(Clone)]
pub(crate) struct SubscribeLimits(Arc<HourlyLimiter>);

impl SubscribeLimits {
    pub(crate) fn new(config: &Config) -> Self {
        Self(Arc::new(HourlyLimiter::new(config.push.per_address)))
    }
}

impl From<PushError> for Problem {
    fn from(error: PushError) -> Self {
        match error {
            PushError::Field(key, must) => Self::invalid(Source::Body, key, must),
            PushError::Ended => Self::invalid(Source::Body, "endpoint", error.to_string()),
            PushError::NotFound => Self::not_found("this subscription"),
            PushError::Full => Self::conflict("there are as many subscriptions as this service allows"),
            PushError::Busy(retry_after, reason) => Self::busy(retry_after, reason.into()),
            PushError::TooMany(retry_after) => Self::too_many(retry_after),
            PushError::Store(error) => error.into(),
        }
    }
}

#[get("/push/key")]
pub(super) async fn find_push_key(_caller: Caller, push: PushService) -> Result<ApiResponse, Problem> {
    ApiResponse::private_result(&json!({ "publicKey": push.public_key().await?, "actual": push.is_actual() }))
}

#[post("/push/subscriptions", data = "<body>")]
pub(super) async fn create_push_subscription(
    _caller: Caller,
    push: PushService,
    subscriber: Subscriber,
    body: JsonBody,
) -> Result<ApiResponse, Problem> {
    let body = read_push_subscription(&body.0).map_err(|faults| Problem::faults(&faults))?;
    let Subscribed { id, secret, areas } = push.subscribe(&body, || subscriber.count()).await?;
    ApiResponse::private_result(&json!({ "id": id, "secret": secret, "areas": areas }))
}

#[put("/push/subscriptions/<id>", data = "<body>")]
pub(super) async fn replace_push_subscription(
    _caller: Caller,
    push: PushService,
    id: PathParam<SubscriptionId>,
    secret: SubscriptionSecret,
    subscriber: Subscriber,
    body: JsonBody,
) -> Result<ApiResponse, Problem> {
    let body = read_push_subscription(&body.0).map_err(|faults| Problem::faults(&faults))?;
    let areas = push.replace(id.get()?.0, &secret.0, &body, || subscriber.count()).await?;
    ApiResponse::private_result(&json!({ "areas": areas }))
}

#[delete("/push/subscriptions/<id>")]
pub(super) async fn remove_push_subscription(
    _caller: Caller,
    push: PushService,
    id: PathParam<SubscriptionId>,
    secret: SubscriptionSecret,
) -> Result<ApiResponse, Problem> {
    push.remove(id.get()?.0, &secret.0).await?;
    ApiResponse::private_result(&json!({}))
}

#[post("/push/subscriptions/<id>/trial")]
pub(super) async fn send_push_trial(
    _caller: Caller,
    push: PushService,
    id: PathParam<SubscriptionId>,
    secret: SubscriptionSecret,
) -> Result<ApiResponse, Problem> {
    push.send_trial(id.get()?.0, &secret.0).await?;
    ApiResponse::private_result(&json!({}))
}
