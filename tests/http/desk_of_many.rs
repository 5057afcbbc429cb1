//! Many officers at the desk: what they see is collected once for all.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use rocket::futures::future::join_all;
use rocket::http::{ContentType, Header, Status};
use rocket::local::asynchronous::Client;
use serde_json::{Value, json};
use siaga::model::{AreaId, Clock, LoggedChange, alerts::LogEntry};
use siaga::stores::{
    Decorator, EntryQuery, FloodLogQuery, OpenError, OpenStore, OpenedStore, Store, StoreError,
    StoreSettings, Versioned,
};

use crate::backend::OpenFixture;
use crate::fixture::block_on;
use crate::suite::support::{KEY, figment, key, service};

/// How often a store was read for the news of the desk, and for the areas that need attention.
#[derive(Debug, Default)]
struct Reads {
    news: AtomicUsize,
    attention: AtomicUsize,
}

#[derive(Debug)]
struct Counting {
    inner: Arc<dyn Store>,
    reads: Arc<Reads>,
    /// Keeps the data for as long as there is the store.
    _fixture: Arc<OpenFixture>,
}

#[derive(Debug, Default)]
struct OpenCounting {
    fixture: Arc<OpenFixture>,
    reads: Arc<Reads>,
}

impl fmt::Display for Counting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, counted", self.inner)
    }
}

#[async_trait]
impl Decorator for Counting {
    fn inner(&self) -> &dyn Store {
        &*self.inner
    }

    async fn all_flood_changes(&self, query: &FloodLogQuery) -> Result<Vec<LoggedChange>, StoreError> {
        self.reads.news.fetch_add(1, Ordering::SeqCst);
        self.inner.all_flood_changes(query).await
    }

    async fn flood_entries(
        &self,
        query: &EntryQuery,
    ) -> Result<Versioned<Vec<(AreaId, Vec<LogEntry>)>>, StoreError> {
        self.reads.attention.fetch_add(1, Ordering::SeqCst);
        self.inner.flood_entries(query).await
    }
}

#[async_trait]
impl OpenStore for OpenCounting {
    fn name(&self) -> &'static str {
        "counting"
    }

    fn keeps_data(&self) -> bool {
        true
    }

    async fn open(&self, settings: &StoreSettings) -> Result<OpenedStore, OpenError> {
        let mut opened = self.fixture.open(settings).await?;
        let (reads, fixture) = (Arc::clone(&self.reads), Arc::clone(&self.fixture));
        opened.store = Arc::new(Counting { inner: opened.store, reads, _fixture: fixture });
        Ok(opened)
    }
}

#[test]
fn twenty_desks_cost_no_more_than_one_and_none_misses_a_change() {
    block_on(async {
        let opener = Arc::new(OpenCounting::default());
        let reads = Arc::clone(&opener.reads);
        let figment = figment().merge(("siaga.store", "counting"));
        let (rocket, clock, _fixture) = service(figment, |builder| builder.store(opener)).await;
        let client = Client::tracked(rocket).await.unwrap();
        let mut form = url::form_urlencoded::Serializer::new(String::new());
        form.extend_pairs([("name", "Sri"), ("key", KEY)]);
        let login = client.post("/desk/login").header(ContentType::Form).body(form.finish());
        let login = login.header(Header::new("Sec-Fetch-Site", "same-origin")).dispatch().await;
        assert_eq!(login.status(), Status::SeeOther);

        for round in 1..=2 {
            clock.set(clock.now().after(Duration::from_secs(2)));
            let change =
                client.put("/v1/floods/1").header(key(KEY)).body(json!({ "state": round }).to_string());
            assert_eq!(change.dispatch().await.status(), Status::Ok);
            let before = [&reads.news, &reads.attention].map(|count| count.load(Ordering::SeqCst));
            let read = async |address: &'static str| {
                let response = client.get(address).header(key(KEY)).dispatch().await;
                assert_eq!(response.status(), Status::Ok, "{address}");
                response.into_json::<Value>().await.unwrap()["result"].clone()
            };
            let (desks, lists) = rocket::futures::future::join(
                join_all((0..20).map(|_| read("/desk/news"))),
                join_all((0..20).map(|_| read("/v1/floods/attention"))),
            )
            .await;
            for news in desks {
                assert_eq!(news["log"][0]["state"], round, "no desk gets news from before its request");
            }
            assert_eq!(lists.len(), 20);
            let after = [&reads.news, &reads.attention].map(|count| count.load(Ordering::SeqCst));
            let [news, attention] = [after[0] - before[0], after[1] - before[1]];
            assert!(news <= 2 && attention <= 2, "{news} and {attention} reads for 20 desks and 20 lists");
        }
    });
}
