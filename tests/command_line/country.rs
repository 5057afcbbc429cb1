//! What `check` says about the folder of a country. Each fault is tested in `src/country/tests.rs`.

use std::fs;

use crate::{faults, siaga, siaga_in};

#[test]
fn check_names_each_fault_of_a_country_and_finds_none_in_that_of_the_program() {
    let check = |folder: &str| siaga(&["check"], &[("SIAGA_COUNTRY__FOLDER", folder)]);
    let output = check(concat!(env!("CARGO_MANIFEST_DIR"), "/country/id"));
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("country")).unwrap();
    fs::write(folder.path().join("country/country.toml"), "languages = []\ntime_zone = \"Mars\"\n").unwrap();
    let found = faults(&siaga_in(&folder, &["check"], &[("SIAGA_COUNTRY__FOLDER", "country")]));
    let [zone, hazards, regions] = &found[..] else { panic!("{found:#?}") };
    assert!(zone.starts_with("siaga: country/country.toml, line 2: time_zone must be a time zone"), "{zone}");
    assert_eq!(hazards, "siaga: country/hazards.toml, line 1: the file is missing");
    assert_eq!(regions, "siaga: country/regions.csv, line 1: the file is missing");
}
