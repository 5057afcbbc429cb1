use std::ops::Range;
use std::sync::Arc;

use imbl::OrdMap;

use crate::model::{Card, CardId, ReportKey, Timestamp};

/// The cards at one moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Cards {
    by_id: OrdMap<CardId, Arc<Card>>,
    by_report: OrdMap<ReportKey, Arc<Card>>,
    /// The cards without a report, by the time at which they were made and their number.
    unused: OrdMap<(Timestamp, u64), CardId>,
    /// The highest card number.
    last: u64,
}

impl Cards {
    pub(super) fn find(&self, id: &CardId) -> Option<&Arc<Card>> {
        self.by_id.get(id)
    }

    /// Returns the card of a report.
    pub(super) fn by_report(&self, report: ReportKey) -> Option<&Arc<Card>> {
        self.by_report.get(&report)
    }

    /// Returns the cards without a report that were made between two moments, the second excluded, oldest first.
    pub(super) fn unused(&self, made: Range<Timestamp>) -> impl Iterator<Item = &CardId> {
        // The map panics if a range ends before it begins.
        let some = Some((made.start, 0)..(made.end, 0)).filter(|all| all.start < all.end);
        some.into_iter().flat_map(|all| self.unused.range(all)).map(|(_, card)| card)
    }

    /// Returns the number for a new card.
    pub(super) fn next_number(&self) -> u64 {
        // A 64-bit counter of cards never reaches its end.
        self.last.saturating_add(1)
    }

    /// Adds a card, or replaces the one with the same identifier.
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
