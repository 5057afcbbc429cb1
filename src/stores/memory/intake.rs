use std::ops::{Bound, RangeInclusive};
use std::sync::Arc;

use async_trait::async_trait;
use imbl::{OrdMap, OrdSet};

use super::snapshot::{Snapshots, Written};
use super::{MemoryStore, counted, read_long};
use crate::model::intake::PartnerReport;
use crate::model::{
    Card, CardHolder, CardId, PartnerPost, Places, Report, ReportContent, ReportKey, ReportLayer,
    SeriesPoint, Tags, Timestamp,
};
use crate::stores::cards::random_card_id;
use crate::stores::{
    CardStore, FeedStore, Received, ReportQuery, ReportSeriesQuery, ReportStore, ReportSummary, Revision,
    StoreError, Versioned,
};
use crate::tasks::Stop;

/// Reports, and the cards and feeds that they come from.
#[derive(Debug)]
pub(super) struct Intake {
    snapshots: Snapshots<Snapshot>,
}

/// Reports, cards and feeds at one moment. A report and the mark on its card are one change.
#[derive(Clone, Debug, Default)]
struct Snapshot {
    by_time: OrdMap<(Timestamp, ReportKey), Arc<Report>>,
    by_key: OrdMap<ReportKey, Arc<Report>>,
    cards: OrdMap<CardId, Arc<Card>>,
    /// The highest card number.
    last_card: u64,
    /// The posts of the partner feed that were received.
    partner_posts: OrdSet<i64>,
}

impl Snapshot {
    fn publish(&mut self, content: ReportContent, tags: Tags) -> Result<Arc<Report>, StoreError> {
        let newest = self.by_key.get_max().map(|(key, _)| *key);
        let key = newest.map_or(Some(ReportKey::FIRST), ReportKey::next);
        let none_left = || StoreError::Backend { source: "no report key is left".into() };
        let report = Arc::new(Report { key: key.ok_or_else(none_left)?, content, tags });
        self.insert(&report);
        Ok(report)
    }

    fn insert(&mut self, report: &Arc<Report>) {
        self.by_time.insert((report.content.created_at, report.key), Arc::clone(report));
        self.by_key.insert(report.key, Arc::clone(report));
    }

    fn card(&self, id: &CardId) -> Result<&Arc<Card>, StoreError> {
        self.cards.get(id).ok_or_else(|| StoreError::NotFound { what: format!("card {id}") })
    }

    /// Adds an image to a card's report, unless the report shows one already; returns whether it did.
    fn show_image(&mut self, card: &CardId, image: &str) -> bool {
        let key = self.cards.get(card).and_then(|card| card.report);
        let report = key.and_then(|key| self.by_key.get(&key));
        let Some(report) = report.filter(|report| report.content.image_url.is_none()) else { return false };
        let mut report = Arc::clone(report);
        Arc::make_mut(&mut report).content.image_url = Some(image.into());
        self.insert(&report);
        true
    }

    /// Returns the reports made between two moments, both included, newest first.
    fn between(&self, first: Timestamp, last: Timestamp) -> impl Iterator<Item = &Arc<Report>> {
        let all = (first, ReportKey::FIRST)..=(last, ReportKey::LAST);
        // The map panics if a range ends before it begins.
        let some = Some(all).filter(|all: &RangeInclusive<_>| all.start() <= all.end());
        some.into_iter().flat_map(|all| self.by_time.range(all).rev()).map(|(_, report)| report)
    }

    /// Returns when the first report after a moment was made.
    fn next_after(&self, moment: Timestamp) -> Option<Timestamp> {
        let later = (Bound::Excluded((moment, ReportKey::LAST)), Bound::Unbounded);
        self.by_time.range(later).next().map(|((made, _), _)| *made)
    }
}

impl Intake {
    pub(super) fn new(reports: Vec<Report>, cards: Vec<Card>, posts: Vec<PartnerPost>) -> Self {
        let mut snapshot = Snapshot::default();
        for report in reports {
            snapshot.insert(&Arc::new(report));
        }
        for card in cards {
            snapshot.last_card = snapshot.last_card.max(card.pkey);
            snapshot.cards.insert(card.id.clone(), Arc::new(card));
        }
        snapshot.partner_posts = posts.iter().map(|post| post.post_id).collect();
        Self { snapshots: Snapshots::new(snapshot) }
    }

    /// Returns the date of the newest report that is not dated after a moment.
    pub(super) fn newest(&self, until: Timestamp) -> Option<Timestamp> {
        let snapshot = self.snapshots.read();
        snapshot.value.by_time.range(..=(until, ReportKey::LAST)).next_back().map(|((made, _), _)| *made)
    }

    /// Returns the same reports and cards, to be changed on their own.
    pub(super) fn fork(&self) -> Self {
        Self { snapshots: self.snapshots.fork() }
    }

    /// Makes the revision go on from another one.
    pub(super) fn at(self, revision: Revision) -> Self {
        Self { snapshots: self.snapshots.at(revision) }
    }

    /// Returns the report with the highest key.
    pub(super) fn last_report(&self) -> Option<Arc<Report>> {
        self.snapshots.read().value.by_key.get_max().map(|(_, report)| Arc::clone(report))
    }

    pub(super) fn revision(&self) -> Revision {
        self.snapshots.revision()
    }
}

/// A report query, when it is run, and the snapshot it runs on.
struct Asked {
    snapshot: Arc<Versioned<Snapshot>>,
    places: Arc<Places>,
    query: ReportQuery,
    now: Timestamp,
}

