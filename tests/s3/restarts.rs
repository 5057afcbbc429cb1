//! Uploads that come while no server runs.

use crate::fixture::block_on;
use crate::photos::photo;
use crate::service::{self, Siaga};
use crate::storage::Storage;

#[test]
fn an_upload_sent_while_no_server_runs_is_found_after_the_next_start() {
    block_on(async {
        let storage = Storage::start().await;
        let store = service::store();
        let first = Siaga::on(store.clone(), storage.figment()).await;
        let address = first.invited("").await;
        let http = first.http.clone();
        first.end().await;

        let sent = http.put(address).header("Content-Type", "image/jpeg").body(photo(60, 30, 1)).send().await;
        assert_eq!(sent.unwrap().status().as_u16(), 200);
        assert_eq!(storage.uploads(), ["used-card"], "nobody has taken it");

        let second = Siaga::on(store, storage.figment()).await;
        second.shows_an_image().await;
        assert_eq!(second.image().await.width(), 60);
    });
}
