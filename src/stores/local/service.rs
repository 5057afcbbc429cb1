//! The state of the service: unpublished images, API keys, sources and webhooks.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::{LocalStore, Row, State};
use crate::auth::Secret;
use crate::model::{CardId, Timestamp, Upload};
use crate::stores::service_state::{Keys, Uploads};
use crate::stores::{
    EndedLogin, ImageStore, KeyEntry, KeyStore, NewPushRecord, PushRecord, PushStore, PushUpdate, Revision,
    SourceStore, StoreError, StoredKey, TakenUpload, Versioned, WebhookState, WebhookStore,
};

impl State {
    fn image_row(&self, card: &CardId) -> Option<Row> {
        self.service.uploads.image(card).map(|image| Row::Image(card.clone(), image.clone()))
    }

    fn push_row(&self, id: u64) -> Option<Row> {
        self.service.push.find(id).map(Row::PushRecord)
    }
}

impl LocalStore {
    /// Expects an image for a card. With `early`, the card need not have its report yet.
    async fn expect(&self, card: &CardId, until: Timestamp, early: bool) -> Result<Upload, StoreError> {
        let card = card.clone();
        let write = self.write(move |state, rows, _| {
            state.reports.value.card(&card)?;
            let shown = match state.reports.value.by_card(&card) {
                Some((report, _)) => report.content.image_url.is_some(),
                None if early => false,
                None => return Err(StoreError::no_card_report(&card)),
            };
            let expected = if shown { None } else { state.service_mut().uploads.expect(&card, until) };
            rows.add(|| state.image_row(&card));
            expected.ok_or_else(|| StoreError::image_exists(&card))
        });
        write.await
    }

    /// Applies a change to the uploads, and writes the row of the card's image.
    async fn write_upload<T: Send + 'static>(
        &self,
        upload: &Upload,
        change: impl FnOnce(&mut Uploads, &Upload, Timestamp) -> T + Send + 'static,
    ) -> Result<T, StoreError> {
        let upload = upload.clone();
        let write = self.write(move |state, rows, now| {
            let changed = change(&mut state.service_mut().uploads, &upload, now);
            rows.add(|| state.image_row(&upload.card));
            Ok(changed)
        });
        write.await
    }

    /// Applies a change to the keys, and writes the keys with these names.
    async fn write_keys(
        &self,
        names: Vec<String>,
        change: impl FnOnce(&mut Keys, Timestamp) -> Result<(), StoreError> + Send + 'static,
    ) -> Result<(), StoreError> {
        let write = self.write(move |state, rows, now| {
            change(&mut state.service_mut().keys, now)?;
            rows.add(|| names.iter().filter_map(|name| state.service.keys.find(name)).cloned().map(Row::Key));
            Ok(())
        });
        write.await
    }
}

