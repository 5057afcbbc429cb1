mod cards;
mod moderation;
mod moves;

use std::collections::BTreeSet;
use std::ops::{Bound, Range, RangeInclusive};
use std::sync::Arc;

use async_trait::async_trait;
use imbl::{OrdMap, OrdSet, Vector};

use self::cards::Cards;
pub(in crate::stores) use self::moderation::Moderated;
use self::moves::Moves;
pub(in crate::stores) use self::moves::Pending;
use super::snapshot::{Snapshots, Written};
use super::{MemoryStore, counted, read_long};
use crate::model::intake::PartnerReport;
use crate::model::{
    Card, CardHolder, CardId, DisasterType, ErasedReport, ModerationEntry, PartnerPost, PhotoPlace, Places,
    Report, ReportContent, ReportKey, ReportLayer, SeriesPoint, Tags, Timestamp, shown_photo,
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
    /// The reports that readers see, by time and by key.
    by_time: OrdMap<(Timestamp, ReportKey), Arc<Report>>,
    by_key: OrdMap<ReportKey, Arc<Report>>,
    /// The reports that readers do not see.
    hidden: OrdMap<ReportKey, Arc<Report>>,
    /// What is left of erased reports, and those of them that are counted, by time.
    erased: OrdMap<ReportKey, Arc<ErasedReport>>,
    counted: OrdMap<(Timestamp, ReportKey), Arc<ErasedReport>>,
    /// The highest key of any report.
    last_key: Option<ReportKey>,
    /// The moderation log, oldest first.
    log: Vector<ModerationEntry>,
    moves: Moves,
    cards: Cards,
    /// The posts of the partner feed that were received.
    partner_posts: OrdSet<i64>,
}

impl Snapshot {
    fn publish(&mut self, content: ReportContent, tags: Tags) -> Result<Arc<Report>, StoreError> {
        let key = self.last_key.map_or(Some(ReportKey::FIRST), ReportKey::next);
        let none_left = || StoreError::Backend { source: "no report key is left".into() };
        let report = Arc::new(Report { key: key.ok_or_else(none_left)?, content, tags });
        self.insert(&report);
        Ok(report)
    }

    fn insert(&mut self, report: &Arc<Report>) {
        self.last_key = self.last_key.max(Some(report.key));
        self.by_time.insert((report.content.created_at, report.key), Arc::clone(report));
        self.by_key.insert(report.key, Arc::clone(report));
    }

    fn card(&self, id: &CardId) -> Result<&Arc<Card>, StoreError> {
        self.cards.find(id).ok_or_else(|| StoreError::NotFound { what: format!("card {id}") })
    }

    /// Adds an image to a card's report, unless the report shows one already; returns whether it did. The photo of a
    /// hidden report is to be moved to the others.
    fn show_image(&mut self, card: &CardId, image: &str, now: Timestamp) -> bool {
        let key = self.cards.find(card).and_then(|card| card.report);
        let report = key.and_then(|key| self.stored(key));
        let Some((report, is_hidden)) = report.filter(|(report, _)| report.content.image_url.is_none())
        else {
            return false;
        };
        let mut report = Arc::clone(report);
        Arc::make_mut(&mut report).content.image_url = Some(image.into());
        if is_hidden {
            if let Some(photo) = shown_photo(&report) {
                self.order_move(photo, PhotoPlace::Hidden, now);
            }
            self.hidden.insert(report.key, report);
        } else {
            self.insert(&report);
        }
        true
    }

    /// Returns when the first report after a moment was made.
    fn next_after(&self, moment: Timestamp) -> Option<Timestamp> {
        let later = (Bound::Excluded((moment, ReportKey::LAST)), Bound::Unbounded);
        let listed = self.by_time.range(later).next().map(|((made, _), _)| *made);
        let counted = self.counted.range(later).next().map(|((made, _), _)| *made);
        listed.into_iter().chain(counted).min()
    }
}

/// Returns the items of a map between two moments, both included, newest first.
fn between<T>(
    map: &OrdMap<(Timestamp, ReportKey), Arc<T>>,
    first: Timestamp,
    last: Timestamp,
) -> impl Iterator<Item = &Arc<T>> {
    let all = (first, ReportKey::FIRST)..=(last, ReportKey::LAST);
    // The map panics if a range ends before it begins.
    let some = Some(all).filter(|all: &RangeInclusive<_>| all.start() <= all.end());
    some.into_iter().flat_map(|all| map.range(all).rev()).map(|(_, item)| item)
}

/// What a data set has of reports, cards and feeds.
pub(super) struct Stored {
    pub(super) reports: Vec<Report>,
    pub(super) hidden: BTreeSet<ReportKey>,
    pub(super) erased: Vec<ErasedReport>,
    pub(super) log: Vec<ModerationEntry>,
    pub(super) cards: Vec<Card>,
    pub(super) posts: Vec<PartnerPost>,
}

