use reqwest::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use url::Url;

use super::encryption::EncryptionError;
use super::flood_map::FloodMap;
use super::message::Message;
use super::subscription::Subscription;
use super::vapid::VapidKey;
use super::{PushError, RETRY_AFTER, Shared};
use crate::config::Method;
use crate::stores::StoreError;
use crate::webhooks::{Outcome, Request};

impl Shared {
    /// Sends the first message of a subscription. Fails unless its push service accepts it.
    pub(super) async fn confirm(
        &self,
        endpoint: &str,
        subscription: &Subscription,
        map: &FloodMap,
    ) -> Result<(), PushError> {
        let writer = self.writer(&subscription.language);
        // In an exercise, phones get no messages about changes.
        let message = if self.is_actual { writer.welcome(subscription, map) } else { writer.trial() };
        self.send_confirmed(endpoint, subscription, &message).await
    }

    /// Sends a message for which a client waits. Fails unless the push service accepts it.
    pub(super) async fn send_confirmed(
        &self,
        endpoint: &str,
        subscription: &Subscription,
        message: &Message,
    ) -> Result<(), PushError> {
        let busy = |reason: &str| PushError::Busy(RETRY_AFTER, reason.to_owned());
        let host = Url::parse(endpoint).ok().and_then(|url| Some(url.host_str()?.to_owned()));
        let service = host.as_deref().and_then(|host| self.settings.service(host));
        let permits = service.and_then(|service| self.confirming.get(service));
        let permit = permits.and_then(|permits| permits.try_acquire().ok());
        let _permit = permit.ok_or_else(|| busy("many phones subscribe now"))?;
        match self.send(endpoint, subscription, message).await? {
            Outcome::Response { status: 200..=299, .. } => Ok(()),
            Outcome::Response { status: 404 | 410, .. } => Err(PushError::Ended),
            Outcome::Response { status, .. } if status < 500 && status != 429 => {
                let must = format!("must accept messages; its push service responded {status}");
                Err(PushError::Field("endpoint", must))
            }
            Outcome::Response { status, .. } => Err(busy(&format!("the push service responded {status}"))),
            Outcome::Failed(reason) => {
                tracing::debug!("a push service did not accept a message: {reason}");
                Err(busy("the push service does not respond"))
            }
        }
    }

    pub(super) async fn send(
        &self,
        endpoint: &str,
        subscription: &Subscription,
        message: &Message,
    ) -> Result<Outcome, StoreError> {
        let key = self.key().await?;
        Ok(match self.request(endpoint, subscription, message, key) {
            Ok(request) => self.transport.send(request).await,
            Err(error) => Outcome::Failed(error.to_string()),
        })
    }

    /// Creates the request that sends a message to a push service (RFC 8030, section 5).
    fn request(
        &self,
        endpoint: &str,
        subscription: &Subscription,
        message: &Message,
        key: &VapidKey,
    ) -> Result<Request, EncryptionError> {
        let url = Url::parse(endpoint).map_err(|_| EncryptionError)?;
        let keys = subscription.keys().ok_or(EncryptionError)?;
        let body = (self.encrypt)(&keys, message.payload.to_string().as_bytes())?;
        let authorization = key.authorization(&url.origin().ascii_serialization(), self.clock.now())?;
        let ttl = message.ttl.as_secs().to_string();
        let values = [
            (AUTHORIZATION, &*authorization),
            (CONTENT_TYPE, "application/octet-stream"),
            (CONTENT_ENCODING, "aes128gcm"),
            (HeaderName::from_static("ttl"), &ttl),
            (HeaderName::from_static("urgency"), if message.is_urgent { "high" } else { "normal" }),
            (HeaderName::from_static("topic"), message.payload["tag"].as_str().unwrap_or_default()),
        ];
        let mut headers = HeaderMap::new();
        for (name, value) in values {
            headers.insert(name, HeaderValue::from_str(value).map_err(|_| EncryptionError)?);
        }
        Ok(Request { method: Method::Post, url, headers, body })
    }
}
