//! What a phone is told, and when.

use super::*;
use crate::model::{Area, AreaSet, Places};

#[rocket::async_test]
async fn a_phone_is_told_of_its_areas_alone_with_the_words_and_headers_of_the_standards() {
    let mut bench = Bench::new().await;
    let body = Bench::body(PHONE, &[1]);
    bench.push.subscribe(&body, || Ok(())).await.unwrap();
    let [first] = &bench.delivered()[..] else { panic!("no first message") };
    assert!(first.body().contains("Grogol, RW 01"), "{first:?}");
    bench.run(61).await;
    bench.set(2, 4).await;
    bench.run(5).await;
    assert!(bench.delivered().is_empty(), "another area");
    bench.set(1, 3).await;
    bench.run(5).await;
    let [told] = &bench.delivered()[..] else { panic!("not one message") };
    assert_eq!((told.endpoint.as_str(), told.title()), (PHONE, "Grogol, RW 01: 71–150 cm"));
    assert_eq!(told.message["url"], "/map?area=1&lang=en");
    assert!(told.message["late"].as_str().unwrap().starts_with("As of "), "{told:?}");
    let header = |name: &str| told.headers[name].as_str();
    assert_eq!(
        [header("urgency"), header("content-encoding"), header("topic")],
        ["high", "aes128gcm", "floods"]
    );
    assert_eq!(header("ttl"), "86400");
    assert!(header("authorization").starts_with("vapid t=ey"), "{told:?}");
    bench.run(120).await;
    assert!(bench.delivered().is_empty(), "it is told once");
}

#[rocket::async_test]
async fn a_message_has_all_flooded_areas_of_the_phone_and_comes_at_most_once_a_minute() {
    let mut bench = Bench::new().await;
    bench.subscribe(PHONE, &[1, 2, 5]).await;
    bench.set(1, 4).await;
    bench.run(2).await;
    let told = bench.delivered();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].title(), "2 neighbourhoods flooded", "area 5 was flooded before");
    assert!(told[0].body().starts_with("Grogol, RW 01: More than 150 cm\n"), "{told:?}");
    bench.set(2, 1).await;
    bench.set(1, 3).await;
    bench.run(50).await;
    assert!(bench.delivered().is_empty(), "it is within a minute");
    bench.run(20).await;
    let told = bench.delivered();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].title(), "3 neighbourhoods flooded");
    assert!(told[0].body().starts_with("Grogol, RW 01: 71–150 cm\n"), "{told:?}");
}

#[rocket::async_test]
async fn over_is_only_told_when_an_officer_clears_and_an_undo_is_a_correction() {
    let mut bench = Bench::new().await;
    bench.subscribe(PHONE, &[1]).await;
    bench.set(1, 2).await;
    bench.run(61).await;
    bench.delivered();
    bench.set(1, None).await;
    bench.run(61).await;
    let told = bench.delivered();
    assert!(told[0].title().starts_with("Grogol, RW 01: Over since"), "{told:?}");
    // A batch that is undone.
    let order = |changes| BatchRequest {
        changes,
        by: officer(),
        limit: AreaLimit::Everywhere,
        note: None,
        request: None,
        preview: false,
    };
    let item = BatchItem { area: fixture::id(1), state: FloodState::try_from(4).ok(), after: Condition::Any };
    let set = BatchOperation::Set(vec![item]);
    let done = bench.store.change_floods(order(set)).await.unwrap();
    bench.run(61).await;
    assert_eq!(bench.delivered()[0].title(), "Grogol, RW 01: More than 150 cm");
    let BatchOutcome::Done { batch, .. } = done else { panic!("{done:?}") };
    let batch = batch.number;
    bench.store.change_floods(order(BatchOperation::Undo(batch))).await.unwrap();
    bench.run(61).await;
    assert_eq!(bench.delivered()[0].title(), "Grogol, RW 01: Correction: no flood is recorded");
    // A state that nobody confirms.
    bench.set(1, 3).await;
    bench.run(61).await;
    bench.delivered();
    bench.clock.set(bench.clock.now().saturating_add(Duration::from_hours(24)));
    bench.run(61).await;
    let told = bench.delivered();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].title().ends_with("71–150 cm. Not confirmed for 24 hours; it may still be flooded"),
        "{told:?}"
    );
    bench.set(1, 3).await;
    bench.run(61).await;
    assert_eq!(bench.delivered()[0].title(), "Grogol, RW 01: 71–150 cm", "it is confirmed again");
}

