use async_trait::async_trait;

use super::{StoreError, Versioned};
use crate::model::{
    Actor, ArchiveRecord, Area, AreaId, AreaSelector, FloodChange, FloodLayer, FloodState, FloodStateRecord,
    Period, SeriesPoint, Standing,
};

/// Which areas of the flood map are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FloodQuery {
    /// Areas of a city or province only.
    pub selector: AreaSelector,
    /// Areas whose state is at least this one only; areas without a state never qualify.
    pub minimum_state: Option<FloodState>,
}

impl FloodQuery {
    /// Whether an area in this state is asked for.
    #[must_use]
    pub fn asks_for(&self, area: &Area, standing: Option<Standing>) -> bool {
        let high_enough = |minimum| standing.is_some_and(|standing| standing.state >= minimum);
        self.minimum_state.is_none_or(high_enough) && self.selector.matches(area)
    }
}

/// What part of the log is asked about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HistoryQuery {
    /// Areas of a city or province only.
    pub selector: AreaSelector,
    /// The time asked about.
    pub period: Period,
}

/// The order to set or clear the state of an area.
#[derive(Clone, Debug)]
pub struct SetFloodState {
    /// The area.
    pub area: AreaId,
    /// The state it gets; `None` clears it.
    pub state: Option<FloodState>,
    /// Who gives the order.
    pub by: Actor,
}

/// Flood states of areas and the log of their changes.
#[async_trait]
pub trait FloodStore {
    /// The areas asked for with their current states, by `area_id`. Without a minimum state, areas that
    /// have none are included.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn floods(&self, query: &FloodQuery) -> Result<Versioned<FloodLayer>, StoreError>;

    /// The current states alone, by `area_id`; areas that have none are absent. **Default: those of
    /// [`floods`](Self::floods)**
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn flood_states(&self, query: &FloodQuery) -> Result<Versioned<Vec<FloodStateRecord>>, StoreError> {
        Ok(self.floods(query).await?.map(|layer| {
            let records = layer.features().filter_map(|flood| {
                let Standing { state, since } = flood.standing?;
                Some(FloodStateRecord { area_id: flood.area.id, state, last_updated: since })
            });
            records.collect()
        }))
    }

    /// The highest state each area had in a period, by `area_id`, as [`crate::model::archive`] defines it.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn flood_archive(&self, query: &HistoryQuery) -> Result<Versioned<Vec<ArchiveRecord>>, StoreError>;

    /// The number of flooded areas at each hour of a period, as [`crate::model::series`] defines it.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn flood_series(&self, query: &HistoryQuery) -> Result<Versioned<Vec<SeriesPoint>>, StoreError>;

    /// Every change of one area, oldest first; empty for an area that was never flooded or does not exist.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`].
    async fn flood_log(&self, area: AreaId) -> Result<Vec<FloodChange>, StoreError>;

    /// Sets or clears the state of an area and logs it, as one change.
    ///
    /// Setting the state an area already has, or clearing one that has none, is a change too: it is
    /// logged and takes effect now. Answers the log entry.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotFound`] when there is no such area, and nothing is logged;
    /// [`StoreError::Unavailable`].
    async fn set_flood_state(&self, order: SetFloodState) -> Result<FloodChange, StoreError>;
}
