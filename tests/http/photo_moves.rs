//! Moves of photos of hidden and erased reports with a large backlog.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use rocket::http::{Method, Status};
use rocket::tokio::time;
use siaga::model::{PhotoMove, PhotoPlace};
use siaga::stores::{Decorator, Store, StoreError};

use crate::backend::OpenFixture;
use crate::suite::eventually::{LONG, eventually_blocking};
use crate::suite::form::{shows_its_photo, upload, upload_path};
use crate::suite::support::{Siaga, figment};
use crate::suite::wrapped::{OpenWrapped, Wrapped};

/// A backlog of photos that a store returns first; each takes a while to move.
#[derive(Clone, Debug, Default)]
struct Busy(Arc<AtomicU64>);

#[async_trait]
impl Decorator for Wrapped<Busy> {
    fn inner(&self) -> &dyn Store {
        &*self.inner
    }

    async fn take_photo_move(&self, lease: Duration) -> Result<Option<PhotoMove>, StoreError> {
        let taken = self.by.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        if taken.is_err() {
            return self.inner.take_photo_move(lease).await;
        }
        time::sleep(Duration::from_millis(1)).await;
        Ok(Some(PhotoMove { photo: "other-card.jpg".into(), to: PhotoPlace::Gone }))
    }
}

fn with_busy() -> (Siaga, Arc<AtomicU64>) {
    let busy = Busy::default();
    let opener = OpenWrapped::new(OpenFixture::default(), busy.clone());
    (Siaga::with(figment(), |builder| builder.store(opener)), busy.0)
}

fn publish(siaga: &Siaga) {
    upload(siaga, &upload_path(siaga.request(Method::Get, "/v1/cards/used-card/images", "")));
    shows_its_photo(siaga);
}

fn set(siaga: &Siaga, hidden: bool) {
    let body = format!(r#"{{"hidden":{hidden},"reason":"a test"}}"#);
    assert_eq!(siaga.request(Method::Put, "/v1/reports/1/visibility", body).status(), Status::Ok);
}

#[test]
fn a_request_moves_its_own_photo_regardless_of_the_backlog() {
    let (siaga, left) = with_busy();
    publish(&siaga);
    left.store(u64::MAX, Ordering::SeqCst);
    let photo = || siaga.get("/v1/images/used-card.jpg").status();
    for (hidden, expected) in [(true, Status::NotFound), (false, Status::Ok), (true, Status::NotFound)] {
        set(&siaga, hidden);
        assert_eq!(photo(), expected, "as soon as the moderation is confirmed");
    }
    assert!(left.load(Ordering::SeqCst) > u64::MAX / 2, "the others wait");
}

#[test]
fn photos_are_moved_until_none_is_left() {
    // Many more than the server moves at once, every second.
    let (siaga, left) = with_busy();
    left.store(400, Ordering::SeqCst);
    set(&siaga, true);
    let left = || left.load(Ordering::SeqCst);
    eventually_blocking("all photos are moved", LONG, left, |left| *left == 0);
}

#[test]
fn only_the_owner_of_a_folder_of_photos_can_read_the_hidden_ones() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let hidden = folder.path().join("hidden");
    std::fs::create_dir(&hidden).unwrap();
    std::fs::set_permissions(&hidden, std::fs::Permissions::from_mode(0o755)).unwrap();
    let siaga = Siaga::with_setting("siaga.images.url", format!("file://{}", folder.path().display()));
    publish(&siaga);
    set(&siaga, true);
    assert!(hidden.join("used-card.jpg").exists());
    assert_eq!(std::fs::metadata(&hidden).unwrap().permissions().mode() & 0o777, 0o700);
}
