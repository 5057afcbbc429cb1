//! Random operations on images.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use siaga::model::{CardId, DisasterType, Upload};
use siaga::stores::TakenUpload;

use crate::fixture::now;
use crate::operations::{CardChoice, Content, Operation, card, content, moved, operation, tick};
use crate::{Outcome, Side, debug, shown};

#[derive(Clone, Debug)]
pub(crate) enum OfImage {
    /// Until a number of milliseconds after [`now`].
    Expect(CardChoice, i64),
    Expected(CardChoice),
    Receive(UploadChoice, &'static str),
    ExpectedUntil,
    Take(Duration),
    Postpone(UploadChoice, Duration),
    Refuse(UploadChoice),
    Publish(UploadChoice, &'static str),
}

/// An upload, by the distance of its turn from the card's last one.
#[derive(Clone, Debug)]
pub(crate) struct UploadChoice(CardChoice, u32);

impl Side {
    pub(crate) async fn apply_to_image(&mut self, operation: OfImage) -> Outcome {
        let store = Arc::clone(&self.store);
        match operation {
            OfImage::Expect(choice, until) => {
                let expected = store.expect_image(&self.card(&choice), moved(now(), until)).await;
                let expected = expected.inspect(|upload| self.note(upload));
                shown(expected, |upload| self.of_upload(&upload))
            }
            OfImage::Expected(choice) => {
                let expected = store.expected_upload(&self.card(&choice)).await;
                shown(expected, |upload| debug(upload.map(|upload| self.of_upload(&upload))))
            }
            OfImage::Receive(choice, object) => {
                shown(store.receive_upload(&self.upload(&choice), object).await, debug)
            }
            OfImage::ExpectedUntil => {
                let until = shown(store.uploads_expected_until().await, debug)?;
                shown(store.uploads_waiting().await, |waiting| format!("{until}, {waiting} waiting"))
            }
            OfImage::Take(lease) => {
                let taken = store.take_upload(lease).await;
                let taken = taken.inspect(|taken| taken.iter().for_each(|taken| self.note(&taken.upload)));
                let show = |TakenUpload { upload, object, attempt }| {
                    format!("{} as {object}, {attempt}", self.of_upload(&upload))
                };
                shown(taken, |taken| debug(taken.map(show)))
            }
            OfImage::Postpone(choice, delay) => {
                shown(store.postpone_upload(&self.upload(&choice), delay).await, debug)
            }
            OfImage::Refuse(choice) => shown(store.refuse_upload(&self.upload(&choice)).await, debug),
            OfImage::Publish(choice, url) => {
                shown(store.publish_image(&self.upload(&choice), url).await, debug)
            }
        }
    }

    fn note(&mut self, upload: &Upload) {
        self.turns.insert(upload.card.clone(), upload.turn);
    }

    fn upload(&self, UploadChoice(choice, after): &UploadChoice) -> Upload {
        let card = self.card(choice);
        let turn = self.turns.get(&card).map_or(0, |turn| turn + after);
        Upload { card, turn }
    }

    fn of_upload(&self, upload: &Upload) -> String {
        let is_meant = |card: &CardId| *card == upload.card;
        match self.cards.iter().position(is_meant) {
            Some(number) => format!("upload {} of card {number}", upload.turn),
            None => upload.to_string(),
        }
    }
}

fn upload() -> impl Strategy<Value = UploadChoice> {
    let after = prop_oneof![8 => Just(0), 1 => Just(1)];
    (card(), after).prop_map(|(card, after)| UploadChoice(card, after))
}

/// A duration, rarely repeated.
fn duration() -> impl Strategy<Value = Duration> {
    prop_oneof![1 => Just(0), 3 => 0..=10_000_u64, 3 => 0..=7_200_000_u64].prop_map(Duration::from_millis)
}

pub(crate) fn of_image() -> impl Strategy<Value = OfImage> {
    let object = prop::sample::select(vec!["a", "b", "☔"]);
    let url = prop::sample::select(vec!["http://example.org/1.jpg", "http://example.org/2.jpg"]);
    prop_oneof![
        6 => (card(), -7_200_000..=7_200_000_i64).prop_map(|(card, until)| OfImage::Expect(card, until)),
        3 => card().prop_map(OfImage::Expected),
        8 => (upload(), object).prop_map(|(upload, object)| OfImage::Receive(upload, object)),
        3 => Just(OfImage::ExpectedUntil),
        6 => duration().prop_map(OfImage::Take),
        3 => (upload(), duration()).prop_map(|(upload, delay)| OfImage::Postpone(upload, delay)),
        3 => upload().prop_map(OfImage::Refuse),
        3 => (upload(), url).prop_map(|(upload, url)| OfImage::Publish(upload, url)),
    ]
}

/// Reports of cards, followed by operations mostly on images.
pub(crate) fn operations_around_images() -> impl Strategy<Value = Vec<Operation>> {
    let (disaster, place) = (DisasterType::Flood, (0.5, 0.5));
    let report = Content { after: 0, disaster, has_image: false, training: false, place };
    let cards = (0..4).flat_map(move |number| {
        [Operation::CreateCard, Operation::ReceiveCard(CardChoice::Made(number), report.clone())]
    });
    let cards: Vec<_> = cards.collect();
    prop::collection::vec(operation_around_images(), 100)
        .prop_map(move |operations| cards.iter().cloned().chain(operations).collect())
}

fn operation_around_images() -> impl Strategy<Value = Operation> {
    prop_oneof![
        16 => of_image().prop_map(Operation::OfImage),
        2 => tick().prop_map(Operation::Tick),
        2 => (card(), content()).prop_map(|(card, content)| Operation::ReceiveCard(card, content)),
        2 => (1..12_u64).prop_map(Operation::Report),
        1 => operation(),
    ]
}
