//! Operations of the command line on webhooks. Servers may keep running.

use std::collections::BTreeMap;
use std::time::Duration;

use super::checkpoint::Checkpoint;
use super::event::Event;
use super::lease::NAME;
use super::payload_template::PayloadTemplate;
use super::retry::Outcome;
use super::transport::http_client;
use crate::config::{Config, ConfigError, EventKind, WebhookSettings};
use crate::model::{AreaSelector, DisasterType, ReportKey, Timestamp};
use crate::schema::resources::Sample;
use crate::stores::{ReportQuery, Store, StoreError, Window};

pub(crate) async fn checkpoints(store: &dyn Store) -> Result<BTreeMap<String, Checkpoint>, StoreError> {
    let mut states = store.webhook_states().await?;
    // Other states begin with a star: the lease, and those of push messages.
    states.retain(|name, _| !name.starts_with('*'));
    Ok(states.into_iter().map(|(name, state)| (name, Checkpoint::read(&state.text))).collect())
}

/// Changes a checkpoint. The server that sends reads it again within 5 s.
pub(crate) async fn update_checkpoint(
    store: &dyn Store,
    name: &str,
    change: impl Fn(&mut Checkpoint),
) -> Result<(), StoreError> {
    let updated = |text: Option<&str>| {
        let mut checkpoint = text.map(Checkpoint::read).unwrap_or_default();
        change(&mut checkpoint);
        Some(checkpoint.text())
    };
    replace_state(store, name, updated).await?;
    invalidate_lease(store).await
}

/// Makes the server that sends read all checkpoints again.
pub(crate) async fn invalidate_lease(store: &dyn Store) -> Result<(), StoreError> {
    // Writes the lease unchanged: the new version invalidates it.
    replace_state(store, NAME, |lease| lease.map(str::to_owned)).await
}

/// Replaces the state with this name by `new(old)`, unless `new` returns `None`. Tries again if another writer changed the state.
pub(crate) async fn replace_state(
    store: &dyn Store,
    name: &str,
    new: impl Fn(Option<&str>) -> Option<String>,
) -> Result<(), StoreError> {
    loop {
        let state = store.webhook_states().await?.remove(name);
        let Some(text) = new(state.as_ref().map(|state| &*state.text)) else { return Ok(()) };
        if store.put_webhook_state(name, state.map_or(0, |state| state.version), &text).await? {
            return Ok(());
        }
    }
}

/// Makes a webhook send its events of the period `last` again. Returns `false` if there are no reports to send.
pub(crate) async fn replay(
    store: &dyn Store,
    name: &str,
    kind: EventKind,
    last: Duration,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let first = match kind {
        EventKind::Report => first_report(store, last).await?,
        _ => None,
    };
    if kind == EventKind::Report && first.is_none() {
        return Ok(false);
    }
    update_checkpoint(store, name, |checkpoint| checkpoint.seek(kind, first, now.saturating_sub(last)))
        .await
        .map(|()| true)
}

/// Returns the oldest report of the period `last`, including trainings and reports about preparedness.
async fn first_report(store: &dyn Store, last: Duration) -> Result<Option<ReportKey>, StoreError> {
    let mut first = None;
    for disaster in [None, Some(DisasterType::Prep)] {
        let (selector, window) = (AreaSelector::default(), Window::Last(last));
        let query = ReportQuery { selector, disaster, training: true, window };
        let reports = store.reports(&query).await?.value.reports;
        first = reports.iter().map(|report| report.key).chain(first).min();
    }
    Ok(first)
}

/// Makes all webhooks skip what an import has added: reports, changes of flood states, or both.
pub(crate) async fn skip_imported(
    store: &dyn Store,
    added: &[EventKind],
    now: Timestamp,
) -> Result<(), StoreError> {
    let last = store.reports_from(None, 1).await?.first().map_or(0, |last| last.key.number());
    let next = ReportKey::try_from(last + 1).ok();
    for name in checkpoints(store).await?.keys() {
        let skip = |checkpoint: &mut Checkpoint| {
            for kind in added {
                if checkpoint.is_initialized(*kind) {
                    checkpoint.seek(*kind, next, now);
                }
            }
        };
        update_checkpoint(store, name, skip).await?;
    }
    Ok(())
}

pub(crate) async fn send_test(
    name: &str,
    settings: &WebhookSettings,
    config: &Config,
    now: Timestamp,
) -> Result<Outcome, ConfigError> {
    let invalid = |reason: String| ConfigError::new(&format!("siaga.webhooks.{name}"), reason);
    let template = PayloadTemplate::new(name, settings, config, now)?;
    let client = http_client(settings.private).map_err(|error| invalid(error.to_string()))?;
    let event = Event::sample(name, settings, Sample::Plain, now);
    let request = template.render(&event, now).map_err(|error| invalid(error.to_string()))?;
    Ok(client.send(request).await)
}
