//! Hides, shows and erases reports, and keeps the log of it and the photos to be moved.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::super::{LocalStore, Row, Rows, State, Visibility};
use super::{Pending, Reports};
use crate::model::{
    CardId, ErasedReport, Moderation, ModerationAction, ModerationEntry, PhotoMove, PhotoPlace, Report,
    ReportKey, Timestamp, photo_name, shown_photo,
};
use crate::stores::{ModerationQuery, ModerationStore, StoreError, Versioned};

impl Reports {
    /// Returns the report of a card, and whether it is hidden.
    pub(in super::super) fn of_card(&self, card: &CardId) -> Option<(&Arc<Report>, bool)> {
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
        let due = self.moves.of(photo).map_or(now, |pending| pending.due);
        self.put_move(photo, Pending { to, due }, rows);
    }

    /// Lets nobody else take a photo before a moment.
    fn take(&mut self, photo: Box<str>, to: PhotoPlace, due: Timestamp, rows: &mut Rows) -> PhotoMove {
        self.put_move(&photo, Pending { to, due }, rows);
        PhotoMove { photo, to }
    }

    fn put_move(&mut self, photo: &str, pending: Pending, rows: &mut Rows) {
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
        let was_waiting = reports.waiting.contains(&key);
        let (made_at, photo) = (report.content.created_at, shown_photo(report).map(str::to_owned));
        if expected.is_some_and(|expected| expected != made_at) {
            return Err(StoreError::another_report(key, made_at));
        }
        match action {
            // It is hidden, and now a moderator says so.
            ModerationAction::Hide if was_waiting => self.reports.grow(),
            ModerationAction::Hide if !is_hidden => self.reports.change().hide(key),
            ModerationAction::Show if is_hidden => self.reports.change().show(key),
            ModerationAction::Erase => self.erase(&[key], rows, now),
            ModerationAction::Hide | ModerationAction::Show => return Ok(false),
        }
        let reports = self.reports.unseen();
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
            let reports = self.reports.unseen();
            let Some((report, is_hidden)) = reports.stored(*key) else { continue };
            let report = Arc::clone(report);
            let card = reports.cards.of(*key).map(|card| card.id.clone());
            reports.hide(*key);
            reports.hidden.remove(key);
            reports.waiting.remove(key);
            let city = self.places.value.locator().city(&report.tags);
            let erased = Arc::new(ErasedReport::of(&report, city, is_hidden));
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
            self.reports.grow();
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
        Ok(reports.of(asked.take(query.most as usize).cloned().collect()))
    }

    async fn waiting_reports(&self, most: u32) -> Result<Vec<Arc<Report>>, StoreError> {
        let reports = &self.state().reports.value;
        let waiting = reports.waiting.iter().filter_map(|key| reports.hidden.get(key).cloned());
        Ok(waiting.take(most as usize).collect())
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
            let reports = state.reports.unseen();
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
            let reports = state.reports.unseen();
            let photo = reports.stored(report).and_then(|(report, _)| shown_photo(report));
            let ordered = photo.and_then(|photo| Some((Box::from(photo), reports.moves.of(photo)?)));
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
            let moves = &mut state.reports.unseen().moves;
            // It may have been ordered elsewhere meanwhile.
            let left = moves.remove(&photo).filter(|pending| pending.to != to);
            let left = left.map(|pending| Pending { due: now, ..pending });
            if let Some(left) = left {
                moves.put(&photo, left);
            }
            rows.add(|| [Row::PhotoMove(photo, left)]);
            Ok(())
        });
        ending.await
    }
}
