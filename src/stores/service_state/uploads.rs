use std::time::Duration;

use imbl::{OrdMap, OrdSet};

use super::{ServiceState, lock};
use crate::auth::Secret;
use crate::model::{CardId, Timestamp, Upload};
use crate::stores::TakenUpload;

/// Images before and after their publication, by card. Published ones stay, so that a card gets no second image.
#[derive(Clone, Debug, Default)]
pub(super) struct Uploads {
    by_card: OrdMap<CardId, Image>,
    /// Those expected, by the time until which they are expected.
    expected: OrdSet<(Timestamp, CardId)>,
    /// Those received, by the time from which they may be taken.
    due: OrdSet<(Timestamp, CardId)>,
}

/// The image of a card.
#[derive(Clone, Debug)]
pub(in crate::stores) struct Image {
    /// How many uploads were refused.
    pub(in crate::stores) turn: u32,
    /// Until when the upload is, or was, expected.
    pub(in crate::stores) until: Timestamp,
    pub(in crate::stores) state: State,
}

#[derive(Clone, Debug)]
pub(in crate::stores) enum State {
    Expected,
    Received(Received),
    Published,
}

/// An upload that has arrived.
#[derive(Clone, Debug)]
pub(in crate::stores) struct Received {
    pub(in crate::stores) object: Box<str>,
    /// The time from which it may be taken.
    pub(in crate::stores) due: Timestamp,
    /// How often it was taken.
    pub(in crate::stores) attempts: u32,
}

impl FromIterator<(CardId, Image)> for Uploads {
    fn from_iter<I: IntoIterator<Item = (CardId, Image)>>(images: I) -> Self {
        let mut uploads = Self::default();
        images.into_iter().for_each(|(card, image)| uploads.put(&card, image));
        uploads
    }
}

impl Uploads {
    fn of(&self, upload: &Upload) -> Option<&Image> {
        self.by_card.get(&upload.card).filter(|image| image.turn == upload.turn)
    }

    /// Returns an image whose upload is received, and the received upload.
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

    /// Returns the list that contains an image, and the image's time in it.
    fn list(&mut self, image: &Image) -> Option<(&mut OrdSet<(Timestamp, CardId)>, Timestamp)> {
        match &image.state {
            State::Expected => Some((&mut self.expected, image.until)),
            State::Received(received) => Some((&mut self.due, received.due)),
            State::Published => None,
        }
    }

    /// Expects an image and returns its turn; `None` if its upload is received or the image is published.
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

    /// Removes the image of a card, at whatever stage it is.
    fn forget(&mut self, card: &CardId) {
        if let Some(before) = self.by_card.remove(card)
            && let Some((list, at)) = self.list(&before)
        {
            list.remove(&(at, card.clone()));
        }
    }

    /// Ends the upload of a card's image, at whatever stage it is, because the report shows an image.
    fn end(&mut self, card: &CardId) {
        if let Some(image) = self.by_card.get(card).cloned() {
            self.put(card, Image { state: State::Published, ..image });
        }
    }
}

impl ServiceState {
    /// Returns the secret that signs the addresses of uploads: `new`, unless there is one already.
    pub(in crate::stores) fn signing_key(&self, new: &Secret) -> Secret {
        lock(&self.signing_key).get_or_insert_with(|| new.clone()).clone()
    }

    /// Expects an image and returns its upload; `None` if its upload is received or the image is published.
    pub(in crate::stores) fn expect_image(&self, card: &CardId, until: Timestamp) -> Option<Upload> {
        let turn = lock(&self.uploads).expect(card, until)?;
        Some(Upload { card: card.clone(), turn })
    }

    pub(in crate::stores) fn expected_upload(&self, card: &CardId) -> Option<Upload> {
        let uploads = lock(&self.uploads);
        let expected = uploads.by_card.get(card).filter(|image| matches!(image.state, State::Expected));
        expected.map(|image| Upload { card: card.clone(), turn: image.turn })
    }

    pub(in crate::stores) fn receive_upload(&self, upload: &Upload, object: &str) -> bool {
        lock(&self.uploads).receive(upload, object, self.clock.now())
    }

    pub(in crate::stores) fn uploads_expected_until(&self) -> Option<Timestamp> {
        lock(&self.uploads).expected.get_max().map(|&(until, _)| until)
    }

    pub(in crate::stores) fn uploads_waiting(&self) -> u64 {
        lock(&self.uploads).due.len() as u64
    }

    pub(in crate::stores) fn take_upload(&self, lease: Duration) -> Option<TakenUpload> {
        let now = self.clock.now();
        lock(&self.uploads).take(now, now.after(lease))
    }

    pub(in crate::stores) fn postpone_upload(&self, upload: &Upload, delay: Duration) {
        lock(&self.uploads).postpone(upload, self.clock.now().after(delay));
    }

    pub(in crate::stores) fn refuse_upload(&self, upload: &Upload) {
        lock(&self.uploads).refuse(upload);
    }

    /// Returns whether an upload is received, and neither refused nor published.
    pub(in crate::stores) fn is_received(&self, upload: &Upload) -> bool {
        lock(&self.uploads).received(upload).is_some()
    }

    /// Returns the image of a card, at whatever stage it is.
    pub(in crate::stores) fn image(&self, card: &CardId) -> Option<Image> {
        lock(&self.uploads).by_card.get(card).cloned()
    }

    pub(in crate::stores) fn forget_image(&self, card: &CardId) {
        lock(&self.uploads).forget(card);
    }

    pub(in crate::stores) fn end_image(&self, card: &CardId) {
        lock(&self.uploads).end(card);
    }
}
