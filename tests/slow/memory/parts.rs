//! How much memory parts of a map and full states take that are asked for at once.

use rocket::futures::future::join_all;
use rocket::tokio::io::AsyncReadExt;

use super::{Before, MIB, is_alone};
use crate::eventually::{LONG, eventually};
use crate::fixture::block_on;
use crate::large_map::{OpenLarge, service};

/// What large responses may take.
const LIMIT: u64 = 64 * MIB;
/// 10,000 areas: a part with nearly all of them has some 5 MB, and the full state 0.7 MB.
const MAP: OpenLarge = OpenLarge { side: 100, points: 5 };

#[test]
fn parts_and_full_states_that_nobody_reads_take_no_more_memory_than_their_limit() {
    if !is_alone(
        "memory::parts::parts_and_full_states_that_nobody_reads_take_no_more_memory_than_their_limit",
    ) {
        return;
    }
    block_on(async {
        let client = service(MAP, |figment| {
            let figment =
                figment.merge(("siaga.limits.rendering", LIMIT)).merge(("siaga.cache.size", "1MiB"));
            figment.merge(("siaga.limits.timeout", "5s"))
        })
        .await;
        // What is made once is there.
        for address in
            ["/v1/areas?level=parent", "/v1/areas?level=city", "/v1/areas?geoformat=geojson", "/v1/changes"]
        {
            let asked = async || client.get(address).dispatch().await.status().code;
            eventually(address, LONG, asked, |status| *status == 200).await;
        }

        let before = Before::now();
        let address = |number: u64| format!("/v1/areas?geoformat=geojson&bbox=100,0,100.{},1", 30 + number);
        let addresses: Vec<_> = (0..60).map(address).collect();
        // The responses are held as by clients that read slowly.
        let parts = join_all(addresses.iter().map(|address| client.get(address.as_str()).dispatch())).await;
        let taken = before.peak();
        assert!(taken < LIMIT + 24 * MIB, "parts: {} MiB", taken / MIB);
        let statuses: Vec<_> = parts.iter().map(|response| response.status().code).collect();
        let rendered = statuses.iter().filter(|status| **status == 200).count();
        assert!(rendered >= 2, "{statuses:?}");
        assert!(statuses.iter().all(|status| [200, 503].contains(status)), "{statuses:?}");
        drop(parts);

        let before = Before::now();
        let mut streams = join_all((0..200).map(|_| client.get("/v1/changes/stream").dispatch())).await;
        let mut beginnings = vec![[0; 1000]; 200];
        let reading =
            streams.iter_mut().zip(&mut beginnings).map(|(stream, beginning)| stream.read_exact(beginning));
        for read in join_all(reading).await {
            read.unwrap();
        }
        assert!(String::from_utf8_lossy(&beginnings[199]).contains(r#""full":true"#));
        let taken = before.peak();
        assert!(taken < 32 * MIB, "streams: {} MiB", taken / MIB);
        drop(streams);

        let before = Before::now();
        let full = join_all((0..200).map(|_| client.get("/v1/changes").dispatch())).await;
        assert!(full.iter().all(|response| response.status().code == 200));
        let taken = before.peak();
        assert!(taken < 32 * MIB, "changes: {} MiB", taken / MIB);
        let body = full.into_iter().next().unwrap().into_string().await.unwrap();
        assert!(body.len() > 500_000 && body.ends_with("}}"), "{}", body.len());
    });
}
