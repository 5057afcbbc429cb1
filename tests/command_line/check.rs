//! `check` on data sets and country folders; the faults of countries are tested in `src/data/country/diagnostics/tests.rs`.

use std::fs;

use tempfile::TempDir;

use crate::{faults, out, refusal, siaga, siaga_in, with_data};

/// Changes a file of the data set.
fn change(folder: &TempDir, file: &str, change: impl FnOnce(String) -> String) {
    let path = folder.path().join("data").join(file);
    fs::write(&path, change(fs::read_to_string(&path).unwrap())).unwrap();
}

#[test]
fn check_prints_below_the_configuration_that_the_data_set_has_no_faults() {
    let folder = with_data();
    fs::write(folder.path().join("data/rw.shp"), "").unwrap();
    for (arguments, variables) in
        [(&["check", "data"][..], &[][..]), (&["check"], &[("SIAGA_DATASET", "data")])]
    {
        let output = siaga_in(&folder, arguments, variables);
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        let said = out(&output);
        said.parse::<toml::Table>().unwrap();
        let (_, notes) = said.split_once("\n# data: the data set has no faults\n").unwrap();
        assert!(notes.starts_with("# reports.geojson: 1 row is dated in the future"), "{said}");
        let end = "\n# ignored, no part of a data set: rw.shp\n\n# No errors, no warnings.\n";
        assert!(notes.ends_with(end), "{said}");
    }
    let said = out(&siaga_in(&folder, &["check"], &[]));
    assert_eq!(said.matches('#').count(), 2, "the demo is no folder: {said}");
}

#[test]
fn the_last_line_is_a_verdict_after_the_warnings_of_a_startup() {
    let folder = with_data();
    let public = [("SIAGA_BASE_URL", "http://flood.example/v1")];
    let said = out(&siaga_in(&folder, &["check"], &public));
    said.parse::<toml::Table>().unwrap();
    let lines: Vec<_> = said.lines().filter(|line| line.starts_with("# ")).collect();
    let [_, warnings @ .., verdict] = &lines[..] else { panic!("{said}") };
    assert!(warnings.iter().all(|line| line.starts_with("# warning at each start: ")), "{said}");
    for part in ["in the name of Jakarta's agency", "is no https", "made for this run", "is demo"] {
        assert!(warnings.iter().any(|line| line.contains(part)), "{part}: {said}");
    }
    assert_eq!(*verdict, format!("# No errors, {} warnings.", warnings.len()));
}

#[test]
fn check_prints_the_addresses_to_register_at_the_issuer() {
    let folder = with_data();
    let grants = "[{ group = \"bpbd\", scopes = [\"admin\"] }]";
    let oidc = format!(
        "{{ issuer = \"https://id.example\", client_id = \"siaga\", client_secret = \"hunter2\", grants = {grants} }}"
    );
    let variables = [("SIAGA_BASE_URL", "https://flood.example/api/v1"), ("SIAGA_AUTH__OIDC", &*oidc)];
    let said = out(&siaga_in(&folder, &["check"], &variables));
    said.parse::<toml::Table>().unwrap();
    assert!(said.contains("redirect_uri https://flood.example/desk/login/callback "), "{said}");
    assert!(said.contains("post_logout_redirect_uri https://flood.example/desk\n"), "{said}");
    assert!(!said.contains("hunter2"), "{said}");
}

#[test]
fn every_fault_is_named_by_file_and_line() {
    let folder = with_data();
    change(&folder, "flood_states.csv", |rows| {
        rows + "5,9,2016-12-19T13:41:35Z,,\n5,1\n77,1,2016-12-19T13:41:35Z,,\n"
    });
    change(&folder, "gauge_readings.csv", |rows| rows.replacen("observed_at", "observed", 1));
    change(&folder, "regions.geojson", |rows| rows.replacen("\"code\":\"ID-JB\"", "\"code\":null", 1));
    let rows = fs::read_to_string(folder.path().join("data/flood_states.csv")).unwrap().lines().count();
    let found = faults(&siaga_in(&folder, &["check", "data"], &[]));
    let begin = |(file, line): (&str, usize)| format!("siaga: data/{file}, line {line}: ");
    let log = "flood_states.csv";
    let expected =
        [("regions.geojson", 2), (log, rows - 2), (log, rows - 1), (log, rows), ("gauge_readings.csv", 1)];
    for (fault, expected) in found.iter().zip(expected.map(begin)) {
        assert!(fault.starts_with(&expected), "{expected}: {fault}");
    }
    assert_eq!(found[5..], ["siaga: data: the data set has 5 faults"]);
}

#[test]
fn rows_that_refer_to_an_invalid_file_are_not_reported_as_further_faults() {
    let folder = with_data();
    change(&folder, "areas.geojson", |rows| rows.replacen("\"area_id\":\"5\"", "\"area_id\":\"x\"", 1));
    change(&folder, "reports.geojson", |rows| rows[..rows.len() / 2].to_owned());
    let found = faults(&siaga_in(&folder, &["check", "data"], &[]));
    assert_eq!(found.len(), 3, "{found:#?}");
    assert!(found[0].contains("areas.geojson, line ") && found[0].contains("area_id must be"), "{found:#?}");
    assert!(found[1].contains("reports.geojson, line "), "{found:#?}");
}

