//! Hides, shows and erases reports, and keeps the log of it and the photos to be moved.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::super::{LocalStore, Row, Rows, State, Visibility};
use super::{PendingMove, Reports};
use crate::model::{
    CardId, ErasedReport, HideWaiting, Moderation, ModerationAction, ModerationEntry, PhotoMove, PhotoPlace,
    Report, ReportKey, SenderHash, Timestamp, Waiting, WaitingReport, WaitingReports, photo_name,
    shown_photo,
};
use crate::stores::{ModerationQuery, ModerationStore, StoreError, Versioned, WaitingQuery};

impl Reports {
    /// Returns the report of a card, and whether it is hidden.
    pub(in super::super) fn by_card(&self, card: &CardId) -> Option<(&Arc<Report>, bool)> {
        self.stored(self.cards.find(card)?.report?)
    }

    /// Returns a report that was not erased, and whether it is hidden.
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

    /// Orders the move of a photo. One that is being moved can be taken once that has ended.
    pub(super) fn order_move(&mut self, photo: &str, to: PhotoPlace, rows: &mut Rows, now: Timestamp) {
        let due = self.moves.get(photo).map_or(now, |pending| pending.due);
        self.put_move(photo, PendingMove { to, due }, rows);
    }

    /// Lets nobody else take a photo before a moment.
    fn take(&mut self, photo: Box<str>, to: PhotoPlace, due: Timestamp, rows: &mut Rows) -> PhotoMove {
        self.put_move(&photo, PendingMove { to, due }, rows);
        PhotoMove { photo, to }
    }

    fn put_move(&mut self, photo: &str, pending: PendingMove, rows: &mut Rows) {
        self.moves.put(photo, pending);
        rows.add(|| [Row::PhotoMove(photo.into(), Some(pending))]);
    }

    pub(super) fn keep_erased(&mut self, erased: &Arc<ErasedReport>) {
        self.last_key = self.last_key.max(Some(erased.key));
        self.erased.insert(erased.key, Arc::clone(erased));
        if !erased.hidden {
            self.counted.insert((erased.created_at, erased.key), Arc::clone(erased));
        }
    }

    /// Returns reports that wait for review. Costs the time to look at each of them.
    fn waiting_reports(&self, query: WaitingQuery) -> WaitingReports {
        let mut of_senders: HashMap<SenderHash, u64> = HashMap::new();
        for sender in self.waiting.values().filter_map(|waiting| waiting.origin.sender) {
            *of_senders.entry(sender).or_default() += 1;
        }
        let mut listed: HashMap<SenderHash, u32> = HashMap::new();
        let newest_first = |is_suspect: bool| {
            self.waiting.iter().rev().filter(move |(_, of)| of.origin.is_suspect == is_suspect)
        };
        let waiting =
            newest_first(false).chain(newest_first(true)).filter_map(|(key, Waiting { origin, .. })| {
                if let Some(sender) = origin.sender {
                    let of_sender = listed.entry(sender).or_default();
                    *of_sender += 1;
                    if *of_sender > query.of_each {
                        return None;
                    }
                }
                let report = Arc::clone(self.hidden.get(key)?);
                let of_sender = origin.sender.map_or(1, |sender| of_senders[&sender]);
                Some(WaitingReport { report, origin: *origin, of_sender })
            });
        let reports = waiting.take(query.most as usize).collect();
        WaitingReports { total: self.waiting.len() as u64, reports }
    }

    /// Returns the reports of a sender that wait for review.
    fn waiting_of(&self, sender: SenderHash) -> Vec<ReportKey> {
        let of_sender = self.waiting.iter().filter(|(_, of)| of.origin.sender == Some(sender));
        of_sender.map(|(key, _)| *key).collect()
    }

    /// Returns the oldest reports made before a moment.
    fn oldest(&self, before: Timestamp, most: u32) -> Vec<ReportKey> {
        let visible = self.by_time.range(..(before, ReportKey::FIRST)).map(|((made, key), _)| (*made, *key));
        let hidden = self.hidden.values().map(|report| (report.content.created_at, report.key));
        let hidden = hidden.filter(|(made, _)| *made < before);
        let mut oldest: Vec<_> = visible.take(most as usize).chain(hidden).collect();
        oldest.sort_unstable();
        oldest.into_iter().map(|(_, key)| key).take(most as usize).collect()
    }
}

