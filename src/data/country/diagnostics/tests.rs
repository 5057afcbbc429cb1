//! A message about a fault in a country's folder has the line in a TOML or CSV file, and the path in a JSON file.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::data::country::Country;

/// Returns a folder with a copy of the built-in country.
fn own() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("texts")).unwrap();
    for file in ["country.toml", "hazards.toml", "regions.csv", "texts/id.json", "texts/en.json"] {
        fs::copy(format!("{}/country/id/{file}", env!("CARGO_MANIFEST_DIR")), folder.path().join(file))
            .unwrap();
    }
    folder
}

/// Replaces a part of a file, and returns the line on which the part begins.
fn replace(folder: &TempDir, file: &str, part: &str, by: &str) -> usize {
    let path = folder.path().join(file);
    let text = fs::read_to_string(&path).unwrap();
    let at = text.find(part).unwrap_or_else(|| panic!("{file} has no {part}"));
    fs::write(path, text.replacen(part, by, 1)).unwrap();
    1 + text[..at].matches('\n').count()
}

fn faults(folder: &TempDir) -> Vec<String> {
    Country::read(folder.path()).err().unwrap_or_default()
}

/// Replaces a part of a file, and expects a fault with the reason: in TOML and CSV on the replaced line or the next one.
fn assert_fault(file: &str, changes: &[(&str, &str, &str)]) {
    for (part, by, reason) in changes {
        let folder = own();
        let line = replace(&folder, file, part, by);
        let found = faults(&folder);
        let prefixes = match file.strip_suffix(".json") {
            None => [line, line + 1].map(|line| format!("{file}, line {line}: ")).to_vec(),
            Some(_) => vec![format!("{file}: ")],
        };
        let is_expected = |fault: &String| {
            fault.contains(reason) && prefixes.iter().any(|prefix| fault.starts_with(prefix))
        };
        assert!(found.iter().any(is_expected), "{}{reason}: {found:#?}", prefixes[0]);
    }
}

#[test]
fn wrong_settings_and_regions_are_faults() {
    let alias = |alias: &str| format!("aliases = {{ {alias} }}\ntime_zone =");
    let (foreign, own) = (alias("ind = \"tl\""), alias("en = \"id\""));
    assert_fault(
        "country.toml",
        &[
            ("\"id\", \"en\"", "\"id\", \"ID\"", "\"ID\" must be a language such as"),
            ("\"id\", \"en\"", "\"id\", \"id\"", "\"id\" occurs twice"),
            ("languages =", "language =", "unknown field `language`"),
            ("time_zone =", &foreign, "aliases.ind must be another code of one of the languages"),
            ("kp = ", "Kp = ", "abbreviations.Kp must be lower-case"),
            ("kp = \"kampung\"", "kp = \"Kampung 2\"", "abbreviations.kp must be lower-case"),
            ("time_zone =", &own, "aliases.en must be another code of one of the languages"),
        ],
    );
    assert_fault(
        "regions.csv",
        &[
            ("city,bdg", "town,bdg", "kind must be city or province, not \"town\""),
            ("ID-AC", "ID AC", "code must be 1 to 16 letters, digits and -"),
            ("ID-BA", "ID-AC", "the code ID-AC occurs twice"),
            ("ID-AC,no", "ID-AC,perhaps", "mapped must be yes or no, not \"perhaps\""),
            ("ID-AC,no,", "ID-AC,", "must have 4 fields"),
            ("kind,code", "code,kind", "the first line must be kind,code,mapped,name"),
        ],
    );
}

#[test]
fn wrong_texts_are_faults() {
    let (event, headline) = (format!("\"event\": \"{}\"", "e".repeat(35)), format!("\"{}", "h".repeat(91)));
    assert_fault(
        "texts/id.json",
        &[
            ("\"title\": ", "\"titel\": ", ".titel is unknown"),
            ("\"title\": \"Peta banjir\"", "\"title\": 5", "map.title must be a text, not 5"),
            ("\"title\": \"Peta banjir\"", "\"title\": null", "map.title must be a text, not null"),
            ("\"title\": \"Peta", "\"title\": \"x\", \"title\": \"Peta", "map.title occurs twice"),
            ("\"Maret\"", "3", "time.months.2 must be a text, not 3"),
            ("\"event\": \"Banjir\"", &event, "messages.event must have at most 34 characters"),
            ("\"Banjir 10", &headline, "messages.minor.headline must have at most 90 characters"),
            ("\"2\": \"berat\"", "\"3\": \"berat\"", "hazards.attributes.impact.3 is unknown"),
            ("\"ask\": \"Siapa", "\"asks\": \"Siapa", "attributes.accessabilityFailure.asks is unknown"),
        ],
    );
    let title = "\"Flood map\"";
    assert_fault(
        "texts/en.json",
        &[
            (title, "\" \"", "map.title must be a text that is not empty"),
            (title, "\"a {b}\"", "map.title has the placeholder {b}; allowed are []"),
            (title, "[\"x\"]", "map.title must be a text"),
            ("\"January\", ", "", "time.months must be a list of 12 texts"),
            ("%-d {month}", "%Q {month}", "time.moment must be a pattern of strftime such as"),
            ("A flood 10", "{area A flood 10", "a brace that belongs to no placeholder"),
            ("\"en-US\"", "\"id-ID\"", "messages.language must be en, or en- with a region"),
            ("\"en-US\"", "\"en-U S\"", "messages.language must be en, or en- with a region"),
            ("%H:%M %Z, %-d", "%Q", "messages.time must be a pattern of strftime"),
        ],
    );
}