#[test]
fn a_fault_of_the_base_map_is_reported_with_file_and_line_wherever_the_file_is() {
    let folder = with_data();
    let point = |kind: &str| {
        let geometry = r#"{"type":"Point","coordinates":[106.8,-6.1]}"#;
        format!(r#"{{"type":"Feature","properties":{{"kind":"{kind}"}},"geometry":{geometry}}}"#)
    };
    let features = [point("lane"), point("park")].join(",\n");
    let basemap = format!("{{\"type\":\"FeatureCollection\",\"features\":[\n{features}\n]}}");
    fs::write(folder.path().join("data/basemap.geojson"), &basemap).unwrap();
    let found = faults(&siaga_in(&folder, &["check", "data"], &[]));
    let [kind, geometry, _] = &found[..] else { panic!("{found:#?}") };
    assert!(kind.starts_with("siaga: data/basemap.geojson, line 2: feature 1"), "{kind}");
    assert!(kind.contains("kind must be one of [land, water, river, motorway,"), "{kind}");
    assert!(geometry.contains(", line 3: feature 2") && geometry.contains("not a Point"), "{geometry}");

    let refused = |more: &str| {
        let table = "[default.siaga.map.basemap]\nfile = \"data/basemap.geojson\"\n";
        fs::write(folder.path().join("Rocket.toml"), format!("{table}{more}")).unwrap();
        refusal(&siaga_in(&folder, &["check"], &[]))
    };
    let error = refused("");
    assert!(error.starts_with("siaga: siaga.map.basemap.attribution: missing: "), "{error}");
    let error = refused("attribution = \"\"\n");
    assert!(error.contains("map.basemap.file: data/basemap.geojson, line 2: feature 1"), "{error}");
    fs::remove_file(folder.path().join("data/basemap.geojson")).unwrap();
    let error = refused("attribution = \"\"\n");
    assert!(error.starts_with("siaga: siaga.map.basemap.file: "), "{error}");
    assert!(error.contains("data/basemap.geojson"), "{error}");
}

#[test]
fn the_number_of_faults_is_bounded() {
    let folder = with_data();
    change(&folder, "flood_states.csv", |rows| rows + &"5,9,2016-12-19T13:41:35Z,,\n".repeat(100));
    let found = faults(&siaga_in(&folder, &["check", "data"], &[]));
    assert_eq!((found.len(), &*found[20]), (21, "siaga: data: the data set has at least 20 faults"));
    fs::remove_dir_all(folder.path().join("data")).unwrap();
    assert_eq!(refusal(&siaga_in(&folder, &["check", "data"], &[])), "siaga: data is no folder");
}

#[test]
fn check_reports_each_fault_of_a_country_and_none_in_the_built_in_one() {
    let check = |folder: &str| siaga(&["check"], &[("SIAGA_COUNTRY__FOLDER", folder)]);
    let output = check(concat!(env!("CARGO_MANIFEST_DIR"), "/country/id"));
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("country")).unwrap();
    fs::write(folder.path().join("country/country.toml"), "languages = []\ntime_zone = \"Mars\"\n").unwrap();
    let found = faults(&siaga_in(&folder, &["check"], &[("SIAGA_COUNTRY__FOLDER", "country")]));
    let [languages, zone, hazards, regions] = &found[..] else { panic!("{found:#?}") };
    assert_eq!(
        languages,
        "siaga: country/country.toml, line 1: languages must have 1 to 20 languages such as \"en\""
    );
    assert!(zone.starts_with("siaga: country/country.toml, line 2: time_zone must be a time zone"), "{zone}");
    assert_eq!(hazards, "siaga: country/hazards.toml: the file is missing");
    assert_eq!(regions, "siaga: country/regions.csv: the file is missing");
}

#[test]
fn check_names_the_file_that_it_read_and_one_with_small_letters() {
    let folder = tempfile::tempdir().unwrap();
    let first = |folder: &TempDir| out(&siaga_in(folder, &["check"], &[])).lines().next().unwrap().to_owned();
    assert!(first(&folder).starts_with("# No Rocket.toml was found: write one"), "{}", first(&folder));
    fs::write(folder.path().join("rocket.toml"), "").unwrap();
    let said = out(&siaga_in(&folder, &["check"], &[]));
    assert!(
        said.contains("# warning at each start: rocket.toml is not read: write its name as Rocket.toml\n"),
        "{said}"
    );
    fs::write(folder.path().join("Rocket.toml"), "").unwrap();
    assert!(first(&folder).ends_with("/Rocket.toml."), "{}", first(&folder));
}

#[test]
fn check_finds_a_store_in_a_folder_that_does_not_exist() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("missing/siaga.db");
    let variables = [("SIAGA_STORE", "file"), ("SIAGA_FILE__PATH", path.to_str().unwrap())];
    let found = faults(&siaga_in(&folder, &["check"], &variables));
    let missing = folder.path().join("missing").display().to_string();
    let expected =
        format!("siaga.file.path: the folder of {missing}/siaga.db does not exist: write mkdir -p {missing}");
    assert!(found[0].contains(&expected), "{found:?}");
}

#[test]
fn a_value_of_a_wrong_type_is_named_with_how_to_write_it() {
    let cases = [
        (
            "[default.siaga.quota]\ntrusted_proxies = \"127.0.0.1\"",
            "must be a list, not string \"127.0.0.1\": write [\"127.0.0.1\"]",
        ),
        (
            "[default.siaga.cards]\nopen = \"true\"",
            "must be true or false, not string \"true\": write it without quotes",
        ),
        ("[default.siaga.site]\nemergency = 112", "must be a text, not signed int `112`: write \"112\""),
        ("[default]\nport = 91020", "must be a whole number from 0 to 65535"),
        ("[default.siaga]\nstore = \"file", "the text that begins here does not end on its line"),
    ];
    for (file, expected) in cases {
        let found = faults(&siaga_in(&crate::configured(file), &["check"], &[]));
        assert!(found[0].contains(expected), "{file}: {found:?}");
    }
}
