use std::ops::Range;
use std::sync::Arc;

use imbl::OrdMap;

use crate::model::{Card, CardId, ReportKey, Timestamp};

#[derive(Clone, Debug, Default)]
pub(super) struct Cards {
    by_id: OrdMap<CardId, Arc<Card>>,
    by_report: OrdMap<ReportKey, Arc<Card>>,
    /// The cards without a report, by creation time and number.
    unused: OrdMap<(Timestamp, u64), CardId>,
    last: u64,
}

impl Cards {
    pub(super) fn find(&self, id: &CardId) -> Option<&Arc<Card>> {
        self.by_id.get(id)
    }

    pub(super) fn by_report(&self, report: ReportKey) -> Option<&Arc<Card>> {
        self.by_report.get(&report)
    }

    /// Returns the cards without a report that were created within a time range, oldest first.
    pub(super) fn unused(&self, created: Range<Timestamp>) -> impl Iterator<Item = &CardId> {
        // The map panics if a range ends before it begins.
        let some = Some((created.start, 0)..(created.end, 0)).filter(|all| all.start < all.end);
        some.into_iter().flat_map(|all| self.unused.range(all)).map(|(_, card)| card)
    }

    pub(super) fn next_number(&self) -> u64 {
        // Never overflows, because no store creates 2⁶⁴ cards.
        self.last.saturating_add(1)
    }

    pub(super) fn put(&mut self, card: Arc<Card>) {
        self.remove(&card.id);
        self.last = self.last.max(card.pkey);
        if let Some(report) = card.report {
            self.by_report.insert(report, Arc::clone(&card));
        } else if let Some(made) = card.created_at {
            self.unused.insert((made, card.pkey), card.id.clone());
        }
        self.by_id.insert(card.id.clone(), card);
    }

    pub(super) fn remove(&mut self, id: &CardId) {
        let Some(card) = self.by_id.remove(id) else { return };
        if let Some(report) = card.report {
            self.by_report.remove(&report);
        } else if let Some(made) = card.created_at {
            self.unused.remove(&(made, card.pkey));
        }
    }
}
