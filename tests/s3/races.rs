//! Many at once.

use std::sync::Arc;

use rocket::futures::future::join_all;
use rocket::tokio;
use siaga::stores::Resource;

use crate::fixture::block_on;
use crate::photos::photo;
use crate::service::{self, IMAGE, Siaga};
use crate::storage::Storage;

#[test]
fn of_50_concurrent_uploads_and_requests_for_a_card_one_image_is_published() {
    block_on(async {
        let storage = Storage::start().await;
        let store = service::store();
        let siaga = Arc::new(Siaga::on(store.clone(), storage.figment()).await);
        let address = siaga.invited("").await;
        let before = siaga.store.revision(Resource::Reports).await.unwrap();
        let start = Arc::new(tokio::sync::Barrier::new(50));
        let all = (1..=50).map(|width| {
            let (siaga, start, address) = (Arc::clone(&siaga), Arc::clone(&start), address.clone());
            tokio::spawn(async move {
                start.wait().await;
                let sending = siaga.send(&address, "image/jpeg", photo(width, 10, 1));
                let (sent, (asked, answer)) = tokio::join!(sending, siaga.ask(""));
                assert_eq!(sent, 200);
                assert!([200, 409].contains(&asked), "{answer}");
            })
        });
        for done in join_all(all).await {
            done.unwrap();
        }
        siaga.shows_an_image().await;
        let shown = siaga.image().await;
        assert!(shown.height() == 10 && (1..=50).contains(&shown.width()));
        assert_eq!(siaga.image_url().await, IMAGE);
        let after = siaga.store.revision(Resource::Reports).await.unwrap();
        assert_eq!(after.0, before.0 + 1, "the report has changed once");

        assert_eq!(siaga.send(&address, "image/jpeg", photo(60, 10, 1)).await, 200);
        Arc::into_inner(siaga).unwrap().end().await;
        let next = Siaga::on(store, storage.figment()).await;
        next.takes_another().await;
        assert_eq!(next.image().await, shown, "what came later is left alone");
    });
}
