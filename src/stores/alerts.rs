use std::sync::Arc;
use std::time::Duration;

use super::{EntryQuery, FloodQuery, Resource, Store, StoreError, Versioned};
use crate::model::alerts::{
    Exercise, Message, MessageInForce, MessageKey, find, horizon, in_force, log_window_start,
    log_window_start_in_force, messages,
};
use crate::model::{AlertLayer, AreaId, AreaSelector, AreaSet, Timestamp, Validity};

const DAY: Duration = Duration::from_hours(24);

/// The maximum number of messages on a page of a history.
const PAGE: usize = 1000;

/// How far back the first read for a page goes. Usually enough: 1,000 messages about one continuous flood take 208 days.
const RECENT: Duration = Duration::from_hours(24 * 300);

/// Which alert messages to return.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AlertQuery {
    /// The messages in force about the selected areas, ordered by `area_id`. A minimum state leaves out messages about a lower
    /// state; for a `Cancel` message, the state that has ended counts.
    InForce(FloodQuery),
    /// The message in force of the exercise: an imaginary flood in each hour, for testing alert hubs.
    Exercise,
    /// One message.
    One(AreaId, MessageKey),
    /// At most 1,000 messages about an area, newest first: the newest ones or, with a key, those before that message.
    History(AreaId, Option<MessageKey>),
}

impl AlertQuery {
    /// Returns the messages that are shown at `now`, derived from the flood log of the store. Fails with [`StoreError::NotFound`]
    /// if the requested message does not exist, or the area of a history.
    pub(crate) async fn run(
        &self,
        store: &dyn Store,
        now: Timestamp,
    ) -> Result<Versioned<AlertLayer>, StoreError> {
        match self {
            Self::InForce(query) => messages_in_force(store, query, now).await,
            Self::Exercise => exercise(store, now).await,
            Self::One(area, key) => single_message(store, *area, *key, now).await,
            Self::History(area, before) => history(store, *area, *before, now).await,
        }
    }
}

/// Returns the areas. Read them after the log: the result has the revision of the log, so its areas must not be older.
async fn areas(store: &dyn Store) -> Result<Arc<AreaSet>, StoreError> {
    Ok(Arc::clone(store.places().await?.value.areas()))
}

pub(crate) fn entries_in_force(query: &FloodQuery, now: Timestamp) -> EntryQuery {
    let selector = query.selector.clone();
    EntryQuery { selector, area: None, from: log_window_start_in_force(now), until: Timestamp::LAST }
}

async fn messages_in_force(
    store: &dyn Store,
    query: &FloodQuery,
    now: Timestamp,
) -> Result<Versioned<AlertLayer>, StoreError> {
    let entries = entries_in_force(query, now);
    let log = store.flood_entries(&entries).await?;
    let areas = areas(store).await?;
    let (mut shown, mut newest, mut ends) = (Vec::new(), None, Timestamp::LAST);
    for (area, entries) in &log.value {
        let Some(position) = areas.position(*area).filter(|&at| query.selector.matches(&areas[at])) else {
            continue;
        };
        let MessageInForce { message, changed, until } = in_force(entries, now);
        newest = newest.max(changed);
        ends = ends.min(until);
        let is_high_enough = |state| query.minimum_state.is_none_or(|minimum| state >= minimum);
        shown.extend(
            message.filter(|message| is_high_enough(message.state)).map(|message| (position, message)),
        );
    }
    let (changed, until) = last_changed(newest, now, ends);
    let layer = AlertLayer::new(areas, shown).changed(changed).at(query.path("alerts"));
    Ok(log.map(|_| layer).within(Validity::Between { from: now, until }))
}

async fn exercise(store: &dyn Store, now: Timestamp) -> Result<Versioned<AlertLayer>, StoreError> {
    let MessageInForce { message, changed, until } = Exercise::in_force(now);
    let messages = message.into_iter().map(|message| (0, message)).collect();
    let layer = AlertLayer::new(Arc::new(Exercise::area().into()), messages).into_exercise();
    let layer = layer.changed(changed.unwrap_or(now.floor_to_hour())).at("alerts/exercise".to_owned());
    let revision = store.revision(Resource::Floods).await?;
    Ok(Versioned::new(revision, layer).within(Validity::Between { from: now, until }))
}

