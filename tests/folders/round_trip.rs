//! Round trips: a written folder is read back equal, and written again byte for byte.

use std::fs;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::value::RawValue;
use siaga::folder::{Dataset, FolderFile, FolderRules};
use siaga::model::{
    Actor, CardHolder, ErasedReport, Gauge, GaugeSettings, ModerationAction, ModerationEntry, Mute, Position,
    Report, ReportContent, ReportedAlert, Thresholds, Timestamp,
};
use tempfile::TempDir;

use super::support::{load, normalised, written};
use crate::fixture;

#[test]
fn a_written_folder_is_read_back_equal_and_written_again_byte_for_byte() {
    let demo = Dataset::load("demo", &FolderRules::default(), fixture::now()).unwrap();
    for dataset in [normalised(fixture::dataset()), demo, Dataset::default()] {
        assert_same_when_read(&dataset);
    }
}

#[test]
fn the_deepest_data_and_the_first_and_last_times_are_read_as_they_were_written() {
    let mut dataset = normalised(fixture::dataset());
    let (open, close) = ("{\"a\":".repeat(16), "}".repeat(16));
    let deep = || Some(serde_json::from_str::<Box<RawValue>>(&format!("{open}1{close}")).unwrap());
    dataset.reports[0].content.report_data = deep();
    dataset.cards[0].holder.network_data = deep();
    let change = &mut dataset.flood_log[0];
    change.at = Timestamp::parse("0001-01-01T00:00:00.007Z").unwrap();
    change.received = change.at;
    dataset.reports[0].content.created_at = Timestamp::parse("9999-12-31T23:59:59.999Z").unwrap();
    assert_same_when_read(&dataset);
}

/// Asserts that a written data set is read back equal and written again as the same bytes.
fn assert_same_when_read(dataset: &Dataset) {
    let first = written(dataset);
    let read = load(first.path()).unwrap();
    assert!(format!("{read:?}") == format!("{dataset:?}"), "{read:?}\n{dataset:?}");
    let second = written(&read);
    for file in FolderFile::ALL {
        let read = |folder: &TempDir| fs::read_to_string(folder.path().join(file.name())).unwrap();
        assert!(read(&first) == read(&second), "{file} is written differently");
    }
}

/// Texts with special characters of CSV and JSON, and random ones.
fn special_text() -> impl Strategy<Value = String> {
    let parts = prop::sample::select(vec![
        "\"", ",", "\n", "\r\n", "\r", " ", "\t", "'", ";", "\\", "\\n", "{", "a", "ä", "☔", "\u{feff}",
        "\u{85}", "\u{2028}", "null",
    ]);
    let joined = prop::collection::vec(parts, 0..8).prop_map(|parts| parts.concat());
    let any = any::<String>().prop_map(|text| text.replace('\0', ""));
    prop_oneof![4 => joined, 1 => any]
}

/// Names: may begin and end with spaces, without control characters.
fn name() -> impl Strategy<Value = String> {
    let printable = |text: String| text.replace(char::is_control, "");
    special_text()
        .prop_map(printable)
        .prop_filter("no name", |name| (1..=255).contains(&name.chars().count()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_text_is_changed_by_writing_and_reading_it(
        texts in prop::collection::vec(special_text(), 8),
        names in prop::collection::vec(name(), 5),
        id in "[ -~ä☔]{7,14}",
        level in prop::num::f64::NORMAL | prop::num::f64::ZERO | prop::num::f64::SUBNORMAL,
        place in (-180.0..=180.0, -90.0..=90.0),
    ) {
        let mut dataset = normalised(fixture::dataset());
        let data = serde_json::to_string(&serde_json::json!({ texts[0].as_str(): texts[1], "n": level })).unwrap();
        let data: Box<RawValue> = serde_json::from_str(&data).unwrap();
        dataset.reports[1].content.image_url = Some("abcdefg.jpg".into());
        let content = &mut dataset.reports[0].content;
        content.title = texts[2].as_str().into();
        content.text = texts[3].as_str().into();
        content.url = Some(texts[4].as_str().into());
        let image = format!("https://example.org/{}", texts[5].replace(char::is_control, ""));
        content.image_url = Some(image.into());
        content.report_data = Some(data.clone());
        content.location = Position::new(place.0, place.1).unwrap();
        let card = &mut dataset.cards[0];
        card.id = id.parse().unwrap();
        card.holder = CardHolder {
            username: texts[6].clone(),
            network: texts[7].clone(),
            language: texts[1].clone(),
            network_data: Some(data),
        };
        dataset.flood_log[0].by.username = Some(names[0].clone());
        dataset.flood_log[0].by.subject.clone_from(&names[1]);
        let observed = &mut dataset.gauges[0];
        let gauge = Gauge { id: format!("0{}", names[2]), name: names[3].clone(), region_code: None, settings: GaugeSettings {
            thresholds: Thresholds::new([Some(0.1 + 0.2), None, Some(-1.0)]).ok(),
            range: Some([-50.125, 1e15]),
            every: Some(600),
        }, mute: Some(Mute { at: fixture::now(), until: None, reason: texts[2].as_str().into(), by: Actor { subject: texts[0].clone(), username: None } }), ..(*observed.gauge).clone() };
        observed.gauge = Arc::new(gauge);
        observed.observations[0].label = names[4].as_str().into();
        observed.observations[0].level = level;
        observed.observations[0].reported = Some(ReportedAlert { alert: 3, label: names[0].as_str().into() });
        let (key, at) = (99.try_into().unwrap(), fixture::now());
        let report = Report { key, ..dataset.reports[3].clone() };
        let report = Report { content: ReportContent { source: texts[0].as_str().into(), ..report.content }, ..report };
        dataset.erased = vec![ErasedReport::from_report(&report, Some(&names[0]), true)];
        let by = Actor { subject: texts[2].clone(), username: Some(names[1].clone()) };
        let (action, reason) = (ModerationAction::Erase, texts[3].clone());
        dataset.moderation = vec![ModerationEntry { number: 1, at, report: key, made_at: at, action, by, reason }];

        assert_same_when_read(&dataset);
    }
}