impl Asked {
    /// Returns the selected reports, newest first.
    fn reports(&self) -> impl Iterator<Item = &Arc<Report>> {
        let (first, last) = self.query.window.bounds(self.now);
        self.snapshot.value.between(first, last).filter(|report| {
            self.query.asks_for(&report.content) && self.places.selects(&self.query.selector, &report.tags)
        })
    }

    /// Adds the revision and the validity to a value made from the selected reports; `oldest` is the oldest of these.
    fn answer<T>(&self, value: T, oldest: Option<Timestamp>) -> Versioned<T> {
        let (_, last) = self.query.window.bounds(self.now);
        let next = self.snapshot.value.next_after(last);
        self.snapshot.of(value).within(self.query.window.validity(self.now, oldest, next))
    }
}

impl MemoryStore {
    fn asked(&self, query: ReportQuery) -> Asked {
        let snapshot = self.intake.snapshots.read();
        Asked { snapshot, places: Arc::clone(&self.places), query, now: self.clock.now() }
    }
}

#[async_trait]
impl ReportStore for MemoryStore {
    async fn reports(&self, query: &ReportQuery) -> Result<Versioned<ReportLayer>, StoreError> {
        let asked = self.asked(query.clone());
        let listing = move |stop: &Stop| {
            let mut reports = Vec::new();
            for report in asked.reports() {
                stop.check()?;
                reports.push(Arc::clone(report));
            }
            let oldest = reports.last().map(|report: &Arc<Report>| report.content.created_at);
            Ok(asked.answer(ReportLayer::from(reports), oldest))
        };
        read_long(listing).await
    }

    async fn count_reports(&self, query: &ReportQuery, most: u64) -> Result<u64, StoreError> {
        let asked = self.asked(query.clone());
        read_long(move |stop| counted(asked.reports(), most, stop)).await
    }

    async fn report(&self, key: ReportKey) -> Result<Versioned<Arc<Report>>, StoreError> {
        let snapshot = self.intake.snapshots.read();
        match snapshot.value.by_key.get(&key) {
            Some(report) => Ok(snapshot.of(Arc::clone(report))),
            None => Err(StoreError::NotFound { what: format!("report {key}") }),
        }
    }

    async fn report_series(
        &self,
        query: &ReportSeriesQuery,
    ) -> Result<Versioned<Vec<SeriesPoint>>, StoreError> {
        let asked = self.asked(query.reports());
        let query = query.clone();
        let counting = move |stop: &Stop| {
            let waited_for = asked.reports().take_while(|_| stop.check().is_ok());
            let points = query.count(waited_for.map(|report| report.content.created_at));
            stop.check()?;
            Ok(asked.answer(points, None))
        };
        read_long(counting).await
    }

    async fn report_summary(&self, query: &ReportQuery) -> Result<Versioned<ReportSummary>, StoreError> {
        let asked = self.asked(query.clone());
        let counting = move |stop: &Stop| {
            let (mut summary, mut oldest) = (ReportSummary::default(), None);
            for report in asked.reports() {
                stop.check()?;
                oldest = Some(report.content.created_at);
                summary.count(&report.content);
            }
            Ok(asked.answer(summary, oldest))
        };
        read_long(counting).await
    }
}

#[async_trait]
impl CardStore for MemoryStore {
    async fn create_card(&self, holder: CardHolder) -> Result<Arc<Card>, StoreError> {
        self.intake.snapshots.write(|snapshot| {
            let id = loop {
                let id = random_card_id()?;
                if !snapshot.cards.contains_key(&id) {
                    break id;
                }
            };
            // A 64-bit counter of cards never reaches its end.
            snapshot.last_card = snapshot.last_card.saturating_add(1);
            let pkey = snapshot.last_card;
            let card = Arc::new(Card { pkey, id: id.clone(), holder, report: None });
            snapshot.cards.insert(id, Arc::clone(&card));
            // A new card does not change the reports.
            Ok(Written::Unseen(card))
        })
    }

    async fn card(&self, id: &CardId) -> Result<Arc<Card>, StoreError> {
        self.intake.snapshots.read().value.card(id).cloned()
    }

    async fn receive_card_report(
        &self,
        id: &CardId,
        content: ReportContent,
    ) -> Result<Arc<Report>, StoreError> {
        let tags = self.places.locator().locate(content.location);
        self.intake.snapshots.write(|snapshot| {
            let card = snapshot.card(id)?.clone();
            if card.report.is_some() {
                return Err(StoreError::received(id));
            }
            let report = snapshot.publish(content, tags)?;
            let card = Card { report: Some(report.key), ..Card::clone(&card) };
            snapshot.cards.insert(id.clone(), Arc::new(card));
            Ok(Written::Visible(report))
        })
    }

    async fn show_card_image(&self, id: &CardId, image: &str) -> Result<bool, StoreError> {
        self.intake.snapshots.write(|snapshot| {
            let shown = snapshot.show_image(id, image);
            Ok(if shown { Written::Visible(true) } else { Written::Unseen(false) })
        })
    }
}

#[async_trait]
impl FeedStore for MemoryStore {
    async fn receive_partner_report(&self, report: PartnerReport) -> Result<Received, StoreError> {
        let tags = self.places.locator().locate(report.content.location);
        self.intake.snapshots.write(|snapshot| {
            if snapshot.partner_posts.contains(&report.post_id) {
                return Ok(Written::Unseen(Received::Existing));
            }
            snapshot.partner_posts.insert(report.post_id);
            snapshot.publish(report.content, tags)?;
            Ok(Written::Visible(Received::Created))
        })
    }
}
