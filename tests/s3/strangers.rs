//! Unknown objects in the folder of uploads.

use std::sync::Arc;
use std::time::Duration;

use siaga::model::{Clock, ManualClock, SystemClock};

use crate::eventually::{LONG, eventually};
use crate::photos::photo;
use crate::service::{Siaga, store};
use crate::storage::{PROTECTED, Storage};

const STRANGERS: [&str; 6] =
    ["x", "fresh-card", "no-such-card", "used-card.jpg", "used-card.0.jpeg", "=2e=2e"];

#[rocket::async_test]
async fn unknown_objects_are_ignored() {
    let storage = Storage::start().await;
    let siaga = Siaga::start(storage.figment()).await;
    for name in STRANGERS {
        storage.put(&format!("prefix/uploads/{name}"), photo(40, 30, 1)).await;
    }
    // They sort before and after it.
    let address = siaga.upload_address("").await;
    assert_eq!(siaga.send(&address, "image/jpeg", photo(60, 30, 1)).await, 200);
    siaga.shows_an_image().await;
    assert_eq!(siaga.image().await.width(), 60);
    let mut strangers = STRANGERS.to_vec();
    strangers.sort_unstable();
    eventually("the strangers are left", LONG, async || storage.uploads(), |left| *left == strangers).await;
}

#[rocket::async_test]
async fn an_old_upload_that_cannot_be_deleted_blocks_no_other() {
    let storage = Storage::start().await;
    let clock = Arc::new(ManualClock::new(SystemClock.now()));
    let siaga = Siaga::by(Arc::clone(&clock) as _, store(), storage.figment()).await;
    let stuck = ["0", "z"].map(|end| format!("{PROTECTED}{end}"));
    for name in [&stuck[0], "old-card", &stuck[1]] {
        storage.put(&format!("prefix/uploads/{name}"), photo(40, 30, 1)).await;
        storage.date_back(name, Duration::from_hours(30));
    }
    // Old uploads are deleted by a service that has run for an hour.
    clock.set(SystemClock.now().saturating_add(Duration::from_mins(61)));
    let address = siaga.upload_address("").await;
    assert_eq!(siaga.send(&address, "image/jpeg", photo(60, 30, 1)).await, 200);
    siaga.shows_an_image().await;
    eventually("what is stuck is left", LONG, async || storage.uploads(), |left| *left == stuck).await;
}
