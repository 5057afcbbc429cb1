//! What commands do with calls, while servers may run.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::client::{HttpClient, Post as _};
use super::composer::Composer;
use super::event::Event;
use super::lease::NAME;
use super::progress::Progress;
use super::reachable::SystemLookup;
use super::retry::Outcome;
use crate::config::{CallSettings, Config, ConfigError, EventKind};
use crate::model::{AreaSelector, DisasterType, ReportKey, Timestamp};
use crate::resources::Sample;
use crate::stores::{ReportQuery, Store, StoreError, Window};

/// Returns how far each call has come.
///
/// # Errors
///
/// Those of the store.
pub(crate) async fn progress(store: &dyn Store) -> Result<BTreeMap<String, Progress>, StoreError> {
    let mut kept = store.kept_calls().await?;
    kept.remove(NAME);
    Ok(kept.into_iter().map(|(name, kept)| (name, Progress::read(&kept.text))).collect())
}

/// Changes how far a call has come. The server that sends reads it again within 5 s.
///
/// # Errors
///
/// Those of the store.
pub(crate) async fn change(
    store: &dyn Store,
    name: &str,
    change: impl Fn(&mut Progress),
) -> Result<(), StoreError> {
    loop {
        let kept = store.kept_calls().await?.remove(name);
        let (version, text) = kept.map_or_else(Default::default, |kept| (kept.version, kept.text));
        let mut progress = Progress::read(&text);
        change(&mut progress);
        if store.keep_call(name, version, &progress.text()).await? {
            break;
        }
    }
    disturb(store).await
}

/// Makes the server that sends read the progress of all calls again: its lease stays, but has another version.
async fn disturb(store: &dyn Store) -> Result<(), StoreError> {
    while let Some(lease) = store.kept_calls().await?.remove(NAME) {
        if store.keep_call(NAME, lease.version, &lease.text).await? {
            break;
        }
    }
    Ok(())
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
    change(store, name, |progress| progress.go_to(kind, first, now.before(last))).await.map(|()| true)
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
    for name in progress(store).await?.keys() {
        let pass = |progress: &mut Progress| {
            for kind in added {
                if progress.has_begun(*kind) {
                    progress.go_to(*kind, next, now);
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
    settings: &CallSettings,
    config: &Config,
    now: Timestamp,
) -> Result<Outcome, ConfigError> {
    let wrong = |reason: String| ConfigError::new(&format!("siaga.calls.{name}"), reason);
    let composer = Composer::new(name, settings, config, now)?;
    let client = HttpClient::new(settings.private, SystemLookup).map_err(|error| wrong(error.to_string()))?;
    let event = Event::sample(name, settings.on, settings.personal, Sample::Plain, now);
    let request = composer.compose(&event, now).map_err(|error| wrong(error.to_string()))?;
    Ok(Arc::new(client).post(request).await)
}
