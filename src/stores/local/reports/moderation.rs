//! Moderation of reports, its log, and the queue of photos to be moved.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::super::{LocalStore, Row, Rows, State, Visibility};
use super::{PendingMove, Reports};
use crate::model::{
    CardId, ErasedReport, HiddenReports, HideWaiting, Moderation, ModerationAction, ModerationEntry,
    PhotoMove, PhotoPlace, Report, ReportKey, SenderHash, Timestamp, Waiting, WaitingReport, WaitingReports,
    photo_name, shown_photo,
};
use crate::stores::{ModerationQuery, ModerationStore, StoreError, Versioned, WaitingQuery};

impl Reports {
    pub(in super::super) fn by_card(&self, card: &CardId) -> Option<(&Arc<Report>, bool)> {
        self.stored(self.cards.find(card)?.report?)
    }

    /// Returns a report that is not erased, and whether it is hidden.
    fn stored(&self, key: ReportKey) -> Option<(&Arc<Report>, bool)> {
        let visible = self.by_key.get(&key).map(|report| (report, false));
        visible.or_else(|| self.hidden.get(&key).map(|report| (report, true)))
    }

    pub(super) fn hide(&mut self, key: ReportKey) {
        if let Some(report) = self.by_key.remove(&key) {
            self.by_time.remove(&(report.content.created_at, key));
            self.hidden.insert(key, report);
        }
    }

    fn show(&mut self, key: ReportKey) {
        if let Some(report) = self.hidden.remove(&key) {
            self.insert(&report);
        }
    }

    /// Queues a move. If the photo is already queued, keeps its due time, because a server may be moving it.
    pub(super) fn queue_move(&mut self, photo: &str, to: PhotoPlace, rows: &mut Rows, now: Timestamp) {
        let due = self.moves.get(photo).map_or(now, |pending| pending.due);
        self.put_move(photo, PendingMove { to, due }, rows);
    }

    /// Takes a photo from the queue, so that no other call takes it until `due`.
    fn take(&mut self, photo: Box<str>, to: PhotoPlace, due: Timestamp, rows: &mut Rows) -> PhotoMove {
        self.put_move(&photo, PendingMove { to, due }, rows);
        PhotoMove { photo, to }
    }

    fn put_move(&mut self, photo: &str, pending: PendingMove, rows: &mut Rows) {
        self.moves.put(photo, pending);
        rows.add(|| [Row::PhotoMove(photo.into(), Some(pending))]);
    }

    /// Adds an erased report. If it was public, queries still count it, so it is also added by time.
    pub(super) fn insert_erased(&mut self, erased: &Arc<ErasedReport>) {
        self.last_key = self.last_key.max(Some(erased.key));
        self.erased.insert(erased.key, Arc::clone(erased));
        if !erased.hidden {
            self.erased_by_time.insert((erased.created_at, erased.key), Arc::clone(erased));
        }
    }

    /// Returns reports that wait for review. Costs O(waiting reports).
    fn waiting_reports(&self, query: WaitingQuery) -> WaitingReports {
        let mut totals: HashMap<SenderHash, u64> = HashMap::new();
        for sender in self.waiting.values().filter_map(|waiting| waiting.origin.sender) {
            *totals.entry(sender).or_default() += 1;
        }
        let mut counts: HashMap<SenderHash, u32> = HashMap::new();
        let newest_first = |is_suspect: bool| {
            self.waiting.iter().rev().filter(move |(_, waiting)| waiting.origin.is_suspect == is_suspect)
        };
        let waiting =
            newest_first(false).chain(newest_first(true)).filter_map(|(key, Waiting { origin, .. })| {
                if let Some(sender) = origin.sender {
                    let count = counts.entry(sender).or_default();
                    *count += 1;
                    if *count > query.per_sender {
                        return None;
                    }
                }
                let report = Arc::clone(self.hidden.get(key)?);
                let of_sender = origin.sender.map_or(1, |sender| totals[&sender]);
                Some(WaitingReport { report, origin: *origin, sender_total: of_sender })
            });
        let reports = waiting.take(query.most as usize).collect();
        WaitingReports { total: self.waiting.len() as u64, reports }
    }

    fn waiting_from(&self, sender: SenderHash) -> Vec<ReportKey> {
        let of_sender = self.waiting.iter().filter(|(_, waiting)| waiting.origin.sender == Some(sender));
        of_sender.map(|(key, _)| *key).collect()
    }