#[rocket::async_test]
async fn a_flood_that_is_cleared_while_it_is_told_is_over_and_no_correction() {
    let mut bench = Bench::new().await;
    bench.subscribe(PHONE, &[1]).await;
    let (store, clock) = (Arc::clone(&bench.store), Arc::clone(&bench.clock));
    bench.meanwhile(async move {
        clock.set(clock.now().saturating_add(Duration::from_secs(1)));
        set(&*store, 1, None).await;
        clock.set(clock.now().saturating_add(Duration::from_secs(20)));
    });
    bench.set(1, 3).await;
    bench.run(120).await;
    let titles: Vec<_> = bench.delivered().iter().map(|told| told.title().to_owned()).collect();
    assert!(titles.len() == 2 && titles[1].starts_with("Grogol, RW 01: Over since"), "{titles:?}");
}

#[rocket::async_test]
async fn a_change_that_is_no_news_repeats_nothing() {
    let mut bench = Bench::new().await;
    bench.subscribe(PHONE, &[1, 2]).await;
    let (store, clock) = (Arc::clone(&bench.store), Arc::clone(&bench.clock));
    let mut fan_out = FanOut::new(Arc::clone(&bench.push.0), Arc::clone(&bench.lease));
    bench.meanwhile(async move {
        for state in [Some(1), None] {
            clock.set(clock.now().saturating_add(Duration::from_secs(1)));
            set(&*store, 2, state).await;
        }
        while fan_out.step().await.unwrap().is_zero() {}
    });
    bench.set(1, 4).await;
    bench.run(200).await;
    let titles: Vec<_> = bench.delivered().iter().map(|told| told.title().to_owned()).collect();
    assert_eq!(titles, ["Grogol, RW 01: More than 150 cm"]);
}

#[rocket::async_test]
async fn floods_below_the_minimum_state_and_their_end_are_not_told() {
    let mut bench = Bench::new().await;
    let body = PushBody { minimum_state: Some(FloodState::Moderate), ..Bench::body(PHONE, &[1]) };
    bench.push.subscribe(&body, || Ok(())).await.unwrap();
    bench.run(61).await;
    bench.delivered();
    for state in [Some(2), None, Some(1)] {
        bench.set(1, state).await;
        bench.run(61).await;
        assert!(bench.delivered().is_empty(), "{state:?}");
    }
    bench.set(1, 4).await;
    bench.run(61).await;
    assert_eq!(bench.delivered()[0].title(), "Grogol, RW 01: More than 150 cm");
    bench.set(1, 2).await;
    bench.run(61).await;
    assert_eq!(bench.delivered()[0].title(), "Grogol, RW 01: 10–70 cm", "it was told as flooded");
    bench.set(1, None).await;
    bench.run(61).await;
    assert!(bench.delivered().is_empty(), "the phone knows that it is below its minimum");
}

#[rocket::async_test]
async fn a_larger_area_means_the_areas_that_it_has() {
    let mut bench = Bench::new().await;
    let parent =
        PushAreas::Parent { parent_name: "GROGOL".to_owned(), city_name: "JAKARTA BARAT".to_owned() };
    let body = PushBody { areas: parent, ..Bench::body(PHONE, &[]) };
    bench.push.subscribe(&body, || Ok(())).await.unwrap();
    assert!(bench.delivered()[0].body().contains("Grogol"));
    bench.run(61).await;
    bench.set(2, 4).await;
    bench.run(61).await;
    assert!(bench.delivered().is_empty(), "another larger area");
    bench.set(1, 4).await;
    bench.run(61).await;
    assert_eq!(bench.delivered().len(), 1);
}

#[rocket::async_test]
async fn nothing_is_told_in_an_exercise_about_old_changes_and_about_imported_ones() {
    let mut bench = Bench::with(json!({ "formats": { "cap": { "status": "Exercise" } } })).await;
    bench.push.subscribe(&Bench::body(PHONE, &[1]), || Ok(())).await.unwrap();
    let [first] = &bench.delivered()[..] else { panic!("no first message") };
    assert!(first.body().starts_with("Trial: "), "{first:?}");
    bench.run(61).await;
    bench.set(1, 4).await;
    bench.run(61).await;
    assert!(bench.delivered().is_empty(), "an exercise");

    let mut bench = Bench::new().await;
    bench.subscribe(PHONE, &[1, 2]).await;
    bench.set(1, 4).await;
    crate::push::skip_imported(&*bench.store).await.unwrap();
    bench.run(61).await;
    assert!(bench.delivered().is_empty(), "imported");
    bench.set(2, 4).await;
    bench.run(61).await;
    assert_eq!(bench.delivered().len(), 1, "the next change is told");
}

