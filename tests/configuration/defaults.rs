//! Documented defaults match the code.

use figment::Figment;
use rocket::data::ByteUnit;
use serde_json::{Value, json};
use siaga::config::Config;

use crate::minimal::{self, extracted, tables};
use crate::page::{self, Documented, expanded};

/// The provinces of ISO 3166-2:ID after `ID-`.
const PROVINCES: &str = "AC BA BB BE BT GO JA JB JI JK JT KB KI KR KS KT KU LA MA MU NB NT PA PB PD PE PS PT RI SA SB \
                         SG SN SR SS ST SU YO";

/// Defaults described in words. Except for the provinces they are computed when needed,
/// so the configuration has no value.
const IN_WORDS: &[(&str, &str)] = &[
    ("areas.provinces", "the 38 of Indonesia"),
    ("formats.resources.<resource>", "all that can write it"),
    ("formats.template.<name>.container", "by the media type"),
    ("auth.jwt.{issuer,audience}", "any"),
    ("images.url", "a folder beside the data"),
    ("map.basemap.file", "file of the data folder"),
    ("images.signing_key", "kept in the store"),
];

/// The worded default of a key, and its value.
fn in_words(key: &str) -> (&'static str, Value) {
    let found = IN_WORDS.iter().find(|(pattern, _)| expanded(pattern).iter().any(|name| name == key));
    match found {
        Some((_, words)) if words.ends_with("the 38 of Indonesia") => {
            let cities =
                ["bdg", "jbd", "sby"].map(str::to_owned).into_iter().filter(|_| words.contains("jbd"));
            let provinces = PROVINCES.split(' ').map(|code| format!("ID-{code}"));
            (words, cities.chain(provinces).collect())
        }
        Some((_, words)) => (words, Value::Null),
        None => ("none", Value::Null),
    }
}

/// Whether a value of the configuration equals a text of the page.
fn is(value: &Value, text: &str) -> bool {
    match value {
        Value::String(value) => {
            let durations = (humantime::parse_duration(value), humantime::parse_duration(text));
            value == text || matches!(durations, (Ok(one), Ok(other)) if one == other)
        }
        Value::Bool(value) => text == value.to_string(),
        Value::Number(value) => {
            let size = || text.parse::<ByteUnit>().ok().filter(|_| text.ends_with('B'));
            let equal = || text.parse().ok() == value.as_f64();
            equal() || size().is_some_and(|size| value.as_u64() == Some(size.as_u64()))
        }
        _ => false,
    }
}

/// Whether a key's default is the documented one.
fn fits(key: &str, actual: Option<&Value>, documented: &str) -> bool {
    let nothing = [Value::Null, json!([]), json!({})];
    let actual = actual.filter(|actual| !nothing.contains(actual)).unwrap_or(&Value::Null);
    let texts: Option<Vec<&str>> = documented
        .split(", ")
        .map(|text| text.strip_prefix('`').and_then(|text| text.strip_suffix('`')))
        .collect();
    match (texts, actual) {
        (None, _) => in_words(key) == (documented, actual.clone()),
        (Some(texts), Value::Array(list)) => {
            list.len() == texts.len() && list.iter().zip(texts).all(|(value, text)| is(value, text))
        }
        (Some(texts), value) => texts.len() == 1 && is(value, texts[0]),
    }
}

#[test]
fn every_default_matches_the_page() {
    let default = serde_json::to_value(Config::default()).unwrap();
    let minimal = serde_json::to_value(extracted(&tables()).unwrap()).unwrap();
    for Documented { key, default: documented } in page::of_the_service() {
        if documented.is_empty() {
            continue;
        }
        let in_table = || minimal::value(&minimal, &key).filter(|_| is_in_a_table(&key));
        let actual = minimal::value(&default, &key).or_else(in_table);
        assert!(fits(&key, actual, &documented), "{key}: documented as {documented}, is {actual:?}");
    }
}

/// Whether a key belongs to an optional table, and is not the key that enables it.
fn is_in_a_table(key: &str) -> bool {
    minimal::value(&tables(), key).is_none()
}

