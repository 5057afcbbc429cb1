use super::MemoryStore;
use crate::stores::Overview;

impl MemoryStore {
    /// Costs O(areas + gauges × log readings).
    pub(super) fn overview_now(&self) -> Overview {
        let now = self.clock.now();
        let (newest_flood_change, flooded_areas) = self.floods.overview();
        Overview {
            newest_flood_change,
            newest_report: self.intake.newest(now),
            newest_reading: self.gauges.newest(now),
            flooded_areas,
        }
    }
}
