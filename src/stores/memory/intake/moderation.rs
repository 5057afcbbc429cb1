//! Hides, shows and erases reports, and keeps the log of it and the photos to be moved.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::super::snapshot::Written;
use super::super::{MemoryStore, StoreError};
use super::{Pending, Snapshot};
use crate::model::{
    CardId, ErasedReport, Moderation, ModerationAction, ModerationEntry, PhotoMove, PhotoPlace, Places,
    Report, ReportKey, Timestamp, photo_name, shown_photo,
};
use crate::stores::{ModerationQuery, ModerationStore, Versioned};

/// What moderation changed.
#[derive(Debug, Default)]
pub(in crate::stores) struct Moderated {
    /// A report, and whether it is hidden now.
    pub(in crate::stores) hidden: Option<(ReportKey, bool)>,
    /// The erased reports, each with its card.
    pub(in crate::stores) erased: Vec<(Arc<ErasedReport>, Option<CardId>)>,
    pub(in crate::stores) moves: Vec<(Box<str>, Pending)>,
    pub(in crate::stores) entry: Option<ModerationEntry>,
}

impl Moderated {
    fn is_nothing(&self) -> bool {
        self.hidden.is_none() && self.erased.is_empty()
    }
}

impl Snapshot {
    /// Returns a report that was not erased, and whether it is hidden.
    pub(super) fn stored(&self, key: ReportKey) -> Option<(&Arc<Report>, bool)> {
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
    pub(super) fn order_move(&mut self, photo: &str, to: PhotoPlace, now: Timestamp) -> (Box<str>, Pending) {
        let due = self.moves.of(photo).map_or(now, |pending| pending.due);
        let pending = Pending { to, due };
        self.moves.put(photo, pending);
        (photo.into(), pending)
    }

    /// Lets nobody else take a photo before a moment.
    fn take(&mut self, photo: Box<str>, pending: Pending, due: Timestamp) -> (Box<str>, Pending) {
        let taken = Pending { due, ..pending };
        self.moves.put(&photo, taken);
        (photo, taken)
    }

    /// Carries out an order; returns what it changed.
    fn moderate(
        &mut self,
        order: &Moderation,
        places: &Places,
        now: Timestamp,
    ) -> Result<Moderated, StoreError> {
        let key = order.report;
        let Some((report, is_hidden)) = self.stored(key) else {
            let is_erased = self.erased.contains_key(&key) && order.action == ModerationAction::Erase;
            return is_erased.then(Moderated::default).ok_or_else(|| StoreError::no_report(key));
        };
        let (made_at, photo) = (report.content.created_at, shown_photo(report).map(str::to_owned));
        if order.made_at.is_some_and(|expected| expected != made_at) {
            return Err(StoreError::another_report(key, made_at));
        }
        let mut done = Moderated::default();
        match order.action {
            ModerationAction::Hide if !is_hidden => self.hide(key),
            ModerationAction::Show if is_hidden => self.show(key),
            ModerationAction::Erase => done = self.erase(&[key], places, now),
            ModerationAction::Hide | ModerationAction::Show => return Ok(done),
        }
        if order.action != ModerationAction::Erase {
            done.hidden = Some((key, !is_hidden));
            let to = PhotoPlace::after(order.action);
            done.moves.extend(photo.map(|photo| self.order_move(&photo, to, now)));
        }
        let entry = ModerationEntry {
            number: self.log.last().map_or(1, |last| last.number.saturating_add(1)),
            at: now,
            report: key,
            made_at,
            action: order.action,
            by: order.by.clone(),
            reason: order.reason.clone(),
        };
        self.log.push_back(entry.clone());
        done.entry = Some(entry);
        Ok(done)
    }

    /// Erases reports with their cards.
    fn erase(&mut self, keys: &[ReportKey], places: &Places, now: Timestamp) -> Moderated {
        let mut done = Moderated::default();
        for key in keys {
            let Some((report, is_hidden)) = self.stored(*key) else { continue };
            let report = Arc::clone(report);
            let card = self.cards.of(*key).map(|card| card.id.clone());
            self.hide(*key);
            self.hidden.remove(key);
            if let Some(card) = &card {
                self.cards.remove(card);
            }
            let city = places.locator().city(&report.tags);
            let erased = Arc::new(ErasedReport::of(&report, city, is_hidden));
            self.keep_erased(&erased);
            let photo = shown_photo(&report).map(str::to_owned).or_else(|| card.as_ref().map(photo_name));
            done.moves.extend(photo.map(|photo| self.order_move(&photo, PhotoPlace::Gone, now)));
            done.erased.push((erased, card));
        }
        done
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

impl MemoryStore {
    /// Carries out an order; returns what it changed.
    pub(in crate::stores) fn moderated(&self, order: &Moderation) -> Result<Moderated, StoreError> {
        let now = self.clock.now();
        self.change_intake(|snapshot| snapshot.moderate(order, &self.places, now))
    }

    /// Erases old reports; returns what that changed.
    pub(in crate::stores) fn erased(&self, before: Timestamp, most: u32) -> Result<Moderated, StoreError> {
        let now = self.clock.now();
        self.change_intake(|snapshot| {
            let oldest = snapshot.oldest(before, most);
            Ok(snapshot.erase(&oldest, &self.places, now))
        })
    }

    fn change_intake(
        &self,
        change: impl FnOnce(&mut Snapshot) -> Result<Moderated, StoreError>,
    ) -> Result<Moderated, StoreError> {
        let done = self.intake.snapshots.write(|snapshot| {
            let done = change(snapshot)?;
            let written = if done.is_nothing() { Written::Unseen(done) } else { Written::Visible(done) };
            Ok::<_, StoreError>(written)
        })?;
        // The image of a card is in the state of the service. An upload that is published meanwhile finds no card.
        let cards = done.erased.iter().filter_map(|(_, card)| card.as_ref());
        cards.for_each(|card| self.service_state.forget_image(card));
        Ok(done)
    }

    /// Takes a photo to be moved until the lease has ended.
    pub(in crate::stores) fn taken_move(&self, lease: Duration) -> Option<(Box<str>, Pending)> {
        let now = self.clock.now();
        let taken = self.intake.snapshots.write(|snapshot| {
            let due = snapshot.moves.next(now);
            let taken = due.map(|(photo, pending)| snapshot.take(photo, pending, now.after(lease)));
            Ok::<_, StoreError>(Written::Unseen(taken))
        });
        taken.ok().flatten()
    }

    /// Takes the photo of a report, if it is to be moved, until the lease has ended.
    pub(in crate::stores) fn taken_move_of(
        &self,
        report: ReportKey,
        lease: Duration,
    ) -> Result<Option<(Box<str>, Pending)>, StoreError> {
        let now = self.clock.now();
        self.intake.snapshots.write(|snapshot| {
            let photo = snapshot.stored(report).and_then(|(report, _)| shown_photo(report));
            let ordered = photo.and_then(|photo| Some((Box::from(photo), snapshot.moves.of(photo)?)));
            if ordered.as_ref().is_some_and(|(_, pending)| pending.due > now) {
                return Err(StoreError::photo_is_taken(report));
            }
            let taken = ordered.map(|(photo, pending)| snapshot.take(photo, pending, now.after(lease)));
            Ok(Written::Unseen(taken))
        })
    }

    /// Ends a move; returns what is left to do with the photo.
    pub(in crate::stores) fn ended_move(&self, done: &PhotoMove) -> Option<Pending> {
        let now = self.clock.now();
        let left = self.intake.snapshots.write(|snapshot| {
            let pending = snapshot.moves.remove(&done.photo).filter(|pending| pending.to != done.to);
            let left = pending.map(|pending| Pending { due: now, ..pending });
            if let Some(left) = left {
                snapshot.moves.put(&done.photo, left);
            }
            Ok::<_, StoreError>(Written::Unseen(left))
        });
        left.ok().flatten()
    }

    /// Returns whether any photo is to be moved.
    pub(in crate::stores) fn has_moves(&self) -> bool {
        !self.intake.snapshots.read().value.moves.is_empty()
    }

    /// Returns the report of a card, even if it is hidden, and the move of its photo.
    pub(in crate::stores) fn report_of(&self, card: &CardId) -> Option<(Arc<Report>, Option<Pending>)> {
        let snapshot = self.intake.snapshots.read();
        let key = snapshot.value.cards.find(card)?.report?;
        let (report, _) = snapshot.value.stored(key)?;
        let pending = shown_photo(report).and_then(|photo| snapshot.value.moves.of(photo));
        Some((Arc::clone(report), pending))
    }
}

#[async_trait]
impl ModerationStore for MemoryStore {
    async fn moderate(&self, order: &Moderation) -> Result<bool, StoreError> {
        Ok(!self.moderated(order)?.is_nothing())
    }

    async fn moderation_log(
        &self,
        query: ModerationQuery,
    ) -> Result<Versioned<Vec<ModerationEntry>>, StoreError> {
        let snapshot = self.intake.snapshots.read();
        let newest_first = snapshot.value.log.iter().rev();
        let before = |entry: &&ModerationEntry| query.before.is_none_or(|before| entry.number < before);
        let asked = newest_first.take_while(|entry| entry.number > query.after).filter(before);
        Ok(snapshot.of(asked.take(query.most as usize).cloned().collect()))
    }

    async fn erase_reports(&self, before: Timestamp, most: u32) -> Result<u64, StoreError> {
        Ok(self.erased(before, most)?.erased.len() as u64)
    }

    async fn take_photo_move(&self, lease: Duration) -> Result<Option<PhotoMove>, StoreError> {
        if !self.has_moves() {
            return Ok(None);
        }
        Ok(self.taken_move(lease).map(|(photo, Pending { to, .. })| PhotoMove { photo, to }))
    }

    async fn take_photo_move_of(
        &self,
        report: ReportKey,
        lease: Duration,
    ) -> Result<Option<PhotoMove>, StoreError> {
        let taken = self.taken_move_of(report, lease)?;
        Ok(taken.map(|(photo, Pending { to, .. })| PhotoMove { photo, to }))
    }

    async fn end_photo_move(&self, done: &PhotoMove) -> Result<(), StoreError> {
        self.ended_move(done);
        Ok(())
    }
}
