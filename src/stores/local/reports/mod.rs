mod cards;
mod incoming;
mod moderation;
mod moves;

use std::collections::BTreeSet;
use std::ops::{Bound, RangeInclusive};
use std::sync::Arc;

use async_trait::async_trait;
use imbl::{OrdMap, OrdSet, Vector};

use self::cards::Cards;
use self::moves::MoveQueue;
pub(in crate::stores) use self::moves::PendingMove;
use super::{LocalStore, Row, Rows, State, count_items, read_long};
use crate::model::CancelFlag;
use crate::model::{
    Card, CardId, DisasterType, ErasedReport, ModerationEntry, PartnerPost, PhotoPlace, Report,
    ReportContent, ReportKey, ReportLayer, SeriesPoint, Tags, Timestamp, Waiting, shown_photo,
};
use crate::stores::{ReportQuery, ReportSeriesQuery, ReportStore, ReportSummary, StoreError, Versioned};

/// Reports, and the cards and posts that they come from. Storing a report and marking its card as used is one change.
#[derive(Clone, Debug, Default)]
pub(super) struct Reports {
    /// The visible reports, in the order of time and key.
    by_time: OrdMap<(Timestamp, ReportKey), Arc<Report>>,
    by_key: OrdMap<ReportKey, Arc<Report>>,
    hidden: OrdMap<ReportKey, Arc<Report>>,
    /// The hidden reports that wait for review.
    waiting: OrdMap<ReportKey, Waiting>,
    /// Erased reports by key. Those that queries still count are also in `erased_by_time`.
    erased: OrdMap<ReportKey, Arc<ErasedReport>>,
    erased_by_time: OrdMap<(Timestamp, ReportKey), Arc<ErasedReport>>,
    last_key: Option<ReportKey>,
    log: Vector<ModerationEntry>,
    moves: MoveQueue,
    cards: Cards,
    partner_posts: OrdSet<i64>,
}

impl Reports {
    /// Builds the reports from a data set. Cards without a creation time get `now`.
    pub(super) fn new(
        reports: Vec<Report>,
        hidden: BTreeSet<ReportKey>,
        erased: Vec<ErasedReport>,
        log: Vec<ModerationEntry>,
        cards: Vec<Card>,
        posts: Vec<PartnerPost>,
        now: Timestamp,
    ) -> Self {
        let mut state = Self::default();
        for report in reports {
            state.insert(&Arc::new(report));
        }
        for key in hidden {
            state.hide(key);
        }
        for erased in erased {
            state.insert_erased(&Arc::new(erased));
        }
        state.log = log.into();
        for card in cards {
            let created_at = card.created_at.or(Some(now));
            state.cards.put(Arc::new(Card { created_at, ..card }));
        }
        state.partner_posts = posts.iter().map(|post| post.post_id).collect();
        state
    }

    /// Returns the time of the newest report up to a moment.
    pub(super) fn newest(&self, until: Timestamp) -> Option<Timestamp> {
        self.by_time.range(..=(until, ReportKey::LAST)).next_back().map(|((made, _), _)| *made)
    }

    pub(super) fn set_waiting(&mut self, waiting: Vec<(ReportKey, Waiting)>) {
        self.waiting = waiting.into_iter().collect();
    }

    pub(super) fn queue_moves(&mut self, moves: Vec<(Box<str>, PendingMove)>) {
        for (photo, pending) in moves {
            self.moves.put(&photo, pending);
        }
    }

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

    pub(super) fn card(&self, id: &CardId) -> Result<&Arc<Card>, StoreError> {
        self.cards.find(id).ok_or_else(|| StoreError::no_card(id))
    }

    fn next_after(&self, moment: Timestamp) -> Option<Timestamp> {
        let later = (Bound::Excluded((moment, ReportKey::LAST)), Bound::Unbounded);
        let public = self.by_time.range(later).next().map(|((made, _), _)| *made);
        let erased = self.erased_by_time.range(later).next().map(|((made, _), _)| *made);
        public.into_iter().chain(erased).min()
    }
}

/// Returns the items of a map within a span of time, both ends included, newest first.
fn newest_first<T>(
    map: &OrdMap<(Timestamp, ReportKey), Arc<T>>,
    first: Timestamp,
    last: Timestamp,
) -> impl Iterator<Item = &Arc<T>> {
    let range = (first, ReportKey::FIRST)..=(last, ReportKey::LAST);
    // The map panics if a range ends before it begins.
    let range = Some(range).filter(|range: &RangeInclusive<_>| range.start() <= range.end());
    range.into_iter().flat_map(|range| map.range(range).rev()).map(|(_, item)| item)
}

/// A report query, with the state to read and the current time.
struct ReportQueryRun {
    state: Arc<State>,
    query: ReportQuery,
    now: Timestamp,
}

impl ReportQueryRun {
    /// Returns the public reports that match the query, newest first.
    fn reports(&self) -> impl Iterator<Item = &Arc<Report>> {
        let (first, last) = self.query.window.bounds(self.now);
        newest_first(&self.state.reports.value.by_time, first, last).filter(|report| {
            self.query.matches(&report.content)
                && self.state.places.value.selects(&self.query.selector, &report.tags)
        })
    }