    /// Returns the keys of at most `max` reports made before the given time, oldest first, including hidden reports.
    fn oldest(&self, before: Timestamp, max: u32) -> Vec<ReportKey> {
        let visible = self.by_time.range(..(before, ReportKey::FIRST)).map(|((made, key), _)| (*made, *key));
        let hidden = self.hidden.values().map(|report| (report.content.created_at, report.key));
        let hidden = hidden.filter(|(made, _)| *made < before);
        let mut oldest: Vec<_> = visible.take(max as usize).chain(hidden).collect();
        oldest.sort_unstable();
        oldest.into_iter().map(|(_, key)| key).take(max as usize).collect()
    }
}

impl State {
    /// Hides, shows or erases a report. Returns `false` if the report is already hidden, visible or erased.
    fn moderate(
        &mut self,
        moderation: Moderation,
        rows: &mut Rows,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let Moderation { report: key, made_at: expected, action, by, limit, reason } = moderation;
        let reports = &self.reports.value;
        let Some((report, is_hidden)) = reports.stored(key) else {
            // Nobody knows where an erased report was, so no limit contains it.
            let is_erased = reports.erased.contains_key(&key)
                && action == ModerationAction::Erase
                && limit.is_everywhere();
            return is_erased.then_some(false).ok_or_else(|| StoreError::no_report(key));
        };
        if !limit.contains(&self.places.value.names(&report.tags)) {
            return Err(StoreError::OutsideLimit { areas: Vec::from_iter(report.tags.local_area_id) });
        }
        let was_waiting = reports.waiting.contains_key(&key);
        let (made_at, photo) = (report.content.created_at, shown_photo(report).map(str::to_owned));
        if expected.is_some_and(|expected| expected != made_at) {
            return Err(StoreError::report_mismatch(key, made_at));
        }
        match action {
            // A waiting report is hidden already. The revision grows, because the report no longer waits.
            ModerationAction::Hide if was_waiting => self.reports.bump_revision(),
            ModerationAction::Hide if !is_hidden => self.reports.get_mut().hide(key),
            ModerationAction::Show if is_hidden => self.reports.get_mut().show(key),
            ModerationAction::Erase => self.erase(&[key], rows, now),
            ModerationAction::Hide | ModerationAction::Show => return Ok(false),
        }
        let reports = self.reports.get_mut_untracked();
        reports.waiting.remove(&key);
        if action != ModerationAction::Erase {
            let now_hidden = action == ModerationAction::Hide;
            rows.add(|| {
                [Row::Visibility(key, if now_hidden { Visibility::Hidden } else { Visibility::Public })]
            });
            if let Some(photo) = photo.filter(|_| now_hidden != is_hidden) {
                reports.queue_move(&photo, PhotoPlace::after(action), rows, now);
            }
        }
        let number = reports.log.last().map_or(1, |last| last.number.saturating_add(1));
        let entry = ModerationEntry { number, at: now, report: key, made_at, action, by, reason };
        rows.add(|| [Row::Moderation(entry.clone())]);
        reports.log.push_back(entry);
        Ok(true)
    }

    /// Erases reports with their cards, and queues the deletion of their photos.
    fn erase(&mut self, keys: &[ReportKey], rows: &mut Rows, now: Timestamp) {
        for key in keys {
            let reports = self.reports.get_mut_untracked();
            let Some((report, is_hidden)) = reports.stored(*key) else { continue };
            let report = Arc::clone(report);
            let card = reports.cards.by_report(*key).map(|card| card.id.clone());
            reports.hide(*key);
            reports.hidden.remove(key);
            reports.waiting.remove(key);
            let city = self.places.value.locator().city(&report.tags);
            let erased = Arc::new(ErasedReport::from_report(&report, city, is_hidden));
            reports.insert_erased(&erased);
            let photo = shown_photo(&report).map(str::to_owned).or_else(|| card.as_ref().map(photo_name));
            if let Some(photo) = photo {
                reports.queue_move(&photo, PhotoPlace::Gone, rows, now);
            }
            if let Some(card) = &card {
                reports.cards.remove(card);
                self.service_mut().uploads.remove(card);
            }
            rows.add(|| [Row::Erased(erased, card)]);
        }
        if !keys.is_empty() {
            self.reports.bump_revision();
        }
    }
}

#[async_trait]
impl ModerationStore for LocalStore {
    async fn moderate(&self, moderation: &Moderation) -> Result<bool, StoreError> {
        let moderation = moderation.clone();
        self.write(|state, rows, now| state.moderate(moderation, rows, now)).await
    }

