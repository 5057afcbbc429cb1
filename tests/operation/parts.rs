//! Parts of the map: their cost, and their share of the cache.

use figment::Figment;
use rocket::local::asynchronous::{Client, LocalResponse};

use crate::large_map::{OpenLarge, service};

/// 1,600 areas. To render all takes some 6 MB: 512 bytes for each, and 32 for each of its 101 positions.
const MAP: OpenLarge = OpenLarge { side: 40, points: 25 };

fn a_day(requests: u32) -> impl FnOnce(Figment) -> Figment {
    move |figment| {
        let figment = figment.merge(("siaga.quota.per_second", 0)).merge(("siaga.quota.per_day", requests));
        // These tests are about costs, not about time.
        let figment = figment.merge(("siaga.limits.timeout", "1m"));
        figment.merge(("siaga.metrics.enabled", true)).merge(("siaga.metrics.token", "a token"))
    }
}

async fn get<'c>(client: &'c Client, peer: u8, address: &'c str) -> LocalResponse<'c> {
    client.get(address).remote(([192, 0, 2, peer], 4711).into()).dispatch().await
}

fn remaining(response: &LocalResponse<'_>) -> u32 {
    response.headers().get_one("RateLimit-Remaining").unwrap().parse().unwrap()
}

/// The number of cache misses.
async fn misses(client: &Client) -> u64 {
    let request = client.get("/metrics").header(rocket::http::Header::new("Authorization", "Bearer a token"));
    let page = request.dispatch().await.into_string().await.unwrap();
    let line = page.lines().find_map(|line| line.strip_prefix("siaga_cache_misses_total "));
    line.unwrap().parse().unwrap()
}

#[rocket::async_test]
async fn the_cost_of_a_part_of_the_map_grows_with_its_size() {
    let client = service(MAP, a_day(100)).await;
    let left = async |address: &'static str| {
        let response = get(&client, 1, address).await;
        assert_eq!(response.status().code, 200, "{address}");
        remaining(&response)
    };
    // 31 of 40 columns: 4.4 MiB.
    assert_eq!(left("/v1/areas?bbox=100,0,100.305,0.4").await, 100 - 1 - 4);
    assert_eq!(left("/v1/areas?bbox=100,0,100.305,0.4").await, 94, "it is cached");
    assert_eq!(left("/v1/areas?bbox=90,-1,100.305,1").await, 94, "the same areas");
    assert_eq!(left("/v1/floods?bbox=100,0,100.305,0.4").await, 90, "another layer");
    assert_eq!(left("/v1/floods?bbox=100.101,0.101,100.199,0.199").await, 89, "a small part");
    assert_eq!(left("/v1/floods?bbox=100,0,100.305,0.4&minimum_state=3").await, 88, "nothing is in it");
    assert_eq!(left("/v1/areas?bbox=90,-20,140,10").await, 87, "the whole");
}

#[rocket::async_test]
async fn parts_displace_no_other_response_from_the_cache() {
    // The whole map and a few parts fit into the cache.
    let cached = |figment: Figment| a_day(0)(figment).merge(("siaga.cache.size", "3MiB"));
    let client = service(MAP, cached).await;
    let others = ["/v1/floods", "/v1/floods?geoformat=geojson&minimum_state=3", "/v1/reports"];
    for address in others {
        assert_eq!(get(&client, 2, address).await.status().code, 200);
    }
    for east in 10..40 {
        let address = format!("/v1/floods?bbox=100,0,100.{east},0.305");
        // The second request is a cache hit, or a rebuild.
        for _ in 0..2 {
            assert_eq!(get(&client, 1, &address).await.status().code, 200);
        }
    }
    let before = misses(&client).await;
    for address in others {
        assert_eq!(get(&client, 2, address).await.status().code, 200);
    }
    assert_eq!(misses(&client).await, before);
}
