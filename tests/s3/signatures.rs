//! What the storage lets nobody do: the address it signed permits one thing.

use std::collections::HashMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use object_store::path::Path;
use object_store::signer::Signer;
use reqwest::Method;
use serde_json::Value;
use url::Url;

use crate::eventually::{LONG, eventually};
use crate::fixture::block_on;
use crate::photos::photo;
use crate::service::Siaga;
use crate::storage::Storage;

/// An address with another value of a part of its query.
fn with(address: &str, name: &str, value: &str) -> String {
    let mut url = Url::parse(address).unwrap();
    let others: Vec<(String, String)> = url
        .query_pairs()
        .map(
            |(part, old)| {
                if part == name { (part.into(), value.to_owned()) } else { (part.into(), old.into()) }
            },
        )
        .collect();
    url.query_pairs_mut().clear().extend_pairs(others);
    url.into()
}

#[test]
fn an_address_that_is_altered_or_foreign_is_refused() {
    block_on(async {
        let storage = Storage::start().await;
        let siaga = Siaga::start(storage.figment()).await;
        let address = siaga.invited("").await;
        let (path, query) = address.split_once('?').unwrap();
        let flipped = if address.ends_with('0') { "1" } else { "0" };
        for altered in [
            path.to_owned(),
            format!("{}{flipped}", &address[..address.len() - 1]),
            with(&address, "X-Amz-Expires", "90000"),
            with(&address, "X-Amz-SignedHeaders", "host"),
            address.replace("/uploads/used-card", "/uploads/fresh-card"),
            address.replace("/uploads/used-card", "/used-card.jpg"),
            format!("{}?{query}", path.replace("prefix", "other")),
        ] {
            assert_ne!(altered, address);
            let status = siaga.send(&altered, "image/jpeg", photo(40, 30, 1)).await;
            assert!([400, 403].contains(&status), "{status}: {altered}");
        }
        for method in [Method::GET, Method::DELETE] {
            let request = siaga.http.request(method.clone(), &address).header("Content-Type", "image/jpeg");
            assert_eq!(request.send().await.unwrap().status().as_u16(), 403, "{method}");
        }
        assert!(storage.uploads().is_empty());
        assert_eq!(siaga.image_url().await, Value::Null);
    });
}

#[test]
fn another_type_than_the_one_asked_for_is_refused() {
    block_on(async {
        let storage = Storage::start().await;
        let siaga = Siaga::start(storage.figment()).await;
        let address = siaga.invited("?file_type=image/png").await;
        for kind in ["image/jpeg", "text/html", "image/svg+xml", ""] {
            assert_eq!(siaga.send(&address, kind, photo(40, 30, 1)).await, 403, "{kind}");
        }
        let without = siaga.http.put(&address).body(photo(40, 30, 1));
        assert_eq!(without.send().await.unwrap().status().as_u16(), 403);
        assert!(storage.uploads().is_empty());
        assert_eq!(siaga.send(&address, "image/png", photo(40, 30, 1)).await, 200);
        siaga.shows_an_image().await;
    });
}

#[test]
fn an_address_permits_an_upload_for_15_minutes() {
    block_on(async {
        let storage = Storage::start().await;
        let siaga = Siaga::start(storage.figment()).await;
        let address = Url::parse(&siaga.invited("").await).unwrap();
        let query: HashMap<_, _> = address.query_pairs().collect();
        assert_eq!(query["X-Amz-Expires"], "900");
        assert_eq!(query["X-Amz-SignedHeaders"], "content-type;host");
        let today = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let signed = chrono::NaiveDateTime::parse_from_str(&query["X-Amz-Date"], "%Y%m%dT%H%M%SZ").unwrap();
        assert!(today.as_secs().cast_signed().abs_diff(signed.and_utc().timestamp()) < 30);
    });
}

#[test]
fn an_address_that_has_expired_is_refused() {
    block_on(async {
        let storage = Storage::start().await;
        let siaga = Siaga::start(storage.figment()).await;
        let path = Path::from("prefix/uploads/used-card");
        let owner = storage.owner();
        let brief = owner.signed_url(Method::PUT, &path, Duration::from_secs(1)).await.unwrap();
        let status = async || siaga.send(brief.as_str(), "image/jpeg", vec![]).await;
        eventually("it is refused", LONG, status, |status| *status == 403).await;
    });
}
