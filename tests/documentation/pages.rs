//! The HTML pages in Chromium.

use std::env;
use std::time::Duration;

use serde_json::{Value, json};
use siaga::auth::KeyDigest;

use crate::demo::Demo;
use crate::eventually::patiently;
use crate::port::free_port;
use crate::running::KEY;
use crate::tools::{folder_with, node, printed};

/// What the scripts import.
const IMPORTED: [&str; 5] = [
    "tests/documentation/chromium.mjs",
    "tests/documentation/officer.mjs",
    "tests/documentation/stand_in.mjs",
    "src/pages/map/statements.js",
    "src/data/statements/table.json",
];

/// Runs a script that opens pages of a service in Chromium, and returns its output.
fn run(demo: &Demo, script: &str) -> String {
    run_with(demo, script, demo.key())
}

fn run_with(demo: &Demo, script: &str, key: &str) -> String {
    let folder = folder_with(&[&IMPORTED[..], &[&format!("tests/documentation/{script}")]].concat());
    let arguments = [script, &demo.origin(""), &demo.base(), key];
    printed(script, node(folder.path()).args(arguments))
}

/// The same for a script that prints JSON.
fn seen(demo: &Demo, script: &str) -> Value {
    serde_json::from_str(&run(demo, script)).unwrap()
}

#[test]
fn a_reader_who_executes_the_flood_map_at_docs_sees_the_response_soon() {
    let demo = Demo::start();
    let expected = demo.text("floods");
    let seen = seen(&demo, "docs_page.mjs");
    // Measured 2 s on an idle machine; other tests run beside this one.
    let most = patiently(Duration::from_secs(20)).as_millis();
    assert!(seen["milliseconds"].as_u64().is_some_and(|passed| u128::from(passed) <= most), "{seen}");
    assert!(expected.starts_with(seen["begins"].as_str().unwrap()), "{seen}");
    assert!(seen["length"].as_u64().is_some_and(|length| length > 150_000), "{seen}");
    assert_eq!(seen["type"], "application/json", "the default format is offered first");
    assert_eq!(
        seen["open"],
        json!(["GET", "PUT", "PATCH", "POST"]),
        "cards are open in the demo, and so are subscriptions"
    );
    assert_eq!(seen["closed"], json!(["GET", "PUT", "DELETE", "POST"]));
    let groups = seen["groups"].as_array().unwrap();
    assert!(groups[0].as_str().unwrap().starts_with("floods"), "{seen}");
    assert!(groups.iter().all(|group| group.as_str().unwrap().lines().count() > 1), "{seen}");
    demo.end();
}

#[test]
fn axe_finds_no_fault_on_the_front_page_in_either_language_and_colour_scheme() {
    let demo = Demo::start();
    let states = demo.get("floods/states");
    let states: Vec<_> = states["result"].as_array().unwrap().iter().map(|one| &one["state"]).collect();
    let with = |state: u8| states.iter().filter(|other| ***other == json!(state)).count();
    let counts = json!([states.len(), with(4), with(3), with(2), with(1)]);
    let seen = seen(&demo, "front_page.mjs");
    let (switched, looks) = seen.as_array().unwrap().split_last().unwrap();
    assert_eq!(looks.len(), 8);
    for look in looks {
        assert_eq!(look["violations"], json!([]), "{look}");
        assert_eq!(look["language"].as_str(), look["accepted"].as_str().unwrap().get(..2));
        assert_eq!((&look["counts"], &look["overflows"]), (&counts, &json!(false)), "{look}");
        assert!(look["newest"].as_str().unwrap().ends_with(" WIB"), "{look}");
        assert!(look["addresses"].as_u64().is_some_and(|count| count > 10), "{look}");
    }
    assert_eq!(switched["switched"], json!(["id", "?lang=id"]));
    demo.end();
}

/// Runs a script, and ends the service.
fn play(demo: Demo, script: &str) {
    println!("{}", run(&demo, script));
    demo.end();
}

fn agency() -> Demo {
    Demo::configured(&[
        // 30 letters.
        ("SIAGA_SITE__NAME", "BPBD Provinsi DKI Jakarta Raya"),
        ("SIAGA_SITE__AGENCY", "Badan Penanggulangan Bencana Daerah"),
        ("SIAGA_PUSH__ENABLED", "true"),
    ])
}

#[test]
fn axe_finds_no_fault_on_any_page_and_large_text_fits_a_small_screen() {
    play(agency(), "every_page.mjs");
}

