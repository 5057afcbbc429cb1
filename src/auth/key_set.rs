use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use jsonwebtoken::DecodingKey;
use jsonwebtoken::jwk::Jwk;
use rocket::tokio::sync::Notify;
use rocket::tokio::time::{self, Instant};
use serde::Deserialize;
use serde_json::Value;

use super::algorithm::PublicAlgorithm;
use super::fetch::{FetchError, client, fetch};
use super::{SecureUrl, public_key};

/// How often keys are fetched, and the minimum interval after a token with an unknown key.
const REFRESH: Duration = Duration::from_mins(10);
const MIN_REFRESH: Duration = Duration::from_mins(1);
/// How long keys stay valid while they cannot be fetched again.
const MAX_AGE: Duration = Duration::from_hours(24);

/// A remote JSON Web Key Set (RFC 7517 §5). Keys can change at any time, so that the issuer can rotate them.
#[derive(Debug)]
pub(super) struct KeySet {
    address: SecureUrl,
    algorithm: PublicAlgorithm,
    keys: ArcSwap<Keys>,
    unknown_key: Notify,
}

#[derive(Debug)]
pub(super) struct Keys(Vec<(Option<String>, Arc<DecodingKey>)>);

#[derive(Debug, thiserror::Error)]
pub(super) enum InvalidKeySet {
    #[error("the keys could not be fetched: {0}")]
    Fetch(#[from] FetchError),
    #[error("it is no JSON Web Key Set, {{\"keys\":[…]}}: {0}")]
    Malformed(#[from] serde_json::Error),
    #[error("it has two keys with the kid {0:?}")]
    Ambiguous(String),
}

impl KeySet {
    /// Creates an empty set, which [`watch`](Self::watch) fills, so that a server can start while the issuer is unavailable.
    pub(super) fn new(address: SecureUrl, algorithm: PublicAlgorithm) -> Self {
        let keys = ArcSwap::from_pointee(Keys(Vec::new()));
        Self { address, algorithm, keys, unknown_key: Notify::new() }
    }

    pub(super) fn choose(&self, kid: Option<&str>) -> Option<Arc<DecodingKey>> {
        let key = self.keys.load().choose(kid);
        if key.is_none() {
            self.unknown_key.notify_one();
        }
        key
    }

    /// Fetches the keys every ten minutes, and within a minute of a token with an unknown key. If that fails, the last keys stay
    /// valid for a day. Never ends.
    pub(super) async fn watch(&self) {
        self.refetch(|| async { fetch(client(Vec::new())?.get(self.address.url().clone())).await }).await;
    }

    /// Fetches at the refresh interval; without keys or after an unknown `kid` earlier, but not before [`MIN_REFRESH`].
    async fn refetch<F: Future<Output = Result<Vec<u8>, FetchError>>>(&self, fetch: impl Fn() -> F) {
        let mut last: Option<Instant> = None;
        loop {
            let fetched = fetch().await;
            let now = Instant::now();
            if self.apply(fetched, last.map(|last| now.duration_since(last))) {
                last = Some(now);
            }
            time::sleep(MIN_REFRESH).await;
            if last.is_some() {
                let _ = time::timeout(REFRESH.saturating_sub(MIN_REFRESH), self.unknown_key.notified()).await;
            }
        }
    }

    /// Applies a fetched set; returns whether it was valid. `age` is the time since the last successful fetch, if any.
    fn apply(&self, fetched: Result<Vec<u8>, FetchError>, age: Option<Duration>) -> bool {
        let address = self.address.as_str();
        match fetched.map_err(InvalidKeySet::from).and_then(|text| Keys::parse(&text, self.algorithm)) {
            Ok(keys) => {
                if keys.0.is_empty() {
                    tracing::warn!("siaga.auth.jwt.jwks_url: {address} has no keys: no token is accepted");
                }
                self.keys.store(Arc::new(keys));
                true
            }
            Err(error) if age.is_some_and(|age| age < MAX_AGE) => {
                tracing::warn!("siaga.auth.jwt.jwks_url: {address}: the last keys stay in force: {error}");
                false
            }
            Err(error) => {
                tracing::error!("siaga.auth.jwt.jwks_url: {address}: no token is accepted: {error}");
                self.keys.store(Arc::new(Keys(Vec::new())));
                false
            }
        }
    }
}

impl Keys {
    /// Parses the keys for one algorithm. Keys for other algorithms are ignored (RFC 7517 §5).
    pub(super) fn parse(text: &[u8], algorithm: PublicAlgorithm) -> Result<Self, InvalidKeySet> {
        #[derive(Deserialize)]
        struct Set {
            keys: Vec<Value>,
        }

        let set: Set = serde_json::from_slice(text)?;
        let mut keys: Vec<(Option<String>, Arc<DecodingKey>)> = Vec::new();
        for key in set.keys {
            let Ok(jwk) = Jwk::deserialize(key) else { continue };
            let Ok(key) = public_key::from_jwk(&jwk, algorithm) else { continue };
            let kid = jwk.common.key_id;
            if kid.is_some() && keys.iter().any(|(known, _)| *known == kid) {
                return Err(InvalidKeySet::Ambiguous(kid.unwrap_or_default()));
            }
            keys.push((kid, Arc::new(key)));
        }
        Ok(Self(keys))
    }

    /// Returns the key with this id; without an id, the only key.
    pub(super) fn choose(&self, kid: Option<&str>) -> Option<Arc<DecodingKey>> {
        let key = match (kid, &*self.0) {
            (None, [(_, only)]) => Some(only),
            (None, _) => None,
            (Some(kid), keys) => keys.iter().find(|(id, _)| id.as_deref() == Some(kid)).map(|(_, key)| key),
        };
        key.cloned()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::future::ready;

    use super::*;

    fn key_set() -> KeySet {
        KeySet::new("https://id.example/jwks.json".parse().unwrap(), PublicAlgorithm::EdDSA)
    }

    fn set(kids: &[&str]) -> Vec<u8> {
        let x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
        let key = |kid| serde_json::json!({ "kty": "OKP", "crv": "Ed25519", "x": x, "kid": kid });
        let keys: Vec<_> = kids.iter().map(key).collect();
        serde_json::json!({ "keys": keys }).to_string().into()
    }

    #[test]
    fn fetched_keys_stay_valid_for_a_day() {
        let keys = key_set();
        let has = |kid| keys.choose(Some(kid)).is_some();
        let half = Some(MAX_AGE / 2);
        assert!(!has("a"), "nothing was fetched yet");
        assert!(!keys.apply(Err(FetchError::TooLarge), None) && !has("a"));
        assert!(keys.apply(Ok(set(&["a"])), None) && has("a"));
        assert!(!keys.apply(Err(FetchError::TooLarge), half) && has("a"));
        for broken in ["", "{\"keys\":[", "{}", "[]", "{\"keys\":{}}", "<html>"] {
            assert!(!keys.apply(Ok(broken.into()), half) && has("a"), "{broken}");
        }
        assert!(!keys.apply(Ok(set(&["b", "b"])), half) && has("a"), "two keys with one kid");
        assert!(!keys.apply(Ok(b"<html>".to_vec()), Some(MAX_AGE)) && !has("a"), "a day later");
        assert!(keys.apply(Ok(set(&["b"])), Some(MAX_AGE)) && has("b") && !has("a"));
        assert!(keys.apply(Ok(set(&[])), half) && !has("b"), "the issuer withdrew all keys");
    }

    #[rocket::tokio::test(start_paused = true)]
    async fn keys_are_fetched_every_ten_minutes_and_within_a_minute_of_a_token_with_an_unknown_one() {
        let (keys, start, fetched) = (key_set(), Instant::now(), Cell::new(0));
        let fetch = || {
            fetched.set(start.elapsed().as_secs());
            ready(Ok(set(&["a"])))
        };
        let tokens = async {
            for (second, expected, kid) in [
                (599, 0, "a"),
                (601, 600, "a"),
                (930, 600, "b"),
                (931, 930, "b"),
                (989, 930, "a"),
                (991, 990, "a"),
                (1_589, 990, "a"),
                (1_591, 1_590, "a"),
            ] {
                time::sleep_until(start + Duration::from_secs(second)).await;
                assert_eq!(fetched.get(), expected, "in second {second}");
                assert_eq!(keys.choose(Some(kid)).is_some(), kid == "a");
            }
        };
        rocket::tokio::select! {
            () = keys.refetch(fetch) => {}
            () = tokens => {}
        }
    }
}
