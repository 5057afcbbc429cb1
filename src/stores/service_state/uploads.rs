use imbl::{OrdMap, OrdSet};

use crate::model::{CardId, Timestamp, Upload};
use crate::stores::TakenUpload;

/// The images of cards. Published images stay in the map, so that a card gets no second image.
#[derive(Clone, Debug, Default)]
pub(in crate::stores) struct Uploads {
    by_card: OrdMap<CardId, Image>,
    expected: OrdSet<(Timestamp, CardId)>,
    due: OrdSet<(Timestamp, CardId)>,
}

/// The state of a card's image.
#[derive(Clone, Debug)]
pub(in crate::stores) struct Image {
    /// The number of refused uploads.
    pub(in crate::stores) turn: u32,
    /// The deadline of the upload.
    pub(in crate::stores) until: Timestamp,
    pub(in crate::stores) state: ImageState,
}

#[derive(Clone, Debug)]
pub(in crate::stores) enum ImageState {
    Expected,
    Received(ReceivedUpload),
    Published,
}

#[derive(Clone, Debug)]
pub(in crate::stores) struct ReceivedUpload {
    pub(in crate::stores) object: Box<str>,
    /// The time from which a server may take the upload.
    pub(in crate::stores) due: Timestamp,
    /// How often servers have taken the upload.
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
    fn image_for(&self, upload: &Upload) -> Option<&Image> {
        self.by_card.get(&upload.card).filter(|image| image.turn == upload.turn)
    }

    fn received(&self, upload: &Upload) -> Option<(Image, ReceivedUpload)> {
        let image = self.image_for(upload)?;
        let ImageState::Received(received) = &image.state else { return None };
        Some((image.clone(), received.clone()))
    }

    /// Replaces the image of a card, and updates the queues.
    fn put(&mut self, card: &CardId, image: Image) {
        if let Some(before) = self.by_card.get(card).cloned()
            && let Some((list, at)) = self.queue(&before)
        {
            list.remove(&(at, card.clone()));
        }
        if let Some((list, at)) = self.queue(&image) {
            list.insert((at, card.clone()));
        }
        self.by_card.insert(card.clone(), image);
    }

    /// Returns the queue for an image in this state, and the time by which the queue orders it.
    fn queue(&mut self, image: &Image) -> Option<(&mut OrdSet<(Timestamp, CardId)>, Timestamp)> {
        match &image.state {
            ImageState::Expected => Some((&mut self.expected, image.until)),
            ImageState::Received(received) => Some((&mut self.due, received.due)),
            ImageState::Published => None,
        }
    }

    /// Expects an image and returns its upload. Returns `None` if an upload was already received, or the image is published.
    pub(in crate::stores) fn expect(&mut self, card: &CardId, until: Timestamp) -> Option<Upload> {
        let new = || Image { turn: 0, until, state: ImageState::Expected };
        let mut image = self.by_card.get(card).cloned().unwrap_or_else(new);
        if !matches!(image.state, ImageState::Expected) {
            return None;
        }
        let turn = image.turn;
        image.until = image.until.max(until);
        self.put(card, image);
        Some(Upload { card: card.clone(), turn })
    }

    pub(in crate::stores) fn expected(&self, card: &CardId) -> Option<Upload> {
        let image = self.by_card.get(card).filter(|image| matches!(image.state, ImageState::Expected))?;
        Some(Upload { card: card.clone(), turn: image.turn })
    }

    pub(in crate::stores) fn expected_until(&self) -> Option<Timestamp> {
        self.expected.get_max().map(|&(until, _)| until)
    }

    /// Counts the received uploads of cards for which `is_ready` returns `true`. Costs O(received uploads).
    pub(in crate::stores) fn waiting(&self, is_ready: impl Fn(&CardId) -> bool) -> u64 {
        self.due.iter().filter(|(_, card)| is_ready(card)).count() as u64
    }

    /// Whether an upload for a card has arrived and was not refused.
    pub(in crate::stores) fn has_arrived(&self, card: &CardId) -> bool {
        self.by_card.get(card).is_some_and(|image| !matches!(image.state, ImageState::Expected))
    }

    pub(in crate::stores) fn image(&self, card: &CardId) -> Option<&Image> {
        self.by_card.get(card)
    }

    pub(in crate::stores) fn is_received(&self, upload: &Upload) -> bool {
        self.received(upload).is_some()
    }

    /// Marks the image as received. Returns whether `object` is now its upload, so repeating the call returns `true` again.
    pub(in crate::stores) fn receive(&mut self, upload: &Upload, object: &str, now: Timestamp) -> bool {
        let Some(image) = self.image_for(upload) else { return false };
        match &image.state {
            ImageState::Expected => {
                let received = ReceivedUpload { object: object.into(), due: now, attempts: 0 };
                let image = Image { state: ImageState::Received(received), ..image.clone() };
                self.put(&upload.card, image);
                true
            }
            ImageState::Received(received) => &*received.object == object,
            ImageState::Published => false,
        }
    }

    /// Returns the cards whose uploads are due, longest due first.
    pub(in crate::stores) fn due(&self, now: Timestamp) -> Vec<CardId> {
        self.due.iter().take_while(|(due, _)| *due <= now).map(|(_, card)| card.clone()).collect()
    }

    /// Takes the upload that has been due for longest, of those whose card is ready. It is next due at `until`.
    pub(in crate::stores) fn take(
        &mut self,
        now: Timestamp,
        until: Timestamp,
        is_ready: impl Fn(&CardId) -> bool,
    ) -> Option<TakenUpload> {
        let mut due = self.due.iter().take_while(|(due, _)| *due <= now);
        let (_, card) = due.find(|(_, card)| is_ready(card))?.clone();
        let turn = self.by_card.get(&card)?.turn;
        let upload = Upload { card, turn };
        let (image, received) = self.received(&upload)?;
        let received =
            ReceivedUpload { due: until, attempts: received.attempts.saturating_add(1), ..received };
        let taken = TakenUpload { upload, object: received.object.clone(), attempt: received.attempts };
        self.put(&taken.upload.card, Image { state: ImageState::Received(received), ..image });
        Some(taken)
    }

    pub(in crate::stores) fn postpone(&mut self, upload: &Upload, due: Timestamp) {
        if let Some((image, received)) = self.received(upload) {
            let state = ImageState::Received(ReceivedUpload { due, ..received });
            self.put(&upload.card, Image { state, ..image });
        }
    }

    pub(in crate::stores) fn refuse(&mut self, upload: &Upload) {
        if let Some((image, _)) = self.received(upload) {
            let turn = image.turn.saturating_add(1);
            self.put(&upload.card, Image { turn, state: ImageState::Expected, ..image });
        }
    }

    /// Removes the image of a card, whatever its state.
    pub(in crate::stores) fn remove(&mut self, card: &CardId) {
        if let Some(before) = self.by_card.remove(card)
            && let Some((list, at)) = self.queue(&before)
        {
            list.remove(&(at, card.clone()));
        }
    }

    /// Marks the image as published, whatever its state. Called when the report of the card has an image.
    pub(in crate::stores) fn finish(&mut self, card: &CardId) {
        if let Some(image) = self.by_card.get(card).cloned() {
            self.put(card, Image { state: ImageState::Published, ..image });
        }
    }
}