#[rocket::async_test]
async fn a_confirmation_and_floods_that_a_phone_no_longer_chooses_are_no_news() {
    let mut bench = Bench::new().await;
    let (id, secret) = bench.subscribe(PHONE, &[1, 2]).await;
    bench.set(1, 3).await;
    bench.run(61).await;
    bench.set(1, 3).await;
    bench.run(61).await;
    assert_eq!(bench.delivered().len(), 1, "the confirmation says nothing new");
    for areas in [&[2][..], &[1, 2]] {
        let body = Bench::body(PHONE, areas);
        bench.push.replace(id, &secret, &body, || Ok::<_, PushError>(())).await.unwrap();
        bench.set(1, None).await;
        bench.run(61).await;
    }
    bench.set(2, 4).await;
    bench.run(61).await;
    let titles: Vec<_> = bench.delivered().iter().map(|told| told.title().to_owned()).collect();
    assert_eq!(titles.len(), 1, "{titles:?}");
    assert!(titles[0].ends_with("More than 150 cm"), "{titles:?}");
}

#[rocket::async_test]
async fn a_change_that_is_older_than_a_day_is_not_told_with_a_later_one() {
    let mut bench = Bench::new().await;
    bench.set(1, 3).await;
    bench.run(5).await;
    bench.subscribe(PHONE, &[1, 2]).await;
    // Nobody sends while the flood is cleared.
    bench.set(1, None).await;
    bench.clock.set(bench.clock.now().saturating_add(Duration::from_hours(30)));
    bench.set(2, 4).await;
    bench.run(61).await;
    let titles: Vec<_> = bench.delivered().iter().map(|told| told.title().to_owned()).collect();
    assert!(titles.len() == 1 && titles[0].ends_with("More than 150 cm"), "{titles:?}");
    bench.set(2, None).await;
    bench.run(61).await;
    bench.set(1, 3).await;
    bench.run(61).await;
    let told = bench.delivered();
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!(told[1].title(), "Grogol, RW 01: 71–150 cm");
}

#[rocket::async_test]
async fn a_new_flood_of_a_depth_that_was_told_before_is_told() {
    let mut bench = Bench::new().await;
    bench.subscribe(PHONE, &[1]).await;
    bench.set(1, 3).await;
    bench.run(61).await;
    bench.delivered();
    // Nobody sends while the flood is cleared.
    bench.set(1, None).await;
    bench.clock.set(bench.clock.now().saturating_add(Duration::from_hours(30)));
    bench.run(61).await;
    assert!(bench.delivered().is_empty(), "the end is too old");
    bench.set(1, 3).await;
    bench.run(61).await;
    assert_eq!(bench.delivered().len(), 1);
}

#[rocket::async_test]
async fn long_names_are_counted_so_that_every_message_can_be_sent() {
    let mut areas: Vec<_> = fixture::dataset().places.areas().iter().cloned().collect();
    for area in &mut areas {
        // Each character is four bytes in UTF-8, or two in JSON.
        area.name = "𐍈".repeat(600);
        area.parent_name = "\"".repeat(200);
    }
    let places = Places::new(Arc::new(AreaSet::new(areas).unwrap()), Vec::new(), Vec::new());
    let data = Dataset { places, ..fixture::dataset() };
    let mut bench = Bench::with_data(json!({}), data).await;
    let body = Bench::body(PHONE, &[1, 2, 3, 5]);
    bench.push.subscribe(&body, || Ok(())).await.unwrap();
    bench.run(61).await;
    bench.set(1, 4).await;
    bench.run(61).await;
    bench.set(2, 4).await;
    bench.run(61).await;
    let messages = bench.delivered();
    assert_eq!(messages.len(), 3, "{messages:?}");
    for message in &messages {
        assert!(message.message.to_string().len() <= 3_993);
        assert!(message.body().contains("more"), "{message:?}");
    }
}

#[rocket::async_test]
async fn a_message_names_the_five_worst_areas_and_counts_the_others() {
    let example = fixture::dataset().places.areas().iter().next().unwrap().clone();
    let area = |number| Area { id: fixture::id(number), name: format!("RW {number}"), ..example.clone() };
    let areas = Arc::new(AreaSet::new((1..=8).map(area).collect()).unwrap());
    let data = Dataset { places: Places::new(areas, Vec::new(), Vec::new()), ..Dataset::default() };
    let mut bench = Bench::with_data(json!({}), data).await;
    bench.subscribe(PHONE, &[1, 2, 3, 4, 5, 6, 7, 8]).await;
    for area in 1..=8 {
        bench.set(area, if area == 7 { 4 } else { 2 }).await;
    }
    bench.run(1).await;
    let [message] = &bench.delivered()[..] else { panic!("not one message") };
    assert_eq!(message.title(), "8 neighbourhoods flooded");
    let lines: Vec<_> = message.body().lines().collect();
    assert_eq!(lines.len(), 6, "{message:?}");
    assert!(lines[0].ends_with("RW 7: More than 150 cm"), "{message:?}");
    assert_eq!(lines[5], "and 3 more");
}
