//! Flood states: collected, merged, and split into requests.

use super::*;

#[rocket::async_test]
async fn changes_of_one_second_are_one_request_with_the_newest_state_of_each_area() {
    let mut bench = Bench::new(json!({ "states": webhook("state", json!({ "secret": SECRET })) })).await;
    for turn in 0..8 {
        for area in [1, 2, 5, 10, 30] {
            bench.set(area, 1 + turn % 4).await;
        }
        bench.server.run(Duration::from_millis(100)).await;
    }
    bench.run(5).await;
    let got = bench.receiver.requests();
    assert!((1..=2).contains(&got.len()), "40 changes in a second: {}", got.len());
    assert!(got.iter().all(|got| got.signature.as_ref().is_some_and(|text| text.starts_with("v1,"))));
    let last: BTreeMap<_, _> = bench.receiver.states("areas").into_iter().collect();
    assert_eq!(last.len(), 5);
    assert!(last.values().all(|state| *state == 4), "{last:?}");

    bench.receiver.clear();
    bench.receiver.respond_with(|_| status(500));
    for code in [1, 2, 3] {
        bench.set(1, code).await;
        bench.run(600).await;
    }
    bench.receiver.recover();
    bench.run(600).await;
    assert_eq!(bench.receiver.states("areas"), [("1".to_owned(), json!(3))], "the states before are passed");
}

#[rocket::async_test]
async fn changes_are_sent_at_once_although_the_clock_was_ahead_before() {
    let webhooks = json!({ "states": webhook("state", json!({})), "alerts": webhook("alert", json!({})) });
    let mut bench = Bench::new(webhooks.clone()).await;
    let right = bench.clock.now();
    bench.clock.set(right.saturating_add(Duration::from_hours(2)));
    bench.set(1, 3).await;
    bench.run(3).await;
    assert_eq!(bench.receiver.states("areas"), [("1".to_owned(), json!(3))]);
    assert_eq!(bench.receiver.entries("alerts").len(), 1);
    bench.receiver.clear();

    bench.clock.set(right);
    bench.set(2, 4).await;
    bench.run(3).await;
    assert_eq!(bench.receiver.states("areas"), [("2".to_owned(), json!(4))]);
    let sent = bench.receiver.entries("alerts");
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert_eq!(sent[0]["area_id"], "2");
    bench.receiver.clear();

    // The area that was set while the clock was ahead changes, after a new server has started.
    let mut server = bench.new_server(&webhooks);
    bench.set(1, 4).await;
    server.run(Duration::from_mins(2)).await;
    assert_eq!(bench.receiver.states("areas"), [("1".to_owned(), json!(4))]);
    let sent = bench.receiver.entries("alerts");
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert!(Timestamp::parse(sent[0]["sent"].as_str().unwrap()).unwrap() <= bench.clock.now(), "{sent:?}");
}

fn many_areas(count: u64) -> Dataset {
    let area = |number: u64| {
        let corner = [100.0 + (number % 100) as f64 / 100.0, (number / 100) as f64 / 100.0];
        let outline = MultiPolygon(vec![Rect::new(corner, corner.map(|side| side + 0.01)).to_polygon()]);
        let (geom_id, name) = (format!("31740400040090{number}"), format!("RW {number}"));
        let parent_name = "KEBAYORAN LAMA UTARA".to_owned();
        Area { id: fixture::id(number), geom_id, name, parent_name, outline, ..fixture::areas()[0].clone() }
    };
    let areas = AreaSet::new((1..=count).map(area).collect()).unwrap();
    let places = Places::new(Arc::new(areas), Vec::new(), Vec::new());
    Dataset { places, ..Dataset::default() }
}

#[rocket::async_test]
async fn thousands_of_clearings_or_alerts_are_sent_once_in_requests_of_at_most_20_kb() {
    for (kind, list, count, codes, most) in
        [("state", "areas", 2_698, &[3, 0][..], 50), ("alert", "alerts", 1_000, &[3], usize::MAX)]
    {
        let mut bench =
            Bench::with_dataset(many_areas(count), json!({ "all": webhook(kind, json!({})) })).await;
        for code in codes {
            let state = FloodState::try_from(*code).ok();
            for first in (1..=count).step_by(1_000) {
                let change = |area| BatchItem { area: fixture::id(area), state, after: Condition::Any };
                let changes = BatchOperation::Set((first..=count.min(first + 999)).map(change).collect());
                let by = officer();
                let order = BatchRequest {
                    changes,
                    by,
                    limit: AreaLimit::Everywhere,
                    note: None,
                    request: None,
                    preview: false,
                };
                bench.store.change_floods(order).await.unwrap();
            }
        }
        bench.run(30).await;
        let got = bench.receiver.requests();
        let largest = got.iter().map(|got| got.size).max();
        assert!(largest <= Some(20_000) && got.len() <= most, "{kind}: {} of {largest:?}", got.len());
        let states = bench.receiver.states(list);
        let last = FloodState::try_from(codes[codes.len() - 1]).ok();
        assert!(states.iter().all(|(_, state)| *state == json!(last.map(FloodState::code))), "{kind}");
        let areas: BTreeSet<_> = states.iter().map(|(area, _)| area).collect();
        assert_eq!((states.len(), areas.len()), (count as usize, count as usize), "each once");
    }
}