    /// Returns the erased reports that match the query and were public, newest first.
    fn erased(&self) -> impl Iterator<Item = &Arc<ErasedReport>> {
        let (first, last) = self.query.window.bounds(self.now);
        newest_first(&self.state.reports.value.erased_by_time, first, last).filter(|erased| {
            self.query.includes(erased.disaster_type, erased.is_training)
                && self.state.places.value.selects(&self.query.selector, &erased.tags)
        })
    }

    /// Returns the time, source and disaster of each report to count, including erased ones, in no particular order.
    fn counted(&self) -> impl Iterator<Item = (Timestamp, &str, DisasterType)> {
        let public = self.reports().map(|report| &report.content);
        let public = public.map(|content| (content.created_at, &*content.source, content.disaster_type));
        let erased = self.erased().map(|report| (report.created_at, &*report.source, report.disaster_type));
        public.chain(erased)
    }

    /// Adds the revision and the validity to a value derived from the selected reports. `oldest` is the time of the oldest one.
    fn versioned<T>(&self, value: T, oldest: Option<Timestamp>) -> Versioned<T> {
        let (_, last) = self.query.window.bounds(self.now);
        let next = self.state.reports.value.next_after(last);
        self.state.reports.with_value(value).within(self.query.window.validity(self.now, oldest, next))
    }
}

impl LocalStore {
    fn prepare_query(&self, query: ReportQuery) -> ReportQueryRun {
        ReportQueryRun { state: self.state(), query, now: self.clock.now() }
    }
}

impl State {
    /// Adds an image to a card's report, unless the report has one. Returns whether the image was added. If the report is hidden,
    /// queues the move of the photo to the private storage.
    pub(super) fn show_image(&mut self, card: &CardId, image: &str, rows: &mut Rows, now: Timestamp) -> bool {
        let entry = self.reports.value.by_card(card);
        let Some((report, is_hidden)) = entry.filter(|(report, _)| report.content.image_url.is_none()) else {
            return false;
        };
        let mut report = Arc::clone(report);
        Arc::make_mut(&mut report).content.image_url = Some(image.into());
        let reports = self.reports.get_mut();
        if is_hidden {
            if let Some(photo) = shown_photo(&report) {
                reports.queue_move(photo, PhotoPlace::Hidden, rows, now);
            }
            reports.hidden.insert(report.key, Arc::clone(&report));
        } else {
            reports.insert(&report);
        }
        rows.add(|| [Row::Report(report)]);
        true
    }
}

#[async_trait]
impl ReportStore for LocalStore {
    async fn reports(&self, query: &ReportQuery) -> Result<Versioned<ReportLayer>, StoreError> {
        let run = self.prepare_query(query.clone());
        let list = move |cancel: &CancelFlag| {
            let mut reports = Vec::new();
            for report in run.reports() {
                cancel.check()?;
                reports.push(Arc::clone(report));
            }
            let oldest = reports.last().map(|report: &Arc<Report>| report.content.created_at);
            Ok(run.versioned(ReportLayer::from(reports), oldest))
        };
        read_long(list).await
    }

    async fn count_reports(&self, query: &ReportQuery, most: u64) -> Result<u64, StoreError> {
        let run = self.prepare_query(query.clone());
        read_long(move |cancel| count_items(run.reports(), most, cancel)).await
    }

    async fn report(&self, key: ReportKey) -> Result<Versioned<Arc<Report>>, StoreError> {
        let reports = &self.state().reports;
        let report = reports.value.by_key.get(&key).ok_or_else(|| StoreError::no_report(key))?;
        Ok(reports.with_value(Arc::clone(report)))
    }

    async fn reports_from(
        &self,
        first: Option<ReportKey>,
        most: u32,
    ) -> Result<Vec<Arc<Report>>, StoreError> {
        let state = self.state();
        let by_key = &state.reports.value.by_key;
        Ok(match first {
            Some(first) => {
                by_key.range(first..).take(most as usize).map(|(_, report)| Arc::clone(report)).collect()
            }
            None => by_key.get_max().map(|(_, report)| Arc::clone(report)).into_iter().collect(),
        })
    }

    async fn report_series(
        &self,
        query: &ReportSeriesQuery,
    ) -> Result<Versioned<Vec<SeriesPoint>>, StoreError> {
        let run = self.prepare_query(query.reports());
        let query = query.clone();
        let count = move |cancel: &CancelFlag| {
            let reports = run.counted().take_while(|_| cancel.check().is_ok());
            let points = query.count(reports.map(|(made, ..)| made));
            cancel.check()?;
            Ok(run.versioned(points, None))
        };
        read_long(count).await
    }

    async fn report_summary(&self, query: &ReportQuery) -> Result<Versioned<ReportSummary>, StoreError> {
        let run = self.prepare_query(query.clone());
        let count = move |cancel: &CancelFlag| {
            let (mut summary, mut oldest) = (ReportSummary::default(), None);
            for (made, source, disaster) in run.counted() {
                cancel.check()?;
                oldest = Some(oldest.map_or(made, |oldest: Timestamp| oldest.min(made)));
                summary.count(source, disaster);
            }
            Ok(run.versioned(summary, oldest))
        };
        read_long(count).await
    }
}