impl State {
    /// Carries out an order; returns whether it changed anything.
    fn moderate(&mut self, order: Moderation, rows: &mut Rows, now: Timestamp) -> Result<bool, StoreError> {
        let Moderation { report: key, made_at: expected, action, by, reason } = order;
        let reports = &self.reports.value;
        let Some((report, is_hidden)) = reports.stored(key) else {
            let is_erased = reports.erased.contains_key(&key) && action == ModerationAction::Erase;
            return is_erased.then_some(false).ok_or_else(|| StoreError::no_report(key));
        };
        let was_waiting = reports.waiting.contains_key(&key);
        let (made_at, photo) = (report.content.created_at, shown_photo(report).map(str::to_owned));
        if expected.is_some_and(|expected| expected != made_at) {
            return Err(StoreError::another_report(key, made_at));
        }
        match action {
            // It is hidden, and now a moderator says so.
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
                reports.order_move(&photo, PhotoPlace::after(action), rows, now);
            }
        }
        let number = reports.log.last().map_or(1, |last| last.number.saturating_add(1));
        let entry = ModerationEntry { number, at: now, report: key, made_at, action, by, reason };
        rows.add(|| [Row::Moderation(entry.clone())]);
        reports.log.push_back(entry);
        Ok(true)
    }

    /// Erases reports with their cards, and the images of these.
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
            reports.keep_erased(&erased);
            let photo = shown_photo(&report).map(str::to_owned).or_else(|| card.as_ref().map(photo_name));
            if let Some(photo) = photo {
                reports.order_move(&photo, PhotoPlace::Gone, rows, now);
            }
            if let Some(card) = &card {
                reports.cards.remove(card);
                self.service_mut().uploads.forget(card);
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
    async fn moderate(&self, order: &Moderation) -> Result<bool, StoreError> {
        let order = order.clone();
        self.write(|state, rows, now| state.moderate(order, rows, now)).await
    }

    async fn moderation_log(
        &self,
        query: ModerationQuery,
    ) -> Result<Versioned<Vec<ModerationEntry>>, StoreError> {
        let reports = &self.state().reports;
        let newest_first = reports.value.log.iter().rev();
        let before = |entry: &&ModerationEntry| query.before.is_none_or(|before| entry.number < before);
        let asked = newest_first.take_while(|entry| entry.number > query.after).filter(before);
        Ok(reports.with_value(asked.take(query.most as usize).cloned().collect()))
    }

    async fn waiting_reports(&self, query: WaitingQuery) -> Result<WaitingReports, StoreError> {
        Ok(self.state().reports.value.waiting_reports(query))
    }

    async fn hide_waiting(&self, order: &HideWaiting) -> Result<Vec<ReportKey>, StoreError> {
        let HideWaiting { sender, by, reason } = order.clone();
        let hiding = self.write(move |state, rows, now| {
            let of_sender = state.reports.value.waiting_of(sender);
            for report in &of_sender {
                let (by, reason) = (by.clone(), reason.clone());
                let hide =
                    Moderation { report: *report, made_at: None, action: ModerationAction::Hide, by, reason };
                state.moderate(hide, rows, now)?;
            }
            Ok(of_sender)
        });
        hiding.await
    }

    async fn forget_senders(&self, until: Timestamp) -> Result<(), StoreError> {
        let is_old = move |waiting: &Waiting| waiting.since <= until && waiting.origin.sender.is_some();
        // Servers ask again and again.
        if !self.state().reports.value.waiting.values().any(is_old) {
            return Ok(());
        }
        let forgetting = self.write(move |state, rows, _| {
            let waiting = &mut state.reports.get_mut_untracked().waiting;
            let old: Vec<_> =
                waiting.iter().filter(|(_, of)| is_old(of)).map(|(key, of)| (*key, *of)).collect();
            for (key, mut of) in old {
                of.origin.sender = None;
                waiting.insert(key, of);
                rows.add(|| [Row::Visibility(key, Visibility::Waiting(of))]);
            }
            Ok(())
        });
        forgetting.await
    }

    async fn erase_reports(&self, before: Timestamp, most: u32) -> Result<u64, StoreError> {
        let erasing = self.write(move |state, rows, now| {
            let oldest = state.reports.value.oldest(before, most);
            state.erase(&oldest, rows, now);
            Ok(oldest.len() as u64)
        });
        erasing.await
    }

    async fn take_photo_move(&self, lease: Duration) -> Result<Option<PhotoMove>, StoreError> {
        // Servers ask again and again.
        if self.state().reports.value.moves.is_empty() {
            return Ok(None);
        }
        let taking = self.write(move |state, rows, now| {
            let due = state.reports.value.moves.next(now);
            let reports = state.reports.get_mut_untracked();
            Ok(due.map(|(photo, pending)| reports.take(photo, pending.to, now.after(lease), rows)))
        });
        taking.await
    }

    async fn take_photo_move_of(
        &self,
        report: ReportKey,
        lease: Duration,
    ) -> Result<Option<PhotoMove>, StoreError> {
        let taking = self.write(move |state, rows, now| {
            let reports = state.reports.get_mut_untracked();
            let photo = reports.stored(report).and_then(|(report, _)| shown_photo(report));
            let ordered = photo.and_then(|photo| Some((Box::from(photo), reports.moves.get(photo)?)));
            if ordered.as_ref().is_some_and(|(_, pending)| pending.due > now) {
                return Err(StoreError::photo_is_taken(report));
            }
            Ok(ordered.map(|(photo, pending)| reports.take(photo, pending.to, now.after(lease), rows)))
        });
        taking.await
    }

    async fn end_photo_move(&self, done: &PhotoMove) -> Result<(), StoreError> {
        let PhotoMove { photo, to } = done.clone();
        let ending = self.write(move |state, rows, now| {
            let moves = &mut state.reports.get_mut_untracked().moves;
            // It may have been ordered elsewhere meanwhile.
            let left = moves.remove(&photo).filter(|pending| pending.to != to);
            let left = left.map(|pending| PendingMove { due: now, ..pending });
            if let Some(left) = left {
                moves.put(&photo, left);
            }
            rows.add(|| [Row::PhotoMove(photo, left)]);
            Ok(())
        });
        ending.await
    }
}
