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

#[test]
fn a_copy_of_the_country_of_the_program_has_no_faults() {
    let output = check(&with_country());
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

#[test]
fn every_wrong_text_is_named_by_file_and_line() {
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
    ] {
        let folder = with_country();
        let line = replace(&folder, file, part, by);
        let found = faults(&folder);
        let named = format!("siaga: country/{file}, line {line}: ");
        assert!(
            found.iter().any(|fault| fault.starts_with(&named) && fault.contains(reason)),
            "{named}{reason}: {found:#?}"
        );
    }
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
    fs::remove_dir_all(folder.path().join("country")).unwrap();
    assert_eq!(faults(&folder), ["siaga: country/country.toml, line 1: the file is missing"]);
}