impl Intake {
    /// Makes an intake. Cards that do not say when they were made were made `now`.
    pub(super) fn new(stored: Stored, now: Timestamp) -> Self {
        let Stored { reports, hidden, erased, log, cards, posts } = stored;
        let mut snapshot = Snapshot::default();
        for report in reports {
            snapshot.insert(&Arc::new(report));
        }
        for key in hidden {
            snapshot.hide(key);
        }
        for erased in erased {
            snapshot.keep_erased(&Arc::new(erased));
        }
        snapshot.log = log.into();
        for card in cards {
            let created_at = card.created_at.or(Some(now));
            snapshot.cards.put(Arc::new(Card { created_at, ..card }));
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

    /// Goes on with photos to be moved.
    pub(super) fn with_moves(self, moves: Vec<(Box<str>, Pending)>) -> Self {
        let snapshot = self.snapshots.read();
        let value = Snapshot { moves: Moves::from_iter(moves), ..snapshot.value.clone() };
        Self { snapshots: Snapshots::new(value).at(snapshot.revision) }
    }

    /// Returns the visible report with the highest key.
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
        between(&self.snapshot.value.by_time, first, last).filter(|report| {
            self.query.asks_for(&report.content) && self.places.selects(&self.query.selector, &report.tags)
        })
    }

    /// Returns what is left of the selected reports that were erased, newest first.
    fn erased(&self) -> impl Iterator<Item = &Arc<ErasedReport>> {
        let (first, last) = self.query.window.bounds(self.now);
        between(&self.snapshot.value.counted, first, last).filter(|erased| {
            self.query.counts(erased.disaster_type, erased.is_training)
                && self.places.selects(&self.query.selector, &erased.tags)
        })
    }

    /// Returns the time, source and disaster of the reports to be counted, in no order.
    fn counted(&self) -> impl Iterator<Item = (Timestamp, &str, DisasterType)> {
        let listed = self.reports().map(|report| &report.content);
        let listed = listed.map(|content| (content.created_at, &*content.source, content.disaster_type));
        let erased = self.erased().map(|of| (of.created_at, &*of.source, of.disaster_type));
        listed.chain(erased)
    }

    /// Adds the revision and the validity to a value made from the selected reports; `oldest` is the oldest of these.
    fn answer<T>(&self, value: T, oldest: Option<Timestamp>) -> Versioned<T> {
        let (_, last) = self.query.window.bounds(self.now);
        let next = self.snapshot.value.next_after(last);
        self.snapshot.of(value).within(self.query.window.validity(self.now, oldest, next))
    }
}

impl MemoryStore {
    /// Erases cards without a report; returns which.
    pub(in crate::stores) fn erased_cards(
        &self,
        made: Range<Timestamp>,
        most: u32,
    ) -> Result<Vec<CardId>, StoreError> {
        // Servers ask again and again.
        if self.intake.snapshots.read().value.cards.unused(made.clone()).next().is_none() {
            return Ok(Vec::new());
        }
        let erased = self.intake.snapshots.write(|snapshot| {
            let old: Vec<CardId> = snapshot.cards.unused(made).take(most as usize).cloned().collect();
            for card in &old {
                snapshot.cards.remove(card);
            }
            // Readers of reports see no cards.
            Ok::<_, StoreError>(Written::Unseen(old))
        })?;
        for card in &erased {
            self.service_state.forget_image(card);
        }
        Ok(erased)
    }

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
            None => Err(StoreError::no_report(key)),
        }
    }

    async fn report_series(
        &self,
        query: &ReportSeriesQuery,
    ) -> Result<Versioned<Vec<SeriesPoint>>, StoreError> {
        let asked = self.asked(query.reports());
        let query = query.clone();
        let counting = move |stop: &Stop| {
            let waited_for = asked.counted().take_while(|_| stop.check().is_ok());
            let points = query.count(waited_for.map(|(made, ..)| made));
            stop.check()?;
            Ok(asked.answer(points, None))
        };
        read_long(counting).await
    }

    async fn report_summary(&self, query: &ReportQuery) -> Result<Versioned<ReportSummary>, StoreError> {
        let asked = self.asked(query.clone());
        let counting = move |stop: &Stop| {
            let (mut summary, mut oldest) = (ReportSummary::default(), None);
            for (made, source, disaster) in asked.counted() {
                stop.check()?;
                oldest = Some(oldest.map_or(made, |oldest: Timestamp| oldest.min(made)));
                summary.count(source, disaster);
            }
            Ok(asked.answer(summary, oldest))
        };
        read_long(counting).await
    }
}

#[async_trait]
impl CardStore for MemoryStore {
    async fn create_card(&self, holder: CardHolder) -> Result<Arc<Card>, StoreError> {
        let created_at = Some(self.clock.now());
        self.intake.snapshots.write(|snapshot| {
            let id = loop {
                let id = random_card_id()?;
                if snapshot.cards.find(&id).is_none() {
                    break id;
                }
            };
            let pkey = snapshot.cards.next_number();
            let card = Arc::new(Card { pkey, id, holder, report: None, created_at });
            snapshot.cards.put(Arc::clone(&card));
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
            snapshot.cards.put(Arc::new(Card { report: Some(report.key), ..Card::clone(&card) }));
            Ok(Written::Visible(report))
        })
    }

    async fn show_card_image(&self, id: &CardId, image: &str) -> Result<bool, StoreError> {
        let now = self.clock.now();
        self.intake.snapshots.write(|snapshot| {
            let shown = snapshot.show_image(id, image, now);
            Ok(if shown { Written::Visible(true) } else { Written::Unseen(false) })
        })
    }

    async fn erase_unused_cards(&self, made: Range<Timestamp>, most: u32) -> Result<u64, StoreError> {
        Ok(self.erased_cards(made, most)?.len() as u64)
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
