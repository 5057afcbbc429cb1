//! One file for each address, and one for each concern that crosses them. These run on every store, because they depend on it;
//! all others are in `independent.rs`, and run in memory only.

use async_trait::async_trait;
use rocket::tokio::sync::OnceCell;
use siaga::stores::{OpenError, OpenStore, OpenedStore, StoreSettings};

use crate::backend;

mod described;
#[allow(dead_code, reason = "not every store runs all tests")]
pub(crate) mod form;
#[allow(dead_code, reason = "not every store runs all tests")]
pub(crate) mod support;

#[path = "../common/eventually.rs"]
pub(crate) mod eventually;
#[path = "../common/photos.rs"]
pub(crate) mod photos;

mod admin;
mod attention;
pub(crate) mod floods_log;
mod hostile_texts;
mod photo_moves;
mod reports_visibility;
pub(crate) mod servers;
mod stored_keys;
mod strangers;
pub(crate) mod wrapped;

/// Opens a store that holds the fixture: the same data for all servers of a test, and for no other test.
#[derive(Debug, Default)]
pub(crate) struct OpenFixture {
    data: OnceCell<backend::Data>,
}

#[async_trait]
impl OpenStore for OpenFixture {
    fn name(&self) -> &'static str {
        "fixture"
    }

    fn keeps_data(&self) -> bool {
        true
    }

    async fn open(&self, settings: &StoreSettings) -> Result<OpenedStore, OpenError> {
        backend::open(&self.data, settings).await
    }
}
