use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use jsonwebtoken::DecodingKey;
use jsonwebtoken::jwk::Jwk;
use ring::digest::{SHA256, digest};
use rocket::tokio::task::spawn_blocking;
use rocket::tokio::time;
use serde::Deserialize;
use serde_json::Value;

use super::algorithm::PublicAlgorithm;
use super::public_key;

/// How often the file is checked.
const ROUND: Duration = Duration::from_secs(1);
/// The largest size of the file; a set of a hundred keys has a tenth of it.
const LARGEST: u64 = 1 << 20;

/// The public keys in a file (RFC 7517 §5). The file may change at any time, so that keys can be rotated.
#[derive(Debug)]
pub(super) struct KeySet {
    path: PathBuf,
    algorithm: PublicAlgorithm,
    keys: ArcSwap<Keys>,
}

/// The keys of a set for one algorithm, with their ids.
#[derive(Debug)]
struct Keys(Vec<(Option<String>, Arc<DecodingKey>)>);

/// Why a file is not a usable set of keys.
#[derive(Debug, thiserror::Error)]
pub(super) enum BrokenSet {
    #[error("{} cannot be read: {source}", .path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{} is larger than a mebibyte", .0.display())]
    TooLarge(PathBuf),
    #[error("{} is no JSON Web Key Set, {{\"keys\":[…]}}: {source}", .path.display())]
    NoSet { path: PathBuf, source: serde_json::Error },
    #[error("{} has two keys with the kid {kid:?}", .path.display())]
    Ambiguous { path: PathBuf, kid: String },
    #[error("{} has no key for {algorithm:?}", .path.display())]
    NoKey { path: PathBuf, algorithm: PublicAlgorithm },
}

impl KeySet {
    /// Reads the file, which must have a key for the algorithm.
    pub(super) fn open(path: &Path, algorithm: PublicAlgorithm) -> Result<Self, BrokenSet> {
        let path = path.to_owned();
        let keys = Keys::parse(&path, &contents(&path)?, algorithm)?;
        if keys.0.is_empty() {
            return Err(BrokenSet::NoKey { path, algorithm });
        }
        Ok(Self { path, algorithm, keys: ArcSwap::from_pointee(keys) })
    }

    /// Returns the key with this id; without an id, the only key in the set.
    pub(super) fn choose(&self, kid: Option<&str>) -> Option<Arc<DecodingKey>> {
        let keys = self.keys.load();
        let chosen = match (kid, &*keys.0) {
            (None, [(_, only)]) => Some(only),
            (None, _) => None,
            (Some(kid), keys) => keys.iter().find(|(of, _)| of.as_deref() == Some(kid)).map(|(_, key)| key),
        };
        chosen.cloned()
    }

    /// Reads the keys again whenever the file has changed; never ends.
    ///
    /// If the file is not a set of keys, the keys stay as they were, and the error is logged. If it is a set without a key for
    /// the algorithm, it is applied: then no token is accepted any more.
    pub(super) async fn watch(self: Arc<Self>) {
        let mut seen = None;
        loop {
            let (set, before) = (Arc::clone(&self), seen.take());
            // After a panic, too, the keys stay as they were.
            seen = spawn_blocking(move || set.look(before)).await.ok();
            time::sleep(ROUND).await;
        }
    }

    /// Checks the file; returns its content in the form that the next call needs.
    ///
    /// The file is read each time and compared by its digest, because it can change without a change of its modification time.
    fn look(&self, before: Option<Seen>) -> Seen {
        let read = contents(&self.path);
        let seen = match &read {
            Ok(text) => digest(&SHA256, text).as_ref().to_vec(),
            Err(error) => error.to_string().into_bytes(),
        };
        if before.as_ref() == Some(&seen) {
            return seen;
        }
        match read.and_then(|text| Keys::parse(&self.path, &text, self.algorithm)) {
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
    fn parse(path: &Path, text: &[u8], algorithm: PublicAlgorithm) -> Result<Self, BrokenSet> {
        #[derive(Deserialize)]
        struct Set {
            keys: Vec<Value>,
        }

        let set: Set = serde_json::from_slice(text)
            .map_err(|source| BrokenSet::NoSet { path: path.to_owned(), source })?;
        let mut keys: Vec<(Option<String>, Arc<DecodingKey>)> = Vec::new();
        for key in set.keys {
            let Ok(jwk) = Jwk::deserialize(key) else { continue };
            let Ok(key) = public_key::from_jwk(&jwk, algorithm) else { continue };
            let kid = jwk.common.key_id;
            if kid.is_some() && keys.iter().any(|(known, _)| *known == kid) {
                return Err(BrokenSet::Ambiguous { path: path.to_owned(), kid: kid.unwrap_or_default() });
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
