//! What commands do with calls, while servers may run.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::checkpoint::Checkpoint;
use super::event::Event;
use super::lease::NAME;
use super::payload_template::PayloadTemplate;
use super::resolver::SystemLookup;
use super::retry::Outcome;
use super::transport::{HttpClient, Transport as _};
use crate::config::{Config, ConfigError, EventKind, WebhookSettings};
use crate::model::{AreaSelector, DisasterType, ReportKey, Timestamp};
use crate::schema::resources::Sample;
use crate::stores::{ReportQuery, Store, StoreError, Window};

/// Returns how far each call has come.
///
/// # Errors
///
/// Those of the store.
pub(crate) async fn checkpoints(store: &dyn Store) -> Result<BTreeMap<String, Checkpoint>, StoreError> {
    let mut kept = store.webhook_states().await?;
    kept.remove(NAME);
    Ok(kept.into_iter().map(|(name, kept)| (name, Checkpoint::read(&kept.text))).collect())
}

/// Changes how far a call has come. The server that sends reads it again within 5 s.
///
/// # Errors
///
/// Those of the store.
pub(crate) async fn change(
    store: &dyn Store,
    name: &str,
    change: impl Fn(&mut Checkpoint),
) -> Result<(), StoreError> {
    let changed = |text: Option<&str>| {
        let mut checkpoint = text.map(Checkpoint::read).unwrap_or_default();
        change(&mut checkpoint);
        Some(checkpoint.text())
    };
    replace(store, name, changed).await?;
    // The lease stays, but a new version makes the server that sends read all checkpoints again.
    replace(store, NAME, |lease| lease.map(str::to_owned)).await
}

/// Replaces what the store keeps under a name, unless there is nothing to keep.
async fn replace(
    store: &dyn Store,
    name: &str,
    new: impl Fn(Option<&str>) -> Option<String>,
) -> Result<(), StoreError> {
    loop {
        let kept = store.webhook_states().await?.remove(name);
        let Some(text) = new(kept.as_ref().map(|kept| &*kept.text)) else { return Ok(()) };
        if store.put_webhook_state(name, kept.map_or(0, |kept| kept.version), &text).await? {
            return Ok(());
        }
    }
}

/// Sends everything again that has happened in the last while. Returns `false` if there is nothing.
///
/// # Errors
///
/// Those of the store.
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
    change(store, name, |checkpoint| checkpoint.go_to(kind, first, now.before(last))).await.map(|()| true)
}

/// Returns the lowest key of the reports that were made in the last while.
async fn first_report(store: &dyn Store, last: Duration) -> Result<Option<ReportKey>, StoreError> {
    let mut first = None;
    for disaster in [None, Some(DisasterType::Prep)] {
        let (selector, window) = (AreaSelector::default(), Window::Last(last));
        let query = ReportQuery { selector, disaster, training: true, window };
        let found = store.reports(&query).await?.value.reports;
        first = found.iter().map(|report| report.key).chain(first).min();
    }
    Ok(first)
}

/// Lets all calls go on after what an import has added: reports, changes of flood states, or both.
///
/// # Errors
///
/// Those of the store.
pub(crate) async fn pass_import(
    store: &dyn Store,
    added: &[EventKind],
    now: Timestamp,
) -> Result<(), StoreError> {
    let last = store.reports_from(None, 1).await?.first().map_or(0, |last| last.key.number());
    let next = ReportKey::try_from(last + 1).ok();
    for name in checkpoints(store).await?.keys() {
        let pass = |checkpoint: &mut Checkpoint| {
            for kind in added {
                if checkpoint.has_begun(*kind) {
                    checkpoint.go_to(*kind, next, now);
                }
            }
        };
        change(store, name, pass).await?;
    }
    Ok(())
}

/// Sends a made-up event to the receiver of a call, once.
///
/// # Errors
///
/// If the call is wrong, or the system has no certificates.
pub(crate) async fn test(
    name: &str,
    settings: &WebhookSettings,
    config: &Config,
    now: Timestamp,
) -> Result<Outcome, ConfigError> {
    let wrong = |reason: String| ConfigError::new(&format!("siaga.calls.{name}"), reason);
    let composer = PayloadTemplate::new(name, settings, config, now)?;
    let client = HttpClient::new(settings.private, SystemLookup).map_err(|error| wrong(error.to_string()))?;
    let event = Event::sample(name, settings, Sample::Plain, now);
    let request = composer.compose(&event, now).map_err(|error| wrong(error.to_string()))?;
    Ok(Arc::new(client).post(request).await)
}
