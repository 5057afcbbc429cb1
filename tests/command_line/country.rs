//! What `check` says about the folder of a country.

use std::fs;
use std::path::Path;
use std::process::Output;

use tempfile::TempDir;

use crate::siaga_in;

/// A folder with the country of the program in `country`.
fn with_country() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("country/id");
    fs::create_dir_all(folder.path().join("country/texts")).unwrap();
    for file in ["", "texts"] {
        for entry in fs::read_dir(own.join(file)).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_file() {
                fs::copy(entry.path(), folder.path().join("country").join(file).join(entry.file_name()))
                    .unwrap();
            }
        }
    }
    folder
}

/// Replaces a part of a file, and returns the line that it is on.
fn replace(folder: &TempDir, file: &str, part: &str, by: &str) -> usize {
    let path = folder.path().join("country").join(file);
    let text = fs::read_to_string(&path).unwrap();
    let at = text.find(part).unwrap_or_else(|| panic!("{file} has no {part}"));
    fs::write(path, text.replacen(part, by, 1)).unwrap();
    1 + text[..at].matches('\n').count()
}

fn check(folder: &TempDir) -> Output {
    siaga_in(folder, &["check"], &[("SIAGA_COUNTRY__FOLDER", "country")])
}

/// The lines on standard error of a run that ended with 1.
fn faults(folder: &TempDir) -> Vec<String> {
    let output = check(folder);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8_lossy(&output.stderr).lines().map(str::to_owned).collect()
}

/// Replaces a part of a file, and expects that `check` names the line, or the next one, with the reason.
fn assert_named(file: &str, part: &str, by: &str, reason: &str) {
    let folder = with_country();
    let line = replace(&folder, file, part, by);
    let found = faults(&folder);
    let named = |line: usize| format!("siaga: country/{file}, line {line}: ");
    let is_named = |fault: &String| {
        fault.contains(reason) && [line, line + 1].iter().any(|line| fault.starts_with(&named(*line)))
    };
    assert!(found.iter().any(is_named), "{}{reason}: {found:#?}", named(line));
}