    async fn moderation_log(
        &self,
        query: ModerationQuery,
    ) -> Result<Versioned<Vec<ModerationEntry>>, StoreError> {
        let reports = &self.state().reports;
        let newest_first = reports.value.log.iter().rev();
        let is_before = |entry: &&ModerationEntry| query.before.is_none_or(|before| entry.number < before);
        let selected = newest_first.take_while(|entry| entry.number > query.after).filter(is_before);
        Ok(reports.with_value(selected.take(query.most as usize).cloned().collect()))
    }

    async fn waiting_reports(&self, query: WaitingQuery) -> Result<WaitingReports, StoreError> {
        Ok(self.state().reports.value.waiting_reports(query))
    }

    async fn hide_waiting(&self, request: &HideWaiting) -> Result<HiddenReports, StoreError> {
        let HideWaiting { sender, by, limit, reason } = request.clone();
        let write = self.write(move |state, rows, now| {
            let mut outcome = HiddenReports::default();
            for report in state.reports.value.waiting_from(sender) {
                let (by, limit, reason) = (by.clone(), limit.clone(), reason.clone());
                let action = ModerationAction::Hide;
                match state.moderate(
                    Moderation { report, made_at: None, action, by, limit, reason },
                    rows,
                    now,
                ) {
                    Ok(_) => outcome.hidden.push(report),
                    Err(StoreError::OutsideLimit { .. }) => outcome.left += 1,
                    Err(error) => return Err(error),
                }
            }
            Ok(outcome)
        });
        write.await
    }

    async fn forget_senders(&self, until: Timestamp) -> Result<(), StoreError> {
        let is_old = move |waiting: &Waiting| waiting.since <= until && waiting.origin.sender.is_some();
        // Servers poll this method, so it must not write if no report has an old sender.
        if !self.state().reports.value.waiting.values().any(is_old) {
            return Ok(());
        }
        let write = self.write(move |state, rows, _| {
            let waiting = &mut state.reports.get_mut_untracked().waiting;
            let old: Vec<_> = waiting
                .iter()
                .filter(|(_, waiting)| is_old(waiting))
                .map(|(key, waiting)| (*key, *waiting))
                .collect();
            for (key, mut entry) in old {
                entry.origin.sender = None;
                waiting.insert(key, entry);
                rows.add(|| [Row::Visibility(key, Visibility::Waiting(entry))]);
            }
            Ok(())
        });
        write.await
    }

    async fn erase_reports(&self, before: Timestamp, most: u32) -> Result<u64, StoreError> {
        let write = self.write(move |state, rows, now| {
            let oldest = state.reports.value.oldest(before, most);
            state.erase(&oldest, rows, now);
            Ok(oldest.len() as u64)
        });
        write.await
    }

    async fn take_photo_move(&self, lease: Duration) -> Result<Option<PhotoMove>, StoreError> {
        // Servers poll this method, so an empty queue must not cause a write.
        if self.state().reports.value.moves.is_empty() {
            return Ok(None);
        }
        let write = self.write(move |state, rows, now| {
            let due = state.reports.value.moves.next(now);
            let reports = state.reports.get_mut_untracked();
            Ok(due.map(|(photo, pending)| reports.take(photo, pending.to, now.saturating_add(lease), rows)))
        });
        write.await
    }

    async fn take_photo_move_of(
        &self,
        report: ReportKey,
        lease: Duration,
    ) -> Result<Option<PhotoMove>, StoreError> {
        let write = self.write(move |state, rows, now| {
            let reports = state.reports.get_mut_untracked();
            let photo = reports.stored(report).and_then(|(report, _)| shown_photo(report));
            let queued = photo.and_then(|photo| Some((Box::from(photo), reports.moves.get(photo)?)));
            if queued.as_ref().is_some_and(|(_, pending)| pending.due > now) {
                return Err(StoreError::photo_is_taken(report));
            }
            Ok(queued
                .map(|(photo, pending)| reports.take(photo, pending.to, now.saturating_add(lease), rows)))
        });
        write.await
    }

    async fn end_photo_move(&self, completed: &PhotoMove) -> Result<(), StoreError> {
        let PhotoMove { photo, to } = completed.clone();
        let write = self.write(move |state, rows, now| {
            let moves = &mut state.reports.get_mut_untracked().moves;
            // If the target has changed during the move, the photo stays queued.
            let still_queued = moves.remove(&photo).filter(|pending| pending.to != to);
            let still_queued = still_queued.map(|pending| PendingMove { due: now, ..pending });
            if let Some(pending) = still_queued {
                moves.put(&photo, pending);
            }
            rows.add(|| [Row::PhotoMove(photo, still_queued)]);
            Ok(())
        });
        write.await
    }
}
