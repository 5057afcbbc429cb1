use std::time::Duration;

use async_trait::async_trait;
use imbl::{OrdMap, OrdSet};

use super::MemoryStore;
use super::snapshot::Written;
use crate::model::{CardId, Timestamp, Upload};
use crate::stores::{ImageStore, StoreError, TakenUpload};

/// Images on their way, by card: none is forgotten when it is published, so that the card has no second.
#[derive(Clone, Debug, Default)]
pub(super) struct Images {
    by_card: OrdMap<CardId, Image>,
    /// Those expected, by the time until when.
    expected: OrdSet<(Timestamp, CardId)>,
    /// Those received, by the time from when on they may be taken.
    due: OrdSet<(Timestamp, CardId)>,
}

#[derive(Clone, Debug)]
struct Image {
    /// How many uploads were refused.
    turn: u32,
    /// Until when the upload is expected, or was.
    until: Timestamp,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    Expected,
    Received(Received),
    Published,
}

#[derive(Clone, Debug)]
struct Received {
    object: Box<str>,
    /// From when on it may be taken.
    due: Timestamp,
    /// How often it was taken.
    attempts: u32,
}

impl Images {
    fn of(&self, upload: &Upload) -> Option<&Image> {
        self.by_card.get(&upload.card).filter(|image| image.turn == upload.turn)
    }

    /// An image whose upload is received, and as what.
    fn received(&self, upload: &Upload) -> Option<(Image, Received)> {
        let image = self.of(upload)?;
        let State::Received(received) = &image.state else { return None };
        Some((image.clone(), received.clone()))
    }

    fn put(&mut self, card: &CardId, image: Image) {
        if let Some(before) = self.by_card.get(card).cloned()
            && let Some((list, at)) = self.list(&before)
        {
            list.remove(&(at, card.clone()));
        }
        if let Some((list, at)) = self.list(&image) {
            list.insert((at, card.clone()));
        }
        self.by_card.insert(card.clone(), image);
    }

    /// The list an image is in, and by which time.
    fn list(&mut self, image: &Image) -> Option<(&mut OrdSet<(Timestamp, CardId)>, Timestamp)> {
        match &image.state {
            State::Expected => Some((&mut self.expected, image.until)),
            State::Received(received) => Some((&mut self.due, received.due)),
            State::Published => None,
        }
    }

    /// Expects an image; `None` when its upload is received, or it is published.
    fn expect(&mut self, card: &CardId, until: Timestamp) -> Option<u32> {
        let new = || Image { turn: 0, until, state: State::Expected };
        let mut image = self.by_card.get(card).cloned().unwrap_or_else(new);
        if !matches!(image.state, State::Expected) {
            return None;
        }
        let turn = image.turn;
        image.until = image.until.max(until);
        self.put(card, image);
        Some(turn)
    }

    fn receive(&mut self, upload: &Upload, object: &str, now: Timestamp) -> bool {
        let Some(image) = self.of(upload) else { return false };
        match &image.state {
            State::Expected => {
                let received = Received { object: object.into(), due: now, attempts: 0 };
                let image = Image { state: State::Received(received), ..image.clone() };
                self.put(&upload.card, image);
                true
            }
            State::Received(received) => &*received.object == object,
            State::Published => false,
        }
    }

    fn take(&mut self, now: Timestamp, until: Timestamp) -> Option<TakenUpload> {
        let (_, card) = self.due.get_min().filter(|(due, _)| *due <= now)?.clone();
        let turn = self.by_card.get(&card)?.turn;
        let upload = Upload { card, turn };
        let (image, received) = self.received(&upload)?;
        let received = Received { due: until, attempts: received.attempts.saturating_add(1), ..received };
        let taken = TakenUpload { upload, object: received.object.clone(), attempt: received.attempts };
        self.put(&taken.upload.card, Image { state: State::Received(received), ..image });
        Some(taken)
    }

    fn postpone(&mut self, upload: &Upload, due: Timestamp) {
        if let Some((image, received)) = self.received(upload) {
            let state = State::Received(Received { due, ..received });
            self.put(&upload.card, Image { state, ..image });
        }
    }

    fn refuse(&mut self, upload: &Upload) {
        if let Some((image, _)) = self.received(upload) {
            let turn = image.turn.saturating_add(1);
            self.put(&upload.card, Image { turn, state: State::Expected, ..image });
        }
    }

    /// Ends the way of an image whose upload is received; tells whether it is.
    fn end(&mut self, upload: &Upload) -> bool {
        let Some((image, _)) = self.received(upload) else { return false };
        self.put(&upload.card, Image { state: State::Published, ..image });
        true
    }
}

#[async_trait]
impl ImageStore for MemoryStore {
    async fn expect_image(&self, card: &CardId, until: Timestamp) -> Result<Upload, StoreError> {
        self.intake.snapshots.write(|snapshot| {
            let report = snapshot.report_of(card)?.ok_or_else(|| StoreError::not_received(card))?;
            let shown = report.content.image_url.is_some();
            let turn = if shown { None } else { snapshot.images.expect(card, until) };
            let turn = turn.ok_or_else(|| StoreError::has_image(card))?;
            Ok(Written::Unseen(Upload { card: card.clone(), turn }))
        })
    }

    async fn expected_upload(&self, card: &CardId) -> Result<Option<Upload>, StoreError> {
        let snapshot = self.intake.snapshots.read();
        let image = snapshot.value.images.by_card.get(card);
        let expected = image.filter(|image| matches!(image.state, State::Expected));
        Ok(expected.map(|image| Upload { card: card.clone(), turn: image.turn }))
    }

    async fn receive_upload(&self, upload: &Upload, object: &str) -> Result<bool, StoreError> {
        let now = self.clock.now();
        self.write_images(|images| images.receive(upload, object, now))
    }

    async fn uploads_expected_until(&self) -> Result<Option<Timestamp>, StoreError> {
        let snapshot = self.intake.snapshots.read();
        Ok(snapshot.value.images.expected.get_max().map(|&(until, _)| until))
    }

    async fn uploads_waiting(&self) -> Result<u64, StoreError> {
        Ok(self.intake.snapshots.read().value.images.due.len() as u64)
    }

    async fn take_upload(&self, lease: Duration) -> Result<Option<TakenUpload>, StoreError> {
        let now = self.clock.now();
        self.write_images(|images| images.take(now, now.after(lease)))
    }

    async fn postpone_upload(&self, upload: &Upload, delay: Duration) -> Result<(), StoreError> {
        let due = self.clock.now().after(delay);
        self.write_images(|images| images.postpone(upload, due))
    }

    async fn refuse_upload(&self, upload: &Upload) -> Result<(), StoreError> {
        self.write_images(|images| images.refuse(upload))
    }

    async fn publish_image(&self, upload: &Upload, url: &str) -> Result<bool, StoreError> {
        self.intake.snapshots.write(|snapshot| {
            let shown = snapshot.images.end(upload) && snapshot.show_image(&upload.card, url)?;
            Ok(if shown { Written::Visible(true) } else { Written::Unseen(false) })
        })
    }
}

impl MemoryStore {
    /// Changes what readers of reports do not see.
    fn write_images<R>(&self, change: impl FnOnce(&mut Images) -> R) -> Result<R, StoreError> {
        self.intake.snapshots.write(|snapshot| Ok(Written::Unseen(change(&mut snapshot.images))))
    }
}