// All methods are implemented here, because the defaults would use a `ServiceState`, which this store does not have.
#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl ImageStore for LocalStore {
    async fn signing_key(&self, new: &Secret) -> Result<Secret, StoreError> {
        let new = new.clone();
        let write = self.write(move |state, rows, _| {
            if let Some(secret) = &state.service.signing_key {
                return Ok(secret.clone());
            }
            state.service_mut().signing_key = Some(new.clone());
            rows.add(|| [Row::SigningKey(new.clone())]);
            Ok(new)
        });
        write.await
    }

    /// Unlike the default, this method also works if the report is hidden.
    async fn expect_image(&self, card: &CardId, until: Timestamp) -> Result<Upload, StoreError> {
        self.expect(card, until, false).await
    }

    async fn expect_early_image(&self, card: &CardId, until: Timestamp) -> Result<Upload, StoreError> {
        self.expect(card, until, true).await
    }

    async fn has_upload(&self, card: &CardId) -> Result<bool, StoreError> {
        Ok(self.state().service.uploads.has_arrived(card))
    }

    async fn expected_upload(&self, card: &CardId) -> Result<Option<Upload>, StoreError> {
        Ok(self.state().service.uploads.expected(card))
    }

    async fn receive_upload(&self, upload: &Upload, object: &str) -> Result<bool, StoreError> {
        let object = object.to_owned();
        self.write_upload(upload, move |uploads, upload, now| uploads.receive(upload, &object, now)).await
    }

    async fn uploads_expected_until(&self) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.state().service.uploads.expected_until())
    }

    async fn uploads_waiting(&self) -> Result<u64, StoreError> {
        let state = self.state();
        Ok(state.service.uploads.waiting(|card| state.reports.value.by_card(card).is_some()))
    }

    async fn take_upload(&self, lease: Duration) -> Result<Option<TakenUpload>, StoreError> {
        // Servers poll this method, so it must not write while no upload waits.
        if self.uploads_waiting().await? == 0 {
            return Ok(None);
        }
        let write = self.write(move |state, rows, now| {
            let reports = Arc::clone(&state.reports.value);
            let is_ready = |card: &CardId| reports.by_card(card).is_some();
            let taken = state.service_mut().uploads.take(now, now.saturating_add(lease), is_ready);
            rows.add(|| taken.as_ref().and_then(|taken| state.image_row(&taken.upload.card)));
            Ok(taken)
        });
        write.await
    }

    async fn postpone_upload(&self, upload: &Upload, delay: Duration) -> Result<(), StoreError> {
        self.write_upload(upload, move |uploads, upload, now| {
            uploads.postpone(upload, now.saturating_add(delay));
        })
        .await
    }

    async fn refuse_upload(&self, upload: &Upload) -> Result<(), StoreError> {
        self.write_upload(upload, |uploads, upload, _| uploads.refuse(upload)).await
    }

    async fn publish_image(&self, upload: &Upload, image: &str) -> Result<bool, StoreError> {
        let (upload, image) = (upload.clone(), image.to_owned());
        let write = self.write(move |state, rows, now| {
            if !state.service.uploads.is_received(&upload) {
                return Ok(false);
            }
            let shown = state.show_image(&upload.card, &image, rows, now);
            // The card needs no further upload, because its report has an image now, from this call or an earlier one.
            state.service_mut().uploads.finish(&upload.card);
            rows.add(|| state.image_row(&upload.card));
            Ok(shown)
        });
        write.await
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl KeyStore for LocalStore {
    async fn create_key(&self, key: KeyEntry) -> Result<(), StoreError> {
        self.write_keys(vec![key.key.name.clone()], |keys, now| keys.create(key, now)).await
    }

    async fn keys(&self) -> Result<Versioned<Vec<StoredKey>>, StoreError> {
        Ok(self.state().service.keys.all())
    }

    async fn keys_revision(&self) -> Result<Revision, StoreError> {
        Ok(self.current.load().service.keys.revision())
    }

    async fn revoke_key(&self, name: &str) -> Result<(), StoreError> {
        let name = name.to_owned();
        self.write_keys(vec![name.clone()], move |keys, now| keys.revoke(&name, now)).await
    }

    async fn end_logins(&self, subject: &str) -> Result<(), StoreError> {
        let subject = subject.to_owned();
        let write = self.write(move |state, rows, now| {
            let ended = state.service_mut().keys.end_logins(&subject, now);
            rows.add(|| [Row::EndedLogin(ended)]);
            Ok(())
        });
        write.await
    }

    async fn ended_logins(&self) -> Result<Vec<EndedLogin>, StoreError> {
        Ok(self.state().service.keys.ended_logins(self.clock.now()))
    }

    async fn note_key_uses(&self, uses: &[(String, Timestamp)]) -> Result<(), StoreError> {
        if uses.is_empty() {
            return Ok(());
        }
        let (uses, names) = (uses.to_vec(), uses.iter().map(|(name, _)| name.clone()).collect());
        let write = self.write_keys(names, move |keys, _| {
            keys.note_uses(&uses);
            Ok(())
        });
        write.await
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl SourceStore for LocalStore {
    async fn heard(&self, source: &str, at: Timestamp) -> Result<(), StoreError> {
        if self.state().service.last_heard.get(source).is_some_and(|known| *known >= at) {
            return Ok(());
        }
        let source = source.to_owned();
        let write = self.write(move |state, rows, _| {
            let latest = state.service_mut().record_heard(&source, at);
            rows.add(|| [Row::Source(source, latest)]);
            Ok(())
        });
        write.await
    }

    async fn last_heard(&self) -> Result<BTreeMap<String, Timestamp>, StoreError> {
        Ok(self.state().service.last_heard.clone().into_iter().collect())
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl WebhookStore for LocalStore {
    async fn webhook_states(&self) -> Result<BTreeMap<String, WebhookState>, StoreError> {
        Ok(self.state().service.webhooks.clone().into_iter().collect())
    }

    async fn put_webhook_state(&self, name: &str, version: u64, text: &str) -> Result<bool, StoreError> {
        let (name, text) = (name.to_owned(), text.to_owned());
        let write = self.write(move |state, rows, _| {
            let stored = state.service_mut().put_webhook(&name, version, &text);
            rows.add(|| stored.clone().map(|stored| Row::Webhook(name, stored)));
            Ok(stored.is_some())
        });
        write.await
    }

    /// Returns an empty set, because each change becomes visible before the next one begins.
    async fn open_writes(&self) -> Result<BTreeSet<String>, StoreError> {
        Ok(BTreeSet::new())
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl PushStore for LocalStore {
    async fn put_push_record(&self, record: NewPushRecord, max: u64) -> Result<Option<u64>, StoreError> {
        let write = self.write(move |state, rows, _| {
            let id = state.service_mut().push.put(record, max);
            rows.add(|| id.and_then(|id| state.push_row(id)));
            Ok(id)
        });
        write.await
    }

    async fn push_record(&self, id: u64) -> Result<Option<PushRecord>, StoreError> {
        Ok(self.state().service.push.find(id))
    }

    async fn push_records(&self, after: u64, most: u32) -> Result<Vec<PushRecord>, StoreError> {
        Ok(self.state().service.push.page(after, most))
    }

    async fn due_push_records(
        &self,
        service: &str,
        until: Timestamp,
        most: u32,
    ) -> Result<Vec<PushRecord>, StoreError> {
        Ok(self.state().service.push.due(service, until, most))
    }

    async fn update_push_records(&self, updates: Vec<PushUpdate>) -> Result<Vec<u64>, StoreError> {
        let write = self.write(move |state, rows, _| {
            let updated = state.service_mut().push.update(updates);
            let row = |id: &u64| state.push_row(*id).unwrap_or(Row::RemovedPushRecord(*id));
            rows.add(|| updated.iter().map(row).collect::<Vec<_>>());
            Ok(updated)
        });
        write.await
    }

    async fn count_push_records(&self) -> Result<u64, StoreError> {
        Ok(self.state().service.push.len())
    }
}
