//! `setup` with options alone; what it makes of files is tested in `crates/siaga-setup`.

use std::fs;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::{extract, faults, out, siaga, siaga_in};

const OPTIONS: [&str; 12] = [
    "setup",
    "--from",
    "city.osm.pbf",
    "--place",
    "Example",
    "--agency",
    "City of Example",
    "--region-code",
    "ID-JK",
    "--time-zone",
    "Asia/Jakarta",
    "--yes",
];

fn desk() -> TempDir {
    let desk = tempfile::tempdir().unwrap();
    extract::write(&desk.path().join("city.osm.pbf"));
    desk
}

fn setup(desk: &TempDir, more: &[&str]) -> std::process::Output {
    siaga_in(desk, &[&OPTIONS, more].concat(), &[])
}

/// Runs a command with the configuration of the folder.
fn in_city(desk: &TempDir, arguments: &[&str]) -> String {
    let file = desk.path().join("city/Rocket.toml");
    out(&siaga_in(desk, arguments, &[("ROCKET_CONFIG", file.to_str().unwrap())]))
}

#[test]
fn a_city_of_one_command_has_no_warnings_and_all_its_areas_in_the_store() {
    let desk = desk();
    let said = out(&setup(&desk, &["--language", "de", "--base-url", "https://flood.example", "city"]));
    assert!(said.contains("Made 4 areas in ") && said.contains("which is shown this once: "), "{said}");
    let checked = in_city(&desk, &["check"]);
    assert!(checked.ends_with("\n# No errors, no warnings.\n"), "{checked}");
    for part in [
        "base_url = \"https://flood.example/v1\"",
        "sender_name = \"City of Example\"",
        "sender = \"flood.example\"",
    ] {
        assert!(checked.contains(part), "{part}: {checked}");
    }
    let status = in_city(&desk, &["status"]);
    assert!(status.lines().any(|line| line.starts_with("areas ") && line.ends_with(" 4")), "{status}");
    assert!(fs::read_to_string(desk.path().join("city/Caddyfile")).unwrap().contains("\nflood.example {\n"));
    assert_eq!(fs::read_dir(desk.path()).unwrap().count(), 2, "nothing else is left");
}

#[test]
fn a_second_run_keeps_the_key_and_names_areas_that_are_gone() {
    let desk = desk();
    out(&setup(&desk, &["city"]));
    let said = out(&siaga_in(&desk, &["setup", "--yes", "city"], &[]));
    assert!(said.contains("The key of desk stays as it is."), "{said}");
    assert!(!said.contains("shown this once") && !said.contains("not in the new data"), "{said}");
    let fewer =
        [("North", 12), ("South", 14)].map(|(name, id)| extract::Square::new(id, 8, name, (10_680, -620), 2));
    fs::write(desk.path().join("city.osm.pbf"), extract::extract(&fewer, &[])).unwrap();
    let said = out(&siaga_in(&desk, &["setup", "--yes", "--whole-file", "--", "city"], &[]));
    assert!(said.contains("4 areas of the store are not in the new data; remove them by: cd '"), "{said}");
}

/// Stops the server at the end of a test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn a_folder_whose_server_runs_is_refused_and_not_changed() {
    let desk = desk();
    out(&setup(&desk, &["city"]));
    let city = desk.path().join("city");
    let mut command = Command::new(env!("CARGO_BIN_EXE_siaga"));
    command.current_dir(&city).env_clear().env("ROCKET_PORT", "0").stdout(Stdio::piped());
    let mut server = Server(command.spawn().unwrap());
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(server.0.stdout.take().unwrap()));
    assert!(lines.next().unwrap().unwrap().contains("serves 4 areas"));
    let before = fs::read_to_string(city.join("Rocket.toml")).unwrap();
    let why = faults(&setup(&desk, &["--agency", "Other", "city"][2..]));
    assert!(why[0].contains("siaga.db"), "{why:?}");
    assert_eq!(fs::read_to_string(city.join("Rocket.toml")).unwrap(), before);
}

#[test]
fn missing_answers_end_with_2_and_wrong_areas_leave_nothing() {
    let missing = siaga(&["setup", "city"], &[]);
    assert_eq!(missing.status.code(), Some(2));
    let said = String::from_utf8(missing.stderr).unwrap();
    assert!(said.contains("missing: --from FILE, --place NAME, --agency NAME\n"), "{said}");
    assert!(said.contains("Usage: siaga setup "), "{said}");

    let desk = tempfile::tempdir().unwrap();
    let own = |areas: &str| {
        fs::write(desk.path().join("own.geojson"), format!("{{\"features\":[{areas}]}}")).unwrap();
    };
    let area = |id: &str, x: f64| {
        format!(
            "{{\"type\":\"Feature\",\"properties\":{{\"id\":{id},\"name\":\"A\"}},\"geometry\":{{\"type\":\"Polygon\",\"coordinates\":[[[{x},1],[{},1],[{x},2],[{x},1]]]}}}}",
            x + 1.0
        )
    };
    let run = || {
        let options = ["--agency", "A", "--region-code", "XX", "--time-zone", "UTC", "--yes", "city"];
        faults(&siaga_in(&desk, &[&["setup", "--from", "own.geojson"], &options[..]].concat(), &[]))
    };
    for (areas, reason) in [
        (format!("{},{}", area("1", 1.0), area("1", 2.0)), "areas.geojson, line 3"),
        (area("\"one\"", 1.0), "areas.geojson, line 2"),
        (area("1", 701_234.0), "EPSG:4326"),
    ] {
        own(&areas);
        let why = run();
        assert!(why[0].contains(reason) && !why[0].contains(".part"), "{why:?}");
        assert_eq!(fs::read_dir(desk.path()).unwrap().count(), 1, "{why:?}");
    }
}

#[test]
fn a_city_in_any_language_starts_even_without_texts_in_it() {
    let desk = desk();
    for language in ["en", "id", "tl", "fr"] {
        let folder = format!("city-{language}");
        let said = out(&setup(&desk, &["--hazards", "all", "--language", language, &folder][..]));
        assert_eq!(said.contains("There are no texts in fr yet"), language == "fr", "{said}");
        let file = desk.path().join(&folder).join("Rocket.toml");
        let checked = out(&siaga_in(&desk, &["check"], &[("ROCKET_CONFIG", file.to_str().unwrap())]));
        assert!(checked.ends_with("\n# No errors, no warnings.\n"), "{language}: {checked}");
    }
}

#[test]
fn the_name_of_a_person_who_logs_in_is_refused_for_a_key() {
    let desk = desk();
    let why = faults(&setup(&desk, &["--officer", "oidc:ani", "city"]));
    assert!(why[0].starts_with("siaga: --officer: must not begin with "), "{why:?}");
    assert_eq!(fs::read_dir(desk.path()).unwrap().count(), 1);
}
