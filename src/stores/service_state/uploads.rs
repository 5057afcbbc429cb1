use imbl::{OrdMap, OrdSet};

use crate::model::{CardId, Timestamp, Upload};
use crate::stores::TakenUpload;

/// Images before and after their publication, by card. Published ones stay, so that a card gets no second image.
#[derive(Clone, Debug, Default)]
pub(in crate::stores) struct Uploads {
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
    fn image_for(&self, upload: &Upload) -> Option<&Image> {
        self.by_card.get(&upload.card).filter(|image| image.turn == upload.turn)
    }

    /// Returns an image whose upload is received, and the received upload.
    fn received(&self, upload: &Upload) -> Option<(Image, Received)> {
        let image = self.image_for(upload)?;
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

    /// Expects an image and returns its upload; `None` if its upload is received or the image is published.
    pub(in crate::stores) fn expect(&mut self, card: &CardId, until: Timestamp) -> Option<Upload> {
        let new = || Image { turn: 0, until, state: State::Expected };
        let mut image = self.by_card.get(card).cloned().unwrap_or_else(new);
        if !matches!(image.state, State::Expected) {
            return None;
        }
        let turn = image.turn;
        image.until = image.until.max(until);
        self.put(card, image);
        Some(Upload { card: card.clone(), turn })
    }

    /// Returns the upload of a card, if one is expected.
    pub(in crate::stores) fn expected(&self, card: &CardId) -> Option<Upload> {
        let image = self.by_card.get(card).filter(|image| matches!(image.state, State::Expected))?;
        Some(Upload { card: card.clone(), turn: image.turn })
    }

    /// Returns until when the last of the expected uploads may arrive.
    pub(in crate::stores) fn expected_until(&self) -> Option<Timestamp> {
        self.expected.get_max().map(|&(until, _)| until)
    }

    /// Returns how many received uploads of ready cards there are. Costs O(received uploads).
    pub(in crate::stores) fn waiting(&self, is_ready: impl Fn(&CardId) -> bool) -> u64 {
        self.due.iter().filter(|(_, card)| is_ready(card)).count() as u64
    }

    /// Returns whether an upload for a card has arrived and was not refused.
    pub(in crate::stores) fn has_arrived(&self, card: &CardId) -> bool {
        self.by_card.get(card).is_some_and(|image| !matches!(image.state, State::Expected))
    }

    /// Returns the image of a card, at whatever stage it is.
    pub(in crate::stores) fn image(&self, card: &CardId) -> Option<&Image> {
        self.by_card.get(card)
    }

    /// Returns whether an upload is received, and neither refused nor published.
    pub(in crate::stores) fn is_received(&self, upload: &Upload) -> bool {
        self.received(upload).is_some()
    }

    pub(in crate::stores) fn receive(&mut self, upload: &Upload, object: &str, now: Timestamp) -> bool {
        let Some(image) = self.image_for(upload) else { return false };
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

    /// Returns the cards whose uploads are due, the one that has been for longest first.
    pub(in crate::stores) fn due(&self, now: Timestamp) -> Vec<CardId> {
        self.due.iter().take_while(|(due, _)| *due <= now).map(|(_, card)| card.clone()).collect()
    }

    /// Takes the upload that has been due for longest, of those whose cards are ready.
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
        let received = Received { due: until, attempts: received.attempts.saturating_add(1), ..received };
        let taken = TakenUpload { upload, object: received.object.clone(), attempt: received.attempts };
        self.put(&taken.upload.card, Image { state: State::Received(received), ..image });
        Some(taken)
    }

    pub(in crate::stores) fn postpone(&mut self, upload: &Upload, due: Timestamp) {
        if let Some((image, received)) = self.received(upload) {
            let state = State::Received(Received { due, ..received });
            self.put(&upload.card, Image { state, ..image });
        }
    }

    pub(in crate::stores) fn refuse(&mut self, upload: &Upload) {
        if let Some((image, _)) = self.received(upload) {
            let turn = image.turn.saturating_add(1);
            self.put(&upload.card, Image { turn, state: State::Expected, ..image });
        }
    }

    /// Removes the image of a card, at whatever stage it is.
    pub(in crate::stores) fn forget(&mut self, card: &CardId) {
        if let Some(before) = self.by_card.remove(card)
            && let Some((list, at)) = self.list(&before)
        {
            list.remove(&(at, card.clone()));
        }
    }

    /// Ends the upload of a card's image, at whatever stage it is, because the report shows an image.
    pub(in crate::stores) fn end(&mut self, card: &CardId) {
        if let Some(image) = self.by_card.get(card).cloned() {
            self.put(card, Image { state: State::Published, ..image });
        }
    }
}