#[test]
fn a_service_without_configuration_has_the_defaults_except_for_its_quotas() {
    let told_nothing = serde_json::to_value(extracted(&json!({})).unwrap()).unwrap();
    let mut default = serde_json::to_value(Config::default()).unwrap();
    for number in ["per_second", "per_day", "fuse_per_second"] {
        default["quota"][number] = json!(0);
    }
    default["quota"]["credential"]["per_second"] = json!(0);
    default["quota"]["unknown_cards"] = json!(0);
    for number in ["reviewed_after", "reviewed_total", "refused_after"] {
        default["report"][number] = json!(0);
    }
    // The demo opens cards.
    default["cards"]["open"] = json!(true);
    assert_eq!(told_nothing, default);
}

/// A configuration without a key.
fn without(key: &str) -> Value {
    let mut values = tables();
    let (table, last) = key.rsplit_once('.').unwrap();
    let table = minimal::place(&mut values, table).as_object_mut().unwrap();
    assert!(table.remove(last).is_some(), "{key}");
    values
}

#[test]
fn a_key_without_a_default_is_required() {
    assert!(extracted(&tables()).is_ok());
    let required: Vec<_> = page::of_the_service().into_iter().filter(|row| row.default.is_empty()).collect();
    assert!(required.len() > 6, "{required:?}");
    for Documented { key, .. } in required {
        let error = extracted(&without(&key)).unwrap_err().to_string();
        let last = key.rsplit('.').next().unwrap();
        assert!(error.contains(&format!("{last}: missing")), "{key}: {error}");
    }
}

#[test]
fn the_defaults_of_rockets_keys_match_the_page() {
    let rocket: rocket::Config = Config::figment().extract().unwrap();
    for Documented { key, default } in page::of_rocket() {
        let documented = match key.rsplit('.').next().unwrap() {
            "ident" => format!("`{}`", rocket.ident),
            "ip_header" => rocket.ip_header.as_ref().map_or("`false`".to_owned(), ToString::to_string),
            "url" => String::new(),
            // Tested by a_database_has_its_documented_defaults.
            "max_connections" => "4 for each of `workers`".to_owned(),
            "connect_timeout" => "`5`".to_owned(),
            _ => "none".to_owned(),
        };
        assert_eq!(default, documented, "{key}");
    }
}

#[test]
fn defaults_on_other_pages_match() {
    let documented: Vec<Documented> = page::of_the_service().into_iter().chain(page::of_rocket()).collect();
    let rows = page::rows(include_str!("../../docs/postgresql.md"));
    assert!(rows.len() > 2, "{rows:?}");
    for Documented { key, default } in rows {
        let same = Documented { key: key.trim_start_matches("siaga.").to_owned(), default };
        assert!(documented.contains(&same), "{same:?}");
    }
}

#[test]
fn images_are_stored_beside_the_data_set_or_the_file_of_the_store() {
    let storage = |store: &str, key: &str, path: &str| {
        let figment = Figment::from(rocket::Config::debug_default());
        let figment = figment.merge(("siaga.store", store)).merge((key, path));
        Config::extract(&figment).unwrap().photo_storage().unwrap().to_file_path().unwrap()
    };
    let of_dataset = |path: &str| storage("memory", "siaga.dataset", path);
    let of_file = |path: &str| storage("file", "siaga.file.path", path);
    let here = std::env::current_dir().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let sibling = folder.path().join("sibling");
    std::fs::create_dir(&sibling).unwrap();
    let relative = sibling.join("../jakarta");
    let beside = folder.path().canonicalize().unwrap().join("images");
    for (found, expected) in [
        (of_dataset("/srv/floods/jakarta"), "/srv/floods/images".into()),
        (of_dataset(relative.to_str().unwrap()), beside),
        (of_dataset("demo"), here.join("images")),
        (of_file("/srv/floods/jakarta.db"), "/srv/floods/jakarta.db-images".into()),
        (of_file("siaga.db"), here.join("siaga.db-images")),
    ] {
        assert_eq!(found, expected);
    }
}
