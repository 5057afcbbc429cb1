use std::cmp::Reverse;

use async_trait::async_trait;
use url::form_urlencoded::Serializer;

use super::{StoreError, Versioned};
use crate::model::alerts::{LogEntry, entries};
use crate::model::{
    Actor, ArchiveRecord, Area, AreaId, AreaLimit, AreaSelector, BatchNumber, BatchOutcome, BatchRequest,
    CurrentState, FloodChange, FloodLayer, FloodState, FloodStateRecord, FloodStatus, LoggedChange, Period,
    SeriesPoint, Timestamp,
};

/// Which areas of the flood map to return.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FloodQuery {
    /// Only areas of this city or province.
    pub selector: AreaSelector,
    /// Only areas whose state is at least this high. With a minimum, areas without a state are left out.
    pub minimum_state: Option<FloodState>,
}

impl FloodQuery {
    /// Whether the query selects `area` with this status.
    #[must_use]
    pub(crate) fn matches(&self, area: &Area, status: &FloodStatus) -> bool {
        let is_high_enough = |minimum| status.current().is_some_and(|current| current.state >= minimum);
        self.minimum_state.is_none_or(is_high_enough) && self.selector.matches(area)
    }

    /// Returns the path of a resource, relative to the base address, with the parameters of the query in a fixed order.
    #[must_use]
    pub(crate) fn path(&self, resource: &str) -> String {
        let mut parameters = Serializer::new(String::new());
        let codes = [("city", &self.selector.city), ("admin", &self.selector.region)];
        for (name, code) in codes {
            parameters.extend_pairs(code.as_ref().map(|code| (name, code)));
        }
        parameters.extend_pairs(self.minimum_state.map(|state| ("minimum_state", state.code().to_string())));
        match parameters.finish().as_str() {
            "" => resource.to_owned(),
            parameters => format!("{resource}?{parameters}"),
        }
    }
}

/// Which part of the flood log to read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HistoryQuery {
    /// Only areas of this city or province.
    pub selector: AreaSelector,
    /// The period in which the states were in effect.
    pub period: Period,
}

/// Which entries of the flood log to return.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EntryQuery {
    /// Only entries of areas of this city or province.
    pub selector: AreaSelector,
    /// Only entries of this area.
    pub area: Option<AreaId>,
    /// The earliest time of an entry.
    pub from: Timestamp,
    /// The latest time of an entry.
    pub until: Timestamp,
}

impl EntryQuery {
    /// Returns the entries within the time span of the query. `entries` must be the entries of one area, oldest first.
    #[must_use]
    pub fn select<'e>(&self, entries: &'e [LogEntry]) -> &'e [LogEntry] {
        let first = entries.partition_point(|entry| entry.at < self.from);
        let end = entries.partition_point(|entry| entry.at <= self.until);
        entries.get(first..end).unwrap_or_default()
    }
}

/// Which part of the log of one area to return.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LogQuery {
    /// The area.
    pub area: AreaId,
    /// Only entries before this time.
    pub before: Option<Timestamp>,
    /// How many entries to return at most.
    pub most: u32,
}

/// Which part of the log of all areas to return.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FloodLogQuery {
    /// The earliest time of an entry.
    pub since: Option<Timestamp>,
    /// The latest time of an entry.
    pub until: Option<Timestamp>,
    /// Only entries before this time.
    pub before: Option<Timestamp>,
    /// Only changes whose actor has this subject or this user name.
    pub by: Option<String>,
    /// Only changes of this batch.
    pub batch: Option<BatchNumber>,
    /// The page size. A page also has all further entries with the time of its last entry: the next page begins before that time.
    pub most: u32,
}

impl FloodLogQuery {
    /// Whether the time and the author of a change match the query. Ignores the batch.
    #[must_use]
    pub(crate) fn matches(&self, change: &FloodChange) -> bool {
        self.since.is_none_or(|since| change.at >= since)
            && self.until.is_none_or(|until| change.at <= until)
            && self.before.is_none_or(|before| change.at < before)
            && self
                .by
                .as_ref()
                .is_none_or(|by| change.by.subject == *by || change.by.username.as_ref() == Some(by))
    }

    /// Returns the first page of `entries`, which must be newest first.
    pub(crate) fn page<T>(&self, entries: impl Iterator<Item = T>, at: impl Fn(&T) -> Timestamp) -> Vec<T> {
        let mut page: Vec<T> = Vec::new();
        for entry in entries {
            let is_full = page.len() >= self.most as usize;
            if is_full && page.last().is_none_or(|last| at(last) != at(&entry)) {
                break;
            }
            page.push(entry);
        }
        page
    }
}

/// A request to set or clear the state of an area.
#[derive(Clone, Debug)]
pub struct SetFloodState {
    /// The area.
    pub area: AreaId,
    /// The new state; `None` clears the state.
    pub state: Option<FloodState>,
    /// Who requests the change.
    pub by: Actor,
    /// The areas that this caller may change.
    pub limit: AreaLimit,
}

/// Flood states of areas and the log of their changes.
#[async_trait]
pub trait FloodStore {
    /// Returns the selected areas with their current states, ordered by `area_id`. Includes areas without a state, unless the
    /// query has a minimum state.
    async fn floods(&self, query: &FloodQuery) -> Result<Versioned<FloodLayer>, StoreError>;

