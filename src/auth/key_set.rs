use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use jsonwebtoken::DecodingKey;
use jsonwebtoken::jwk::Jwk;
use ring::digest::{SHA256, digest};
use rocket::tokio::sync::Notify;
use rocket::tokio::task::spawn_blocking;
use rocket::tokio::time;
use serde::Deserialize;
use serde_json::Value;

use super::algorithm::PublicAlgorithm;
use super::jwks_url::{JwksUrl, NotFetched};
use super::public_key;

/// How often the file is checked.
const ROUND: Duration = Duration::from_secs(1);
/// The largest size of the file; a set of a hundred keys has a tenth of it.
const LARGEST: u64 = 1 << 20;

/// How often keys are fetched, and how soon again after a token with an unknown key.
const REFRESH: Duration = Duration::from_mins(10);
const SOONEST: Duration = Duration::from_mins(1);
/// How long fetched keys stay in force if they cannot be fetched again.
const IN_FORCE: Duration = Duration::from_hours(24);

/// The public keys in a file or at an address (RFC 7517 §5). They may change at any time, so that keys can be rotated.
#[derive(Debug)]
pub(super) struct KeySet {
    source: Source,
    algorithm: PublicAlgorithm,
    keys: ArcSwap<Keys>,
    /// Notified when a token names a key that is not in the set.
    wanted: Notify,
}

#[derive(Debug)]
enum Source {
    File(PathBuf),
    Address(JwksUrl),
}

/// The keys of a set for one algorithm, with their ids.
#[derive(Debug)]
struct Keys(Vec<(Option<String>, Arc<DecodingKey>)>);

/// Why a file is not a usable set of keys.
#[derive(Debug, thiserror::Error)]
pub(super) enum BrokenSet {
    #[error(transparent)]
    NotFetched(#[from] NotFetched),
    #[error("{} cannot be read: {source}", .path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{} is larger than a mebibyte", .0.display())]
    TooLarge(PathBuf),
    #[error("{from} is no JSON Web Key Set, {{\"keys\":[…]}}: {source}")]
    NoSet { from: String, source: serde_json::Error },
    #[error("{from} has two keys with the kid {kid:?}")]
    Ambiguous { from: String, kid: String },
    #[error("{} has no key for {algorithm:?}", .path.display())]
    NoKey { path: PathBuf, algorithm: PublicAlgorithm },
}

impl KeySet {
    /// Reads the file, which must have a key for the algorithm.
    pub(super) fn open(path: &Path, algorithm: PublicAlgorithm) -> Result<Self, BrokenSet> {
        let path = path.to_owned();
        let keys = Keys::parse(&path.display().to_string(), &contents(&path)?, algorithm)?;
        if keys.0.is_empty() {
            return Err(BrokenSet::NoKey { path, algorithm });
        }
        Ok(Self {
            source: Source::File(path),
            algorithm,
            keys: ArcSwap::from_pointee(keys),
            wanted: Notify::new(),
        })
    }

    /// Makes a set without keys, which [`watch`](Self::watch) fetches: a server starts while the issuer is away.
    pub(super) fn at(address: JwksUrl, algorithm: PublicAlgorithm) -> Self {
        let keys = ArcSwap::from_pointee(Keys(Vec::new()));
        Self { source: Source::Address(address), algorithm, keys, wanted: Notify::new() }
    }

    /// Returns the key with this id; without an id, the only key in the set.
    pub(super) fn choose(&self, kid: Option<&str>) -> Option<Arc<DecodingKey>> {
        let keys = self.keys.load();
        let chosen = match (kid, &*keys.0) {
            (None, [(_, only)]) => Some(only),
            (None, _) => None,
            (Some(kid), keys) => keys.iter().find(|(of, _)| of.as_deref() == Some(kid)).map(|(_, key)| key),
        };
        if chosen.is_none() {
            self.wanted.notify_one();
        }
        chosen.cloned()
    }

    /// Reads the keys again whenever the file has changed, or fetches them again; never ends.
    pub(super) async fn watch(self: Arc<Self>) {
        match &self.source {
            Source::File(path) => Arc::clone(&self).watch_file(path).await,
            Source::Address(address) => self.refetch(address).await,
        }
    }

    /// Fetches the keys every ten minutes, and within a minute of a token with an unknown key. While they cannot be fetched, the
    /// last ones stay in force for a day.
    async fn refetch(&self, address: &JwksUrl) {
        let mut last: Option<Instant> = None;
        loop {
            let fetched = address.fetch().await;
            let now = Instant::now();
            if self.apply(address, fetched, last.map(|last| now.duration_since(last))) {
                last = Some(now);
            }
            time::sleep(SOONEST).await;
            // Without keys there is no reason to wait.
            if last.is_some() {
                let _ = time::timeout(REFRESH.saturating_sub(SOONEST), self.wanted.notified()).await;
            }
        }
    }

