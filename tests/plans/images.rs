//! Images on their way: of 45,000 cards with a report one is published, of 1,000 each an upload is received or expected.

use std::time::Duration;

use rocket::futures::FutureExt;
use siaga::model::Upload;

use crate::fixture::now;
use crate::{Question, found};

const LEASE: Duration = Duration::from_mins(2);

/// An upload of `card-{number}`.
fn upload(number: u32) -> Upload {
    Upload { card: format!("card-{number}").parse().unwrap(), turn: 0 }
}

pub(crate) const QUESTIONS: [Question; 9] = [
    Question {
        name: "an image of a card",
        ask: |store| async { found(store.expect_image(&upload(58_000).card, now()).await) }.boxed(),
        index: Some("reports_card_id"),
        rows: 4,
    },
    Question {
        name: "an image that is expected",
        ask: |store| async { found(store.expect_image(&upload(56_500).card, now()).await) }.boxed(),
        index: Some("images_pkey"),
        rows: 4,
    },
    Question {
        name: "a second image of a card",
        ask: |store| {
            async { usize::from(store.expect_image(&upload(20_000).card, now()).await.is_err()) }.boxed()
        },
        index: Some("images_pkey"),
        rows: 4,
    },
    Question {
        name: "the upload that is expected",
        ask: |store| {
            async { usize::from(store.expected_upload(&upload(56_501).card).await.unwrap().is_some()) }
                .boxed()
        },
        index: Some("images_pkey"),
        rows: 1,
    },
    Question {
        name: "an upload that has come",
        ask: |store| async { usize::from(store.receive_upload(&upload(56_502), "a").await.unwrap()) }.boxed(),
        index: Some("images_pkey"),
        rows: 1,
    },
    Question {
        name: "until when uploads are expected",
        ask: |store| async { usize::from(store.uploads_expected_until().await.unwrap().is_some()) }.boxed(),
        index: Some("images_expected_until"),
        rows: 4,
    },
    Question {
        name: "an upload to work on",
        ask: |store| async { usize::from(store.take_upload(LEASE).await.unwrap().is_some()) }.boxed(),
        index: Some("images_due"),
        // One of them is the report of its card.
        rows: 5,
    },
    Question {
        name: "a refused upload",
        ask: |store| {
            let refuse = async {
                store.postpone_upload(&upload(55_501), LEASE).await.unwrap();
                found(store.refuse_upload(&upload(55_501)).await)
            };
            refuse.boxed()
        },
        index: Some("images_pkey"),
        rows: 4,
    },
    Question {
        name: "a published image",
        ask: |store| {
            async { usize::from(store.publish_image(&upload(55_502), "url").await.unwrap()) }.boxed()
        },
        index: Some("reports_card_id"),
        rows: 4,
    },
];