    /// Returns the current states, ordered by `area_id`, without dry areas. **Default: uses [`floods`](Self::floods)**
    async fn flood_states(&self, query: &FloodQuery) -> Result<Versioned<Vec<FloodStateRecord>>, StoreError> {
        let minimum_state = query.minimum_state.or(Some(FloodState::Unknown));
        let flooded = FloodQuery { minimum_state, ..query.clone() };
        Ok(self.floods(&flooded).await?.map(|layer| {
            let records = layer.features().filter_map(|flood| {
                let CurrentState { state, last_updated, flooded_since, confirmed } = flood.current?;
                Some(FloodStateRecord {
                    area_id: flood.area.id,
                    state,
                    last_updated,
                    flooded_since,
                    confirmed,
                })
            });
            records.collect()
        }))
    }

    /// Returns the highest state of each area in a period, ordered by `area_id`. [`crate::model::archive`] defines the rules.
    async fn flood_archive(&self, query: &HistoryQuery) -> Result<Versioned<Vec<ArchiveRecord>>, StoreError>;

    /// Returns the number of flooded areas at each hour of a period. [`crate::model::series`] defines the rules.
    async fn flood_series(&self, query: &HistoryQuery) -> Result<Versioned<Vec<SeriesPoint>>, StoreError>;

    /// Returns all changes of one area, oldest first; empty if the area was never flooded or does not exist.
    async fn flood_log(&self, area: AreaId) -> Result<Vec<FloodChange>, StoreError>;

    /// Returns the newest log entries of an area, newest first. **Default: reads the complete log of the area**
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] if there is no such area.
    async fn latest_flood_changes(&self, query: &LogQuery) -> Result<Vec<FloodChange>, StoreError> {
        let LogQuery { area, before, most } = *query;
        let mut log = self.flood_log(area).await?;
        if log.is_empty() {
            let map = self.floods(&FloodQuery::default()).await?;
            map.value.areas().position(area).ok_or_else(|| StoreError::no_area(area))?;
        }
        log.retain(|change| before.is_none_or(|before| change.at < before));
        log.reverse();
        log.truncate(most as usize);
        Ok(log)
    }

    /// Returns log entries with their derived times: areas in the order of `area_id`, entries oldest first. Leaves out areas
    /// without a selected entry. **Default: reads the complete logs of the areas, and treats an undo like any other change**
    ///
    /// If a store saves the derived times with each entry, the cost of a read does not depend on the length of the log.
    async fn flood_entries(
        &self,
        query: &EntryQuery,
    ) -> Result<Versioned<Vec<(AreaId, Vec<LogEntry>)>>, StoreError> {
        let map = self.floods(&FloodQuery::default()).await?;
        let areas = map.value.areas().iter().filter(|area| {
            query.area.is_none_or(|selected| selected == area.id) && query.selector.matches(area)
        });
        let mut logs = Vec::new();
        for area in areas.map(|area| area.id) {
            let log = self.flood_log(area).await?;
            let log = entries(log.iter().map(FloodChange::change));
            let selected = query.select(&log);
            if !selected.is_empty() {
                logs.push((area, selected.to_vec()));
            }
        }
        Ok(map.map(|_| logs))
    }

    /// Returns how many entries [`flood_entries`](Self::flood_entries) would return, at most `most`. **Default: reads them**
    async fn count_flood_entries(&self, query: &EntryQuery, most: u64) -> Result<u64, StoreError> {
        let logs = self.flood_entries(query).await?.value;
        Ok(logs.iter().map(|(_, entries)| entries.len() as u64).sum::<u64>().min(most))
    }

    /// Sets or clears the state of an area and logs this, in one atomic change.
    ///
    /// Every call is a change, even if the area already has this state, or is cleared while it has none. The change takes effect
    /// now, but at least 1 ms after the previous change of the area. Returns the log entry.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] if there is no such area.
    async fn set_flood_state(&self, change: SetFloodState) -> Result<FloodChange, StoreError>;

    /// Changes many areas in one atomic change: all of them, or none.
    ///
    /// All changes get the same time: the latest time that [`set_flood_state`](Self::set_flood_state) would choose for one of the
    /// areas. Undoing a batch also restores the times of the earlier states ([`LogEntry::restoring`]). A batch can be undone for
    /// [`UNDOABLE`](crate::model::UNDOABLE); undoing it twice changes nothing. If a request with the same
    /// [key](BatchRequest::request) succeeded within [`REPEATABLE`](crate::model::REPEATABLE), the call changes nothing and
    /// returns the first outcome. If such a request is still running, the call waits for it. **Default: an error**
    ///
    /// # Errors
    ///
    /// [`StoreError::Refused`] if the store cannot change many areas at once.
    async fn change_floods(&self, _request: BatchRequest) -> Result<BatchOutcome, StoreError> {
        Err(StoreError::Refused { what: "this store takes no orders for many areas".to_owned() })
    }

    /// Returns log entries of all areas, newest first; entries with the same time are ordered by `area_id`. **Default: reads the
    /// complete logs of all areas. Entries have no batch and no note; a query for a batch finds nothing**
    async fn all_flood_changes(&self, query: &FloodLogQuery) -> Result<Vec<LoggedChange>, StoreError> {
        let map = self.floods(&FloodQuery::default()).await?;
        let mut log = Vec::new();
        for area in map.value.areas().iter().filter(|_| query.batch.is_none()) {
            log.extend(self.flood_log(area.id).await?.into_iter().filter(|change| query.matches(change)));
        }
        log.sort_by_key(|change| (Reverse(change.at), change.area));
        let page = query.page(log.into_iter(), |change| change.at);
        let alone = |change| LoggedChange { change, batch: None, note: None, undoes: None };
        Ok(page.into_iter().map(alone).collect())
    }
}