#[test]
fn wrong_hazards_are_faults() {
    let kinds = "kind must be one of [depth, code, codes, measure, place, radius, truth], not \"deep\"";
    let highest = "kind = \"truth\"\nhighest = 3";
    assert_fault(
        "hazards.toml",
        &[
            ("kind = \"depth\"", "kind = \"deep\"", kinds),
            ("kind = \"truth\"", highest, "an attribute of the kind truth has no \"highest\""),
            ("kind = \"radius\"", "kind = \"code\"", "an attribute of the kind code needs \"highest\""),
            ("kind = \"place\"", "kind = \"place\"\nasked = true", "of the kind place is never asked"),
            ("name = \"condition\"", "name = \"flood_depth\"", "the attribute flood_depth occurs twice"),
            ("name = \"structure\"", "name = \"road\"", "the report type road occurs twice in earthquake"),
            ("name = \"wind\"", "name = \"haze\"", "the hazard haze occurs twice"),
            ("name = \"haze\"", "name = \"Haze\"", "must be 1 to 24 lower-case letters"),
            ("name = \"haze\"", "name = \"prep\"", "prep needs no entry"),
            ("\"impact\"]", "\"force\"]", "there is no attribute \"force\""),
            ("icon = \"M4 5h", "icon = \"<script>", "icon must be the data of an SVG path"),
            ("#5f6b73", "grey", "colour must be # and six hexadecimal digits"),
            ("window = \"24h\"", "window = \"8d\"", "window must be a time from 1s to 7d"),
        ],
    );
}

#[test]
fn the_first_language_must_be_complete_and_alert_words_complete_or_absent() {
    let (id, en) = ("\"id\", \"en\"", "\"en\", \"id\"");
    for (languages, file, entry, is_fault) in [
        (id, "texts/id.json", "/map/title", true),
        (id, "texts/en.json", "/map/title", false),
        (en, "texts/en.json", "/map/title", true),
        (id, "texts/en.json", "/messages/severe", true),
        (id, "texts/en.json", "/messages/over/instruction", true),
        (id, "texts/en.json", "/messages", false),
        (id, "texts/id.json", "/hazards/attributes/impact/2", true),
        (id, "texts/id.json", "/messages", true),
    ] {
        let folder = own();
        replace(&folder, "country.toml", id, languages);
        let path = folder.path().join(file);
        let mut texts: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let (group, name) = entry.rsplit_once('/').unwrap();
        texts.pointer_mut(group).and_then(Value::as_object_mut).unwrap().remove(name).unwrap();
        fs::write(&path, texts.to_string()).unwrap();
        let found = faults(&folder);
        let missing = format!("{} is missing", entry[1..].replace('/', "."));
        let is_named = found.first().map(|fault| fault.ends_with(&missing));
        assert_eq!(is_named, is_fault.then_some(true), "{languages}, {file} without {entry}: {found:#?}");
    }
}

#[test]
fn missing_and_unknown_files_are_faults() {
    let folder = own();
    fs::rename(folder.path().join("texts/en.json"), folder.path().join("texts/ms.json")).unwrap();
    let [missing, stray] = &faults(&folder)[..] else { panic!("two faults") };
    assert_eq!(missing, "texts/en.json: the file is missing");
    assert!(stray.starts_with("texts/ms.json: is not a language"), "{stray}");
    let folder = own();
    for stray in ["hazard.toml", ".hidden"] {
        fs::write(folder.path().join(stray), "").unwrap();
    }
    let [stray] = &faults(&folder)[..] else { panic!("one fault") };
    assert!(stray.starts_with("hazard.toml: is not a file that Siaga reads"), "{stray}");
    assert_eq!(faults(&tempfile::tempdir().unwrap()), ["country.toml: the file is missing"]);
}

#[test]
fn the_faults_of_all_files_are_reported_at_once() {
    let folder = own();
    replace(&folder, "country.toml", "time_zone =", "aliases = { ind = \"tl\" }\ntime_zone =");
    replace(&folder, "regions.csv", "city,bdg", "town,bdg");
    replace(&folder, "texts/id.json", "\"title\": \"Peta banjir\"", "\"title\": 5");
    replace(&folder, "texts/id.json", "\"Maret\"", "3");
    let line = replace(&folder, "texts/en.json", "\"title\": ", "\"title\" ");
    let not_json = format!("texts/en.json, line {line}: is not JSON: expected `:`");
    let found = faults(&folder);
    let expected = [
        "country.toml, line",
        "regions.csv, line",
        &not_json,
        "texts/id.json: map.title",
        "texts/id.json: time.months.2",
    ];
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (fault, beginning) in found.iter().zip(expected) {
        assert!(fault.starts_with(beginning), "{found:#?}");
    }
    replace(&folder, "hazards.toml", "name = \"haze\"", "name = \"Haze\"");
    replace(&folder, "hazards.toml", "#5f6b73", "grey");
    let found = faults(&folder);
    assert_eq!(found.iter().filter(|fault| fault.starts_with("hazards.toml, line")).count(), 2, "{found:#?}");
}

#[test]
fn at_most_20_faults_are_reported() {
    let folder = own();
    let rows = "town,,no,\n".repeat(30);
    replace(&folder, "regions.csv", "city,bdg", &format!("{rows}city,bdg"));
    replace(&folder, "hazards.toml", "highest = 2", "highest = 4294967295");
    assert_eq!(faults(&folder).len(), 20);
}