async fn single_message(
    store: &dyn Store,
    area: AreaId,
    key: MessageKey,
    now: Timestamp,
) -> Result<Versioned<AlertLayer>, StoreError> {
    let not_found = || StoreError::NotFound { what: "this alert".to_owned() };
    if area == AreaId::EXERCISE {
        let message = Exercise::find(key, now).ok_or_else(not_found)?;
        let layer = AlertLayer::new(Arc::new(Exercise::area().into()), vec![(0, message)]).into_exercise();
        return Ok(Versioned::new(store.revision(Resource::Floods).await?, layer));
    }
    let due = key.due().ok_or_else(not_found)?;
    let query = EntryQuery {
        selector: AreaSelector::default(),
        area: Some(area),
        from: log_window_start(due),
        until: due,
    };
    let log = store.flood_entries(&query).await?;
    let entries = log.value.first().map(|(_, entries)| entries.as_slice()).unwrap_or_default();
    let message = find(entries, key, now).ok_or_else(not_found)?;
    let areas = areas(store).await?;
    let position = areas.position(area).ok_or_else(not_found)?;
    Ok(log.map(|_| AlertLayer::new(areas, vec![(position, message)])))
}

struct Chain {
    /// The messages that are already shown, oldest first.
    shown: Vec<Message>,
    /// When the next message will be shown.
    until: Timestamp,
}

/// Returns a page of the area's messages, newest first: those before the message `before`, or the newest ones.
async fn history(
    store: &dyn Store,
    area: AreaId,
    before: Option<MessageKey>,
    now: Timestamp,
) -> Result<Versioned<AlertLayer>, StoreError> {
    let end = before.and_then(MessageKey::due);
    let recent = end.unwrap_or(now).saturating_sub(RECENT);
    let mut log = chain(store, area, recent, end, now).await?;
    if log.value.shown.len() <= PAGE {
        log = chain(store, area, Timestamp::EPOCH, end, now).await?;
    }
    let areas = areas(store).await?;
    let not_found = || StoreError::no_area(area);
    let position = areas.position(area).ok_or_else(not_found)?;
    let Chain { shown, until } = &log.value;
    let page = shown.iter().rev().take(PAGE).map(|message| (position, message.clone())).collect();
    let (changed, until) = last_changed(shown.last().map(|message| message.sent), now, *until);
    let layer = AlertLayer::new(areas, page).history(area, before).changed(changed);
    let layer = layer.continued(shown.len() > PAGE);
    Ok(log.map(|_| layer).within(Validity::Between { from: now, until }))
}

/// Returns the area's messages that are due after `from` and before `end`, and are already shown at `now`.
async fn chain(
    store: &dyn Store,
    area: AreaId,
    from: Timestamp,
    end: Option<Timestamp>,
    now: Timestamp,
) -> Result<Versioned<Chain>, StoreError> {
    let before = end.map(|end| end.saturating_sub(Duration::from_millis(1)));
    let query = EntryQuery {
        selector: AreaSelector::default(),
        area: Some(area),
        from: log_window_start(from),
        until: before.unwrap_or(Timestamp::LAST),
    };
    let log = store.flood_entries(&query).await?;
    Ok(log.map(|log| {
        let entries = log.first().map(|(_, entries)| entries.as_slice()).unwrap_or_default();
        let messages = messages(entries, from, before.unwrap_or(horizon(entries, now))).into_iter();
        let (shown, later): (Vec<_>, Vec<_>) = messages.partition(|message| message.shown_from <= now);
        let until = later.iter().map(|message| message.shown_from).min();
        Chain { shown, until: until.unwrap_or(Timestamp::LAST) }
    }))
}

/// Returns when a list last changed (if never: when the current day began), and until when this value is valid.
fn last_changed(changed: Option<Timestamp>, now: Timestamp, until: Timestamp) -> (Timestamp, Timestamp) {
    let today = now.floor(DAY);
    changed.map_or((today, until.min(today.saturating_add(DAY))), |changed| (changed, until))
}
