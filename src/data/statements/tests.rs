use serde::Deserialize;
use serde_json::Value;

use super::*;
use crate::model::Timestamp;

/// The rows that specify the rules for pages and for the script of the live map.
const TABLE: &str = include_str!("table.json");

/// Conditions that only the script has: the state of its connection, and a selected hour.
const OF_THE_SCRIPT: [&str; 4] = ["lost", "lostLong", "opening", "hour"];

#[derive(Deserialize)]
struct Row {
    name: String,
    when: When,
    page: Option<Value>,
    area: Option<Value>,
    title: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct When {
    #[serde(default = "now")]
    floods: String,
    #[serde(default = "heard")]
    watch: String,
    areas: Option<bool>,
    #[serde(default)]
    part: bool,
    #[serde(default)]
    flooded: usize,
    #[serde(default)]
    newest: bool,
    area_of: Option<AreaOf>,
}

/// The situation of an area. Its times are minutes before now.
#[derive(Deserialize)]
struct AreaOf {
    state: Option<u64>,
    since: Option<i64>,
    confirmed: Option<i64>,
    over: Option<i64>,
    reports: Option<usize>,
}

fn now() -> String {
    "now".to_owned()
}

fn heard() -> String {
    "heard".to_owned()
}

const NOON: Timestamp = Timestamp::EPOCH;

fn ago(minutes: i64) -> Timestamp {
    let length = Duration::from_mins(minutes.unsigned_abs());
    let noon = NOON.saturating_add(Duration::from_hours(24 * 365));
    if minutes < 0 { noon.saturating_add(length) } else { noon.saturating_sub(length) }
}

fn situation(when: &When) -> Situation {
    Situation {
        now: ago(0),
        floods: match &*when.floods {
            "now" => FloodData::Now,
            "stale" => FloodData::Until(ago(10)),
            "old" => FloodData::Until(ago(61)),
            "unread" => FloodData::Unread,
            other => panic!("{other}"),
        },
        watch: match &*when.watch {
            "heard" => Watch::Heard,
            "silent" => Watch::Silent { heard: true },
            "never" => Watch::Silent { heard: false },
            "none" => Watch::Unwatched,
            other => panic!("{other}"),
        },
        has_areas: when.areas.unwrap_or(true),
        is_part: when.part,
        flooded: when.flooded,
        newest: when.newest.then(|| ago(30)),
    }
}

fn area(row: &AreaOf) -> AreaSituation {
    AreaSituation {
        flood: row.state.map(|state| Flood {
            state: state.try_into().unwrap(),
            flooded_since: ago(row.since.unwrap()),
            confirmed: ago(row.confirmed.unwrap()),
        }),
        over_since: row.over.map(ago),
        reports: row.reports,
    }
}

#[test]
fn sentences_match_the_table() {
    let rows: Vec<Row> = serde_json::from_str(TABLE).unwrap();
    let names = |sentences: &[Sentence]| serde_json::to_value(sentences).unwrap();
    for Row { name, when, page, area: about, title: titled } in rows {
        if OF_THE_SCRIPT.contains(&&*when.floods) {
            continue;
        }
        let situation = situation(&when);
        if let Some(page) = page {
            assert_eq!(names(&situation.page()), page, "{name}");
        }
        if let Some(about) = about {
            let sentences = situation.area(&area(&when.area_of.unwrap()));
            assert_eq!(names(&sentences), about, "{name}");
            assert_eq!(serde_json::to_value(title(&sentences)).unwrap(), titled.unwrap(), "{name}");
        }
    }
}

#[test]
fn an_unreadable_list_is_not_empty() {
    assert_eq!(newest(false, None, Sentence::NoneLately), Sentence::Unread);
    assert_eq!(newest(true, None, Sentence::NoneLately), Sentence::NoneLately);
    assert_eq!(newest(true, Some(NOON), Sentence::NoneLately), Sentence::Newest);
}

#[test]
fn a_page_of_alerts_states_absence_and_doubt() {
    assert_eq!(alerts(0, false), [Sentence::NoAlerts]);
    assert_eq!(alerts(0, true), [Sentence::AlertsDoubtful, Sentence::NoAlerts]);
    assert_eq!(alerts(3, true), [Sentence::AlertsDoubtful]);
    assert_eq!(alerts(3, false), []);
}

#[test]
fn only_a_report_that_is_found_is_on_the_map() {
    let all = [None, Some(false), Some(true)].map(after_report);
    assert_eq!(all, [Sentence::ReportWaits, Sentence::ReportOld, Sentence::ReportShown]);
}

mod texts {
    use std::collections::BTreeSet;

    use super::*;
    use crate::data::country::Country;

    /// Texts without a statement about floods: labels, help, and results of the user's own actions. Each new text must be here,
    /// or be a sentence with a row in the table.
    const LABELS: &str = include_str!("labels.txt");

    /// Sentences of the script alone. tests/pages/trend.test.mjs tests their conditions.
    const TREND: &str = "map.script.trend.*";

    fn paths(value: &Value, path: &str, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(group) => {
                for (name, value) in group {
                    paths(value, &format!("{path}.{name}"), found);
                }
            }
            _ => drop(found.insert(path.trim_start_matches('.').to_owned())),
        }
    }

    #[test]
    fn each_text_is_a_sentence_or_a_label() {
        let country = Country::built_in();
        let sentences = Sentence::ALL.iter().map(|sentence| sentence.path());
        let sentences = sentences.flat_map(|path| [path.to_owned(), format!("{path}.*")]);
        let labels = LABELS.lines().filter(|line| !line.is_empty()).chain([TREND]);
        let known: Vec<String> = labels.map(str::to_owned).chain(sentences).collect();
        for texts in country.languages() {
            let mut found = BTreeSet::new();
            for group in ["shell", "front", "map", "alerts", "form", "depths"] {
                paths(texts.group(group), group, &mut found);
            }
            for path in &found {
                let is_known = known.iter().any(|known| match known.strip_suffix('*') {
                    Some(begin) => path.starts_with(begin),
                    None => path == known,
                });
                assert!(is_known, "{path} has no condition, and is not in labels.txt");
            }
            for sentence in Sentence::ALL {
                let text = sentence.text(texts, Some(FloodState::Minor));
                assert!(!text.is_empty(), "{sentence:?} has no text in {}", texts.code());
            }
        }
    }
}