#[test]
fn a_phone_shows_the_accuracy_of_its_position_long_names_in_large_text_and_the_map_when_rotated() {
    play(agency(), "phone.mjs");
}

#[test]
fn the_live_map_is_usable_without_script_by_keyboard_offline_and_over_a_slow_connection() {
    play(Demo::start(), "map.mjs");
}

#[test]
fn residents_report_with_and_without_script_and_network_and_each_report_arrives_once() {
    play(Demo::start(), "report.mjs");
}

#[test]
fn a_report_stays_on_the_phone_until_the_service_itself_has_confirmed_it() {
    play(Demo::start(), "outbox.mjs");
}

#[test]
fn officers_play_a_night_at_the_desk_with_another_officer_and_a_bad_network() {
    play(Demo::start(), "desk.mjs");
}

#[test]
fn a_desk_that_fails_to_start_shows_it_and_links_to_the_situation_page() {
    play(Demo::start(), "desk_start.mjs");
}

#[test]
fn a_batch_of_an_officer_is_retried_until_the_service_itself_responds() {
    play(Demo::start(), "desk_portal.mjs");
}

#[test]
fn the_desk_works_with_a_great_flood_a_lost_network_two_tabs_and_small_screens() {
    play(Demo::start(), "desk_demands.mjs");
}

#[test]
fn people_log_in_at_the_desk_with_accounts_of_another_site_and_log_out_there() {
    let issuer = format!("http://localhost:{}", free_port());
    let grants = r#"[{ group = "bpbd", scopes = ["floods:write"] }]"#;
    let oidc = format!(
        r#"{{ issuer = "{issuer}", client_id = "siaga", client_secret = "a secret of the desk", grants = {grants} }}"#
    );
    let demo = Demo::with_own_key(&[("SIAGA_AUTH__OIDC", &oidc)]);
    let script = "office_login.mjs";
    let folder = folder_with(&[&IMPORTED[..], &["tests/documentation/office_login.mjs"]].concat());
    let pictures = env::var("TEST_PICTURES").unwrap_or_default();
    let arguments = [script, &demo.origin(""), &demo.base(), KEY, &issuer, &pictures];
    printed(script, node(folder.path()).args(arguments));
    let log = demo.log();
    let is_expected = |line: &str| line.contains("a login at the desk failed: ") || line.contains(&issuer);
    assert!(log.lines().all(is_expected), "{log}");
}

#[test]
fn the_map_ignores_responses_of_others_and_marks_what_it_shows_from_its_cache() {
    play(Demo::start(), "worker.mjs");
}

#[test]
fn two_districts_and_the_province_work_at_the_desk_in_one_night() {
    let entry = |name: &str, areas: &str| {
        let sha256 = KeyDigest::new(name).to_hex();
        format!(r#"{{name="{name}",sha256="{sha256}",scopes=["floods:write","reports:moderate"]{areas}}}"#)
    };
    let city = |name: &str| format!(r#",areas={{city_name=["{name}"]}}"#);
    let root = format!(r#"{{name="root",sha256="{}",scopes=["admin"]}}"#, KeyDigest::new("root").to_hex());
    let keys = [root, entry("selatan", &city("Jakarta Selatan")), entry("pusat", &city("Jakarta Pusat"))];
    let demo = Demo::with_keys(&format!("[{}]", keys.join(",")));
    run_with(&demo, "desk_areas.mjs", "root");
    demo.end();
}

#[test]
fn officers_withdraw_undo_and_discard_changes_at_the_desk() {
    play(Demo::start(), "desk_batches.mjs");
}

#[test]
fn residents_choose_areas_are_told_and_end_it_and_an_independent_library_reads_the_messages() {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/demo");
    let demo = Demo::with_own_key(&[
        ("SIAGA_DATASET", data),
        ("SIAGA_MAP__BASEMAP__ATTRIBUTION", "made up"),
        ("SIAGA_PUSH__ENABLED", "true"),
        ("SIAGA_PUSH__SERVICES", r#"["127.0.0.1"]"#),
        ("SIAGA_PUSH__PRIVATE", "true"),
    ]);
    run_with(&demo, "push.mjs", KEY);
    demo.end();
}

#[test]
fn the_statements_of_the_live_map_match_the_table_for_each_clock_and_connection() {
    play(Demo::start(), "statements.mjs");
}
