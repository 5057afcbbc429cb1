//! The key by which push services know this service (RFC 8292, VAPID).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::json;

use super::encryption::{EncryptionError, decode, encode};
use crate::model::Timestamp;
use crate::stores::{Store, StoreError};

/// The name of the stored key among the states of webhooks.
const NAME: &str = "*push key";
/// A token is sent for half of its validity. The standard allows a day.
const VALID_FOR: Duration = Duration::from_hours(12);

/// Signs a token for each push service.
pub(crate) struct VapidKey {
    pair: EcdsaKeyPair,
    /// The `sub` of the tokens: how push services reach the operator.
    contact: String,
    /// The token of each service, and when another one is signed.
    tokens: Mutex<HashMap<String, (String, Timestamp)>>,
}

impl VapidKey {
    fn new(pkcs8: &[u8], contact: &str) -> Option<Self> {
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8, &SystemRandom::new());
        Some(Self { pair: pair.ok()?, contact: contact.to_owned(), tokens: Mutex::default() })
    }

    /// Returns the stored key. Stores a new one if the store has none.
    pub(crate) async fn load(store: &dyn Store, contact: &str) -> Result<Self, StoreError> {
        let failed = |reason: &str| StoreError::Backend { source: reason.into() };
        loop {
            if let Some(stored) = store.webhook_states().await?.remove(NAME) {
                let key = decode::<PKCS8>(&stored.text).and_then(|pkcs8| Self::new(&pkcs8, contact));
                return key.ok_or_else(|| failed("the stored key for push messages is not readable"));
            }
            let new = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
            let new = new.map_err(|_| failed("the system has no random numbers"))?;
            store.put_webhook_state(NAME, 0, &encode(new.as_ref())).await?;
        }
    }

    /// Returns the public key in base64url.
    pub(crate) fn public_key(&self) -> String {
        encode(self.pair.public_key().as_ref())
    }

    /// Returns the header `Authorization` for the push service with this origin.
    pub(crate) fn authorization(&self, origin: &str, now: Timestamp) -> Result<String, EncryptionError> {
        let mut tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((token, until)) = tokens.get(origin)
            && now < *until
        {
            return Ok(token.clone());
        }
        let seconds = |at: Timestamp| at.to_utc().timestamp();
        let expires = seconds(now.saturating_add(VALID_FOR));
        let claims = json!({ "aud": origin, "exp": expires, "sub": self.contact }).to_string();
        let signed =
            [r#"{"typ":"JWT","alg":"ES256"}"#, &claims].map(|part| encode(part.as_bytes())).join(".");
        let signature =
            self.pair.sign(&SystemRandom::new(), signed.as_bytes()).map_err(|_| EncryptionError)?;
        let token = format!("vapid t={signed}.{}, k={}", encode(signature.as_ref()), self.public_key());
        tokens.retain(|_, (_, until)| now < *until);
        tokens.insert(origin.to_owned(), (token.clone(), now.saturating_add(VALID_FOR / 2)));
        Ok(token)
    }
}

/// The length of a key that `ring` generates.
const PKCS8: usize = 138;
