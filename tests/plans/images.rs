//! Images: of 45,000 cards with a report one is published; 1,000 uploads each are received or expected.

use std::time::Duration;

use rocket::futures::FutureExt;
use siaga::model::Upload;

use crate::fixture::now;
use crate::{Query, found};

const LEASE: Duration = Duration::from_mins(2);

/// An upload of `card-{number}`.
fn upload(number: u32) -> Upload {
    Upload { card: format!("card-{number}").parse().unwrap(), turn: 0 }
}

pub(crate) const QUERIES: [Query; 9] = [
    Query("an image of a card", Some("reports_card_id"), 4, |store| {
        async { found(store.expect_image(&upload(58_000).card, now()).await) }.boxed()
    }),
    Query("an image that is expected", Some("images_pkey"), 4, |store| {
        async { found(store.expect_image(&upload(56_500).card, now()).await) }.boxed()
    }),
    Query("a second image of a card", Some("images_pkey"), 4, |store| {
        async { usize::from(store.expect_image(&upload(20_000).card, now()).await.is_err()) }.boxed()
    }),
    Query("the upload that is expected", Some("images_pkey"), 1, |store| {
        async { store.expected_upload(&upload(56_501).card).await.unwrap().into_iter().count() }.boxed()
    }),
    Query("an upload that has come", Some("images_pkey"), 1, |store| {
        async { usize::from(store.receive_upload(&upload(56_502), "a").await.unwrap()) }.boxed()
    }),
    Query("until when uploads are expected", Some("images_expected_until"), 4, |store| {
        async { store.uploads_expected_until().await.unwrap().into_iter().count() }.boxed()
    }),
    // One of them is the report of its card.
    Query("an upload to work on", Some("images_due"), 5, |store| {
        async { store.take_upload(LEASE).await.unwrap().into_iter().count() }.boxed()
    }),
    Query("a refused upload", Some("images_pkey"), 4, |store| {
        let refuse = async {
            store.postpone_upload(&upload(55_501), LEASE).await.unwrap();
            found(store.refuse_upload(&upload(55_501)).await)
        };
        refuse.boxed()
    }),
    Query("a published image", Some("reports_card_id"), 4, |store| {
        async { usize::from(store.publish_image(&upload(55_502), "url").await.unwrap()) }.boxed()
    }),
];
