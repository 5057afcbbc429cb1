//! Flood states: collected, coalesced, and cut into requests.

use super::*;

#[rocket::async_test]
async fn changes_of_one_second_are_one_call_and_the_newest_state_of_an_area_counts() {
    let mut bench = Bench::new(json!({ "states": call("state", json!({ "secret": SECRET })) })).await;
    for turn in 0..8 {
        for area in [1, 2, 5, 10, 30] {
            bench.set(area, 1 + turn % 4).await;
        }
        bench.server.run(Duration::from_millis(100)).await;
    }
    bench.server.run(Duration::from_secs(5)).await;
    let got = bench.receiver.got();
    assert!((1..=2).contains(&got.len()), "40 changes in a second: {}", got.len());
    assert!(got.iter().all(|got| got.signature.as_ref().is_some_and(|text| text.starts_with("v1,"))));
    let last: BTreeMap<_, _> = bench.receiver.states().into_iter().collect();
    assert_eq!(last.len(), 5);
    assert!(last.values().all(|state| *state == 4), "{last:?}");

    bench.receiver.forget();
    bench.receiver.answers(|_| status(500));
    for code in [1, 2, 3] {
        bench.set(1, code).await;
        bench.server.run(Duration::from_mins(10)).await;
    }
    bench.receiver.forget();
    bench.receiver.answers(|_| status(200));
    bench.server.run(Duration::from_mins(10)).await;
    assert_eq!(bench.receiver.states(), [("1".to_owned(), json!(3))], "the states before are passed");
}

#[rocket::async_test]
async fn changes_are_told_at_once_though_the_clock_was_ahead_before() {
    let calls = json!({ "states": call("state", json!({})), "alerts": call("alert", json!({})) });
    let mut bench = Bench::new(calls.clone()).await;
    let right = bench.clock.now();
    bench.clock.set(right.after(Duration::from_hours(2)));
    bench.set(1, 3).await;
    bench.server.run(Duration::from_secs(3)).await;
    let alerts = |bench: &Bench| -> Vec<Value> {
        let got = bench.receiver.got().into_iter().filter(|got| got.body["type"] == "alert");
        got.flat_map(|got| got.body["data"]["alerts"].as_array().unwrap().clone()).collect()
    };
    assert_eq!((bench.receiver.states(), alerts(&bench).len()), (vec![("1".to_owned(), json!(3))], 1));
    bench.receiver.forget();

    bench.clock.set(right);
    bench.set(2, 4).await;
    bench.server.run(Duration::from_secs(3)).await;
    assert_eq!(bench.receiver.states(), [("2".to_owned(), json!(4))]);
    let told = alerts(&bench);
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0]["area_id"], "2");
    bench.receiver.forget();

    // A change of the area that was set ahead of the clock, and a server that starts meanwhile.
    let mut server = Server::new(&calls, &bench.store, &bench.clock, &bench.receiver);
    bench.set(1, 4).await;
    server.run(Duration::from_mins(2)).await;
    assert_eq!(bench.receiver.states(), [("1".to_owned(), json!(4))]);
    let told = alerts(&bench);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(Timestamp::parse(told[0]["sent"].as_str().unwrap()).unwrap() <= bench.clock.now(), "{told:?}");
}

#[rocket::async_test]
async fn a_minimum_state_and_a_city_select_areas() {
    let filter = json!({ "where": { "minimum_state": 3, "city": ["jbd"] } });
    let mut bench = Bench::new(json!({ "high": call("state", filter) })).await;
    for (area, code) in [(1, 3), (2, 2), (5, 4), (30, 4), (10, 0)] {
        bench.set(area, code).await;
    }
    bench.server.run(Duration::from_secs(5)).await;
    assert_eq!(bench.receiver.states(), [("1".to_owned(), json!(3)), ("5".to_owned(), json!(4))]);
}

/// A data set with many areas.
pub(super) fn many_areas(count: u64) -> Dataset {
    let area = |number: u64| {
        let (x, y) = (100.0 + (number % 100) as f64 / 100.0, (number / 100) as f64 / 100.0);
        let corners = [(0.0, 0.0), (0.01, 0.0), (0.01, 0.01), (0.0, 0.01), (0.0, 0.0)];
        let ring: LineString<f64> =
            corners.map(|(dx, dy)| Coord { x: x + dx, y: y + dy }).into_iter().collect();
        Area {
            id: fixture::id(number),
            geom_id: format!("31740400040090{number}"),
            name: format!("RW {number}"),
            parent_name: "KEBAYORAN LAMA UTARA".to_owned(),
            city_name: "JAKARTA SELATAN".to_owned(),
            city_code: "jbd".to_owned(),
            region_code: "ID-JK".to_owned(),
            attributes: None,
            outline: MultiPolygon(vec![Polygon::new(ring, vec![])]),
        }
    };
    let areas = AreaSet::new((1..=count).map(area).collect()).unwrap();
    let places = Places::new(Arc::new(areas), Vec::new(), Vec::new());
    Dataset { places, ..Dataset::default() }
}

pub(super) async fn order(store: &dyn Store, areas: impl Iterator<Item = u64>, code: u64) {
    let change = |area| AreaOrder {
        area: fixture::id(area),
        state: FloodState::try_from(code).ok(),
        after: Condition::Any,
    };
    let changes = Ordered::Set(areas.map(change).collect());
    let order = FloodOrder { changes, by: officer(), note: None, request: None, preview: false };
    store.change_floods(order).await.unwrap();
}

#[rocket::async_test]
async fn all_of_2698_clearings_come_in_calls_of_at_most_20_kb() {
    const AREAS: u64 = 2_698;
    let mut bench = Bench::of(many_areas(AREAS), json!({ "states": call("state", json!({})) })).await;
    for code in [3, 0] {
        for first in (1..=AREAS).step_by(1_000) {
            order(&*bench.store, first..=AREAS.min(first + 999), code).await;
        }
    }
    bench.server.run(Duration::from_secs(30)).await;
    let got = bench.receiver.got();
    assert!(got.iter().all(|got| got.size <= 20_000), "{:?}", got.iter().map(|got| got.size).max());
    assert!(got.len() <= 50, "{}", got.len());
    let states = bench.receiver.states();
    assert!(states.iter().all(|(_, state)| state.is_null()));
    assert_eq!(states.iter().map(|(area, _)| area).collect::<BTreeSet<_>>().len(), AREAS as usize);
    assert_eq!(states.len(), AREAS as usize, "each once");
}
