//! Many officers at the desk share the reads of the store.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use rocket::futures::future::join_all;
use rocket::http::{ContentType, Header, Status};
use rocket::local::asynchronous::Client;
use serde_json::{Value, json};
use siaga::model::{AreaId, Clock, LoggedChange, alerts::LogEntry};
use siaga::stores::{Decorator, EntryQuery, FloodLogQuery, Store, StoreError, Versioned};

use crate::backend::OpenFixture;
use crate::fixture::block_on;
use crate::suite::support::{KEY, figment, key, service};
use crate::suite::wrapped::{OpenWrapped, Wrapped};

/// Number of reads for the news of the desk, and for the attention list.
#[derive(Clone, Debug, Default)]
struct Reads {
    news: Arc<AtomicUsize>,
    attention: Arc<AtomicUsize>,
}

#[async_trait]
impl Decorator for Wrapped<Reads> {
    fn inner(&self) -> &dyn Store {
        &*self.inner
    }

    async fn all_flood_changes(&self, query: &FloodLogQuery) -> Result<Vec<LoggedChange>, StoreError> {
        self.by.news.fetch_add(1, Ordering::SeqCst);
        self.inner.all_flood_changes(query).await
    }

    async fn flood_entries(
        &self,
        query: &EntryQuery,
    ) -> Result<Versioned<Vec<(AreaId, Vec<LogEntry>)>>, StoreError> {
        self.by.attention.fetch_add(1, Ordering::SeqCst);
        self.inner.flood_entries(query).await
    }
}

#[test]
fn twenty_desks_query_the_store_as_often_as_one_and_see_every_change() {
    block_on(async {
        let reads = Reads::default();
        let opener = OpenWrapped::new(OpenFixture::default(), reads.clone());
        let (rocket, clock, _fixture) = service(figment(), |builder| builder.store(opener)).await;
        let client = Client::tracked(rocket).await.unwrap();
        let form = format!("name=Sri&key={}", KEY.replace(' ', "+"));
        let login = client.post("/desk/login").header(ContentType::Form).body(form);
        let login = login.header(Header::new("Sec-Fetch-Site", "same-origin")).dispatch().await;
        assert_eq!(login.status(), Status::SeeOther);

        for round in 1..=2 {
            clock.set(clock.now().saturating_add(Duration::from_secs(2)));
            let change = client.put("/v1/floods/1").header(key(KEY));
            let change = change.body(json!({ "state": round }).to_string()).dispatch().await;
            assert_eq!(change.status(), Status::Ok);
            let count = || [&reads.news, &reads.attention].map(|count| count.load(Ordering::SeqCst));
            let before = count();
            let read = async |address: &'static str| {
                let response = client.get(address).header(key(KEY)).dispatch().await;
                assert_eq!(response.status(), Status::Ok, "{address}");
                response.into_json::<Value>().await.unwrap()["result"].clone()
            };
            let (desks, _lists) = rocket::futures::future::join(
                join_all((0..20).map(|_| read("/desk/news"))),
                join_all((0..20).map(|_| read("/v1/floods/attention"))),
            )
            .await;
            for news in desks {
                assert_eq!(news["log"][0]["state"], round, "no desk gets news from before its request");
            }
            let after = count();
            let [news, attention] = [after[0] - before[0], after[1] - before[1]];
            assert!(news <= 2 && attention <= 2, "{news} and {attention} reads for 20 desks and 20 lists");
        }
    });
}
