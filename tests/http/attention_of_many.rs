//! Duration of the attention list in a large city.

use std::time::{Duration, Instant};

use rocket::http::Status;
use serde_json::json;

use crate::fixture::block_on;
use crate::suite::eventually::patiently;
use crate::suite::support::{KEY, key, partner_report};

use super::large_map::{OpenLarge, service};

/// 2,704 areas.
const MAP: OpenLarge = OpenLarge { side: 52, points: 5 };
const REPORTS: u64 = 1_000;

/// Limits for a rebuilt and a cached list. An optimised build needs a tenth.
const MADE: Duration = Duration::from_secs(1);
const KEPT: Duration = Duration::from_millis(100);

#[test]
fn the_list_of_a_large_city_is_cached_until_a_change() {
    block_on(async {
        let digest = siaga::auth::KeyDigest::new(KEY).to_hex();
        let keys = json!([{ "name": "bpbd", "sha256": digest, "scopes": ["admin"] }]);
        let client = service(MAP, |figment| {
            let figment = figment.merge(("siaga.auth.api_keys", keys)).merge(("siaga.quota.per_second", 0));
            figment.merge(("siaga.quota.per_day", 0))
        })
        .await;
        for number in 0..REPORTS {
            let (x, y) = (number % 52, number / 52);
            let location = json!({ "lat": 0.005 + 0.01 * y as f64, "lng": 100.005 + 0.01 * x as f64 });
            let post = partner_report(json!({ "post_id": number, "location": location }));
            let sent =
                client.post("/v1/feeds/partner").header(key(KEY)).body(post.to_string()).dispatch().await;
            assert_eq!(sent.status(), Status::Ok, "{:?}", sent.into_string().await);
        }
        let mut took = Vec::new();
        for _ in 0..4 {
            let begun = Instant::now();
            let response = client.get("/v1/floods/attention").header(key(KEY)).dispatch().await;
            let body = response.into_string().await.unwrap();
            took.push(begun.elapsed());
            assert_eq!(body.matches("\"reason\":\"reports\"").count() as u64, REPORTS);
        }
        println!("made in {:?}, kept {:?}", took[0], &took[1..]);
        assert!(took[0] < patiently(MADE), "{took:?}");
        assert!(took[1..].iter().min().is_some_and(|cached| *cached < patiently(KEPT)), "{took:?}");
    });
}
