//! API keys, and when sources were last heard.

use std::collections::BTreeMap;

use async_trait::async_trait;
use futures::FutureExt;

use super::FileStore;
use super::tables::Row;
use crate::model::Timestamp;
use crate::stores::{KeptKey, KeyEntry, KeyStore, Revision, SourceStore, StoreError, Versioned};

// The default of a missing method would work on a `ServiceState`, which this store does not have.
#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl KeyStore for FileStore {
    async fn create_key(&self, key: KeyEntry) -> Result<(), StoreError> {
        let change = self.journal.write(|next, rows| {
            let creating = async move {
                let name = key.key.name.clone();
                next.create_key(key).await?;
                rows.extend(next.service().key(&name).map(Row::Key));
                Ok(())
            };
            creating.boxed()
        });
        change.await
    }

    async fn keys(&self) -> Result<Versioned<Vec<KeptKey>>, StoreError> {
        self.current().keys().await
    }

    async fn keys_revision(&self) -> Result<Revision, StoreError> {
        self.current().keys_revision().await
    }

    async fn revoke_key(&self, name: &str) -> Result<(), StoreError> {
        let name = name.to_owned();
        let change = self.journal.write(|next, rows| {
            let revoking = async move {
                next.revoke_key(&name).await?;
                rows.extend(next.service().key(&name).map(Row::Key));
                Ok(())
            };
            revoking.boxed()
        });
        change.await
    }

    async fn note_key_uses(&self, uses: &[(String, Timestamp)]) -> Result<(), StoreError> {
        if uses.is_empty() {
            return Ok(());
        }
        let uses = uses.to_vec();
        let change = self.journal.write(|next, rows| {
            let noting = async move {
                next.note_key_uses(&uses).await?;
                rows.extend(uses.iter().filter_map(|(name, _)| next.service().key(name)).map(Row::Key));
                Ok(())
            };
            noting.boxed()
        });
        change.await
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl SourceStore for FileStore {
    async fn heard(&self, source: &str, at: Timestamp) -> Result<(), StoreError> {
        if self.current().last_heard().await?.get(source).is_some_and(|known| *known >= at) {
            return Ok(());
        }
        let source = source.to_owned();
        let change = self.journal.write(move |next, rows| {
            let hearing = async move {
                next.heard(&source, at).await?;
                let latest = next.last_heard().await?.get(&source).copied();
                rows.extend(latest.map(|latest| Row::Source(source, latest)));
                Ok(())
            };
            hearing.boxed()
        });
        change.await
    }

    async fn last_heard(&self) -> Result<BTreeMap<String, Timestamp>, StoreError> {
        self.current().last_heard().await
    }
}
