use serde::Deserialize;
use serde_json::Value;

use super::*;
use crate::model::Timestamp;

/// The rows that specify the rules here and in the script.
const TABLE: &str = include_str!("table.json");

/// What only the script knows: its connection, and which hour it shows.
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

/// Times are minutes before now.
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
    let noon = NOON.after(Duration::from_hours(24 * 365));
    if minutes < 0 { noon.after(length) } else { noon.before(length) }
}

fn situation(when: &When) -> Situation {
    Situation {
        now: ago(0),
        floods: match &*when.floods {
            "now" => Floods::Now,
            "stale" => Floods::Until(ago(10)),
            "old" => Floods::Until(ago(61)),
            "unread" => Floods::Unread,
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

fn area(of: &AreaOf) -> AreaSituation {
    AreaSituation {
        flood: of.state.map(|state| Flood {
            state: state.try_into().unwrap(),
            flooded_since: ago(of.since.unwrap()),
            confirmed: ago(of.confirmed.unwrap()),
        }),
        over_since: of.over.map(ago),
        reports: of.reports,
    }
}

#[test]
fn pages_say_what_the_table_says_of_each_situation() {
    let rows: Vec<Row> = serde_json::from_str(TABLE).unwrap();
    let named = |says: &[Sentence]| serde_json::to_value(says).unwrap();
    for Row { name, when, page, area: about, title: titled } in rows {
        if OF_THE_SCRIPT.contains(&&*when.floods) {
            continue;
        }
        let situation = situation(&when);
        if let Some(page) = page {
            assert_eq!(named(&situation.page()), page, "{name}");
        }
        if let Some(about) = about {
            let says = situation.area(&area(&when.area_of.unwrap()));
            assert_eq!(named(&says), about, "{name}");
            assert_eq!(serde_json::to_value(title(&says)).unwrap(), titled.unwrap(), "{name}");
        }
    }
}

#[test]
fn the_newest_entry_of_a_list_that_cannot_be_read_is_not_none() {
    assert_eq!(newest(false, None, Sentence::NoneLately), Sentence::Unread);
    assert_eq!(newest(true, None, Sentence::NoneLately), Sentence::NoneLately);
    assert_eq!(newest(true, Some(NOON), Sentence::NoneLately), Sentence::Newest);
}

#[test]
fn a_page_without_alerts_says_so_and_that_some_may_be_missing() {
    assert_eq!(alerts(0, false), [Sentence::NoAlerts]);
    assert_eq!(alerts(0, true), [Sentence::AlertsDoubtful, Sentence::NoAlerts]);
    assert_eq!(alerts(3, true), [Sentence::AlertsDoubtful]);
    assert_eq!(alerts(3, false), []);
}

#[test]
fn only_a_report_that_can_be_found_is_said_to_be_on_the_map() {
    let all = [None, Some(false), Some(true)].map(sent);
    assert_eq!(all, [Sentence::ReportWaits, Sentence::ReportOld, Sentence::ReportShown]);
}

mod texts {
    use std::collections::BTreeSet;

    use super::*;
    use crate::data::country::Country;

    /// Texts that say nothing about the world: labels, advice for the use of the page, and the texts of pages that say what
    /// somebody has done. A new text of the other groups stands here, or is a sentence with a row in the table.
    const LABELS: &str = include_str!("labels.txt");

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
    fn each_text_is_a_sentence_with_a_condition_or_a_mere_label() {
        let country = Country::built_in();
        let sentences = Sentence::ALL.iter().map(|of| of.path());
        let sentences = sentences.flat_map(|path| [path.to_owned(), format!("{path}.*")]);
        let labels = LABELS.lines().filter(|line| !line.is_empty()).map(str::to_owned);
        let known: Vec<String> = labels.chain(sentences).collect();
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