    /// Applies what was fetched; returns whether it was a set. `age` is how long ago the keys were fetched, if ever.
    fn apply(&self, address: &JwksUrl, fetched: Result<Vec<u8>, NotFetched>, age: Option<Duration>) -> bool {
        let parsed = fetched.map_err(BrokenSet::from);
        match parsed.and_then(|text| Keys::parse(address.as_str(), &text, self.algorithm)) {
            Ok(keys) => {
                if keys.0.is_empty() {
                    tracing::warn!("siaga.auth.jwt.jwks_url has no keys: no token is accepted");
                }
                self.keys.store(Arc::new(keys));
                true
            }
            Err(error) if age.is_some_and(|age| age < IN_FORCE) => {
                tracing::warn!("siaga.auth.jwt.jwks_url: the last keys stay in force: {error}");
                false
            }
            Err(error) => {
                tracing::error!("siaga.auth.jwt.jwks_url: no token is accepted: {error}");
                self.keys.store(Arc::new(Keys(Vec::new())));
                false
            }
        }
    }

    /// Reads the keys again whenever the file has changed; never ends.
    ///
    /// If the file is not a set of keys, the keys stay as they were, and the error is logged. If it is a set without a key for
    /// the algorithm, it is applied: then no token is accepted any more.
    async fn watch_file(self: Arc<Self>, path: &Path) {
        let mut seen = None;
        loop {
            let (set, path, before) = (Arc::clone(&self), path.to_owned(), seen.take());
            // After a panic, too, the keys stay as they were.
            seen = spawn_blocking(move || set.look(&path, before)).await.ok();
            time::sleep(ROUND).await;
        }
    }

    /// Checks the file; returns its content in the form that the next call needs.
    ///
    /// The file is read each time and compared by its digest, because it can change without a change of its modification time.
    fn look(&self, path: &Path, before: Option<Seen>) -> Seen {
        let read = contents(path);
        let seen = match &read {
            Ok(text) => digest(&SHA256, text).as_ref().to_vec(),
            Err(error) => error.to_string().into_bytes(),
        };
        if before.as_ref() == Some(&seen) {
            return seen;
        }
        match read.and_then(|text| Keys::parse(&path.display().to_string(), &text, self.algorithm)) {
            Ok(keys) => {
                if keys.0.is_empty() {
                    tracing::warn!("siaga.auth.jwt.jwks has no keys: no token is accepted");
                } else if before.is_some() {
                    tracing::info!(keys = keys.0.len(), "siaga.auth.jwt.jwks was read again");
                }
                self.keys.store(Arc::new(keys));
            }
            Err(error) => tracing::error!("siaga.auth.jwt.jwks stays as it was: {error}"),
        }
        seen
    }
}

/// The digest of the file's content, or the error of reading it.
type Seen = Vec<u8>;

impl Keys {
    /// Reads the keys of a set for one algorithm. Other keys are ignored, as RFC 7517 §5 says.
    fn parse(from: &str, text: &[u8], algorithm: PublicAlgorithm) -> Result<Self, BrokenSet> {
        #[derive(Deserialize)]
        struct Set {
            keys: Vec<Value>,
        }

        let set: Set = serde_json::from_slice(text)
            .map_err(|source| BrokenSet::NoSet { from: from.to_owned(), source })?;
        let mut keys: Vec<(Option<String>, Arc<DecodingKey>)> = Vec::new();
        for key in set.keys {
            let Ok(jwk) = Jwk::deserialize(key) else { continue };
            let Ok(key) = public_key::from_jwk(&jwk, algorithm) else { continue };
            let kid = jwk.common.key_id;
            if kid.is_some() && keys.iter().any(|(known, _)| *known == kid) {
                return Err(BrokenSet::Ambiguous { from: from.to_owned(), kid: kid.unwrap_or_default() });
            }
            keys.push((kid, Arc::new(key)));
        }
        Ok(Self(keys))
    }
}

fn contents(path: &Path) -> Result<Vec<u8>, BrokenSet> {
    let mut text = Vec::new();
    let mut read = || {
        // Opening a named pipe would block until another program writes to it.
        if !fs::metadata(path)?.is_file() {
            return Err(io::Error::other("it is not a regular file"));
        }
        File::open(path)?.take(LARGEST + 1).read_to_end(&mut text)
    };
    let unreadable = |source| BrokenSet::Unreadable { path: path.to_owned(), source };
    read().map_err(unreadable)?;
    if text.len() as u64 > LARGEST { Err(BrokenSet::TooLarge(path.to_owned())) } else { Ok(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A set of one key of Ed25519.
    fn set(kid: &str) -> Vec<u8> {
        let x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
        serde_json::json!({ "keys": [{ "kty": "OKP", "crv": "Ed25519", "x": x, "kid": kid }] })
            .to_string()
            .into()
    }

    #[test]
    fn fetched_keys_stay_in_force_for_a_day() {
        let address: JwksUrl = "https://id.example/jwks.json".parse().unwrap();
        let keys = KeySet::at(address.clone(), PublicAlgorithm::EdDSA);
        let has = |kid| keys.choose(Some(kid)).is_some();
        let broken = || Ok(b"<html>".to_vec());
        assert!(!has("a"), "nothing was fetched yet");
        assert!(!keys.apply(&address, Err(NotFetched::TooLarge), None) && !has("a"));
        assert!(keys.apply(&address, Ok(set("a")), None) && has("a"));
        assert!(!keys.apply(&address, Err(NotFetched::TooLarge), Some(IN_FORCE / 2)) && has("a"));
        assert!(!keys.apply(&address, broken(), Some(IN_FORCE / 2)) && has("a"));
        assert!(!keys.apply(&address, broken(), Some(IN_FORCE)) && !has("a"), "a day later");
        assert!(keys.apply(&address, Ok(set("b")), Some(IN_FORCE)) && has("b") && !has("a"));
    }
}