#[test]
fn a_copy_of_the_country_of_the_program_has_no_faults() {
    let output = check(&with_country());
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

#[test]
fn every_wrong_text_is_named_by_file_and_line() {
    let event = format!("\"event\": \"{}\"", "e".repeat(35));
    let headline = format!("\"{}", "h".repeat(91));
    for (file, part, by, reason) in [
        ("texts/id.json", "\"title\": ", "\"titel\": ", ".titel is unknown"),
        ("texts/en.json", "\"title\": ", "\"titel\": ", ".titel is unknown"),
        ("texts/id.json", "\"title\": \"Peta banjir\"", "\"title\": 5", "must be a text, not 5"),
        (
            "texts/en.json",
            "\"title\": \"Flood map\"",
            "\"title\": \" \"",
            "map.title must be a text that is not empty",
        ),
        (
            "texts/en.json",
            "\"title\": \"Flood map\"",
            "\"title\": \"a {b}\"",
            "map.title has the placeholder {b}; allowed are []",
        ),
        ("texts/en.json", "\"title\": \"Flood map\"", "\"title\": [\"x\"]", "map.title must be a text"),
        ("texts/en.json", "\"January\", ", "", "time.months must be a list of 12 texts"),
        ("texts/en.json", "%-d {month}", "%Q {month}", "time.moment must be a pattern of strftime such as"),
        ("country.toml", "\"id\", \"en\"", "\"id\", \"ID\"", "\"ID\" must be a language such as"),
        ("country.toml", "\"id\", \"en\"", "\"id\", \"id\"", "\"id\" occurs twice"),
        ("country.toml", "languages =", "language =", "unknown field `language`"),
        ("texts/id.json", "\"event\": \"Banjir\"", &event, "messages.event must have at most 34 characters"),
        (
            "texts/id.json",
            "\"Banjir 10",
            &headline,
            "messages.minor.headline must have at most 90 characters",
        ),
        (
            "texts/id.json",
            "\"headline\": \"Banjir di {area}",
            "\"headline\": \"{time}",
            "messages.unknown.headline has the placeholder {time}; allowed are [{area}]",
        ),
        ("texts/en.json", "A flood 10", "{area A flood 10", "a brace that belongs to no placeholder"),
        ("texts/en.json", "\"en-US\"", "\"id-ID\"", "messages.language must be en, or en- with a region"),
        ("texts/en.json", "\"en-US\"", "\"en-U S\"", "messages.language must be en, or en- with a region"),
        ("texts/en.json", "%H:%M %Z, %-d", "%Q", "messages.time must be a pattern of strftime"),
    ] {
        assert_named(file, part, by, reason);
    }
}

#[test]
fn every_wrong_hazard_and_region_is_named_by_file_and_line() {
    for (file, part, by, reason) in [
        (
            "hazards.toml",
            "kind = \"depth\"",
            "kind = \"deep\"",
            "kind must be one of [depth, code, codes, measure, place, radius, truth], not \"deep\"",
        ),
        (
            "hazards.toml",
            "kind = \"truth\"",
            "kind = \"truth\"\nhighest = 3",
            "an attribute of the kind truth has no \"highest\"",
        ),
        (
            "hazards.toml",
            "kind = \"radius\"",
            "kind = \"code\"",
            "an attribute of the kind code needs \"highest\"",
        ),
        (
            "hazards.toml",
            "name = \"condition\"",
            "name = \"flood_depth\"",
            "the attribute flood_depth occurs twice",
        ),
        (
            "hazards.toml",
            "name = \"structure\"",
            "name = \"road\"",
            "the report type road occurs twice in earthquake",
        ),
        ("hazards.toml", "name = \"wind\"", "name = \"haze\"", "the hazard haze occurs twice"),
        ("hazards.toml", "name = \"haze\"", "name = \"Haze\"", "must be 1 to 24 lower-case letters"),
        ("hazards.toml", "name = \"haze\"", "name = \"prep\"", "prep needs no entry"),
        ("hazards.toml", "\"impact\"]", "\"force\"]", "there is no attribute \"force\""),
        ("hazards.toml", "icon = \"M4 5h", "icon = \"<script>", "icon must be the data of an SVG path"),
        ("hazards.toml", "icon = \"M4 5h", "icon = \"url(x)M4", "icon must be the data of an SVG path"),
        ("hazards.toml", "#5f6b73", "grey", "colour must be # and six hexadecimal digits"),
        ("hazards.toml", "window = \"24h\"", "window = \"8d\"", "window must be a time from 1s to 7d"),
        ("hazards.toml", "window = \"24h\"", "windows = \"24h\"", "unknown field `windows`"),
        ("texts/id.json", "\"2\": \"berat\"", "\"3\": \"berat\"", "hazards.attributes.impact.3 is unknown"),
        (
            "texts/id.json",
            "\"haze\": \"Kabut asap\"",
            "\"hase\": \"Kabut asap\"",
            "hazards.names.hase is unknown",
        ),
        (
            "hazards.toml",
            "kind = \"place\"",
            "kind = \"place\"\nasked = true",
            "of the kind place is never asked",
        ),
        (
            "texts/id.json",
            "\"ask\": \"Siapa",
            "\"asks\": \"Siapa",
            "hazards.attributes.accessabilityFailure.asks is unknown",
        ),
        (
            "country.toml",
            "time_zone =",
            "aliases = { ind = \"tl\" }\ntime_zone =",
            "aliases.ind must be another code of one of the languages",
        ),
        (
            "country.toml",
            "time_zone =",
            "aliases = { en = \"id\" }\ntime_zone =",
            "aliases.en must be another code of one of the languages",
        ),
        ("regions.csv", "city,bdg", "town,bdg", "kind must be city or province, not \"town\""),
        ("regions.csv", "ID-AC", "ID AC", "code must be 1 to 16 letters, digits and -"),
        ("regions.csv", "ID-BA", "ID-AC", "the code ID-AC occurs twice"),
        ("regions.csv", "ID-AC,no", "ID-AC,perhaps", "mapped must be yes or no, not \"perhaps\""),
        ("regions.csv", "ID-AC,no,", "ID-AC,", "must have 4 fields"),
        ("regions.csv", "kind,code", "code,kind", "the first line must be kind,code,mapped,name"),
    ] {
        assert_named(file, part, by, reason);
    }
    // A code without words is missing in the texts.
    let folder = with_country();
    replace(&folder, "texts/id.json", ",\n        \"2\": \"berat\"", "");
    let found = faults(&folder);
    assert!(found[0].ends_with("hazards.attributes.impact.2 is missing"), "{found:#?}");
}

#[test]
fn a_missing_text_is_a_fault_of_the_first_language_only() {
    for (file, languages, is_missing) in [
        ("texts/id.json", "\"id\", \"en\"", true),
        ("texts/en.json", "\"id\", \"en\"", false),
        ("texts/en.json", "\"en\", \"id\"", true),
    ] {
        let folder = with_country();
        replace(&folder, "country.toml", "\"id\", \"en\"", languages);
        let path = folder.path().join("country").join(file);
        let mut texts: serde_json::Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        texts["map"].as_object_mut().unwrap().remove("title").unwrap();
        fs::write(&path, serde_json::to_string_pretty(&texts).unwrap()).unwrap();
        if is_missing {
            let found = faults(&folder);
            assert!(found[0].ends_with("map.title is missing"), "{found:#?}");
        } else {
            assert!(check(&folder).status.success());
        }
    }
}

#[test]
fn a_language_has_all_words_of_alerts_or_none() {
    let without = |texts: &mut serde_json::Value, path: &str| {
        let (group, name) = path.rsplit_once('/').unwrap();
        texts.pointer_mut(group).unwrap().as_object_mut().unwrap().remove(name).unwrap();
    };
    for (file, path, missing) in [
        ("texts/en.json", "/messages/over/instruction", Some("messages.over.instruction is missing")),
        ("texts/en.json", "/messages/severe", Some("messages.severe is missing")),
        ("texts/en.json", "/messages", None),
        ("texts/id.json", "/messages", Some("messages is missing")),
    ] {
        let folder = with_country();
        let file = folder.path().join("country").join(file);
        let mut texts = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        without(&mut texts, path);
        fs::write(&file, texts.to_string()).unwrap();
        match missing {
            Some(missing) => assert!(faults(&folder)[0].ends_with(missing), "{path}"),
            None => assert!(check(&folder).status.success(), "{path}"),
        }
    }
}

#[test]
fn a_missing_file_and_one_too_many_are_faults() {
    let folder = with_country();
    fs::rename(folder.path().join("country/texts/en.json"), folder.path().join("country/texts/ms.json"))
        .unwrap();
    let found = faults(&folder);
    let expected = [
        "siaga: country/texts/en.json, line 1: the file is missing",
        "siaga: country/texts/ms.json, line 1: is not a language of country.toml",
    ];
    assert_eq!(found, expected);
    let folder = with_country();
    for stray in ["hazard.toml", ".hidden"] {
        fs::write(folder.path().join("country").join(stray), "").unwrap();
    }
    assert_eq!(
        faults(&folder),
        [
            "siaga: country/hazard.toml, line 1: is not a file that Siaga reads from the folder of a country: rename or remove it"
        ]
    );
    fs::remove_dir_all(folder.path().join("country")).unwrap();
    assert_eq!(faults(&folder), ["siaga: country/country.toml, line 1: the file is missing"]);
}
