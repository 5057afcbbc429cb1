//! The OpenAPI document with third-party programs: a linter, schemathesis, client generators, map
//! libraries, and d3.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use geo::Area as _;
use serde_json::{Value, json};
use siaga::folder::{Dataset, FolderRules};
use siaga::model::{Clock, SystemClock};
use tempfile::TempDir;

use crate::demo::Demo;
use crate::tools::{folder_with, node, printed, python};

/// A folder with the OpenAPI document and these files.
fn described(demo: &Demo, files: &[&str]) -> TempDir {
    let folder = folder_with(files);
    fs::write(folder.path().join("openapi.json"), demo.body("/openapi.json")).unwrap();
    folder
}

fn package(folder: &TempDir, program: &str) -> Command {
    let mut node = node(folder.path());
    node.arg(format!("node_modules/{program}"));
    node
}

#[test]
fn redocly_finds_no_fault_by_its_recommended_rules() {
    let demo = Demo::start();
    let folder = described(&demo, &[]);
    let mut redocly = package(&folder, "@redocly/cli/bin/cli.js");
    redocly.args(["lint", "openapi.json", "--extends=recommended", "--format=json"]);
    redocly.env("REDOCLY_TELEMETRY", "off").env("REDOCLY_SUPPRESS_UPDATE_NOTICE", "true");
    let report = printed("redocly", &mut redocly);
    let report: Value = serde_json::from_str(&report[report.find('{').unwrap()..]).unwrap();
    assert_eq!(report["problems"], json!([]));
    demo.end();
}

#[test]
fn a_program_with_the_types_of_openapi_typescript_compiles_and_calls_the_service() {
    let demo = Demo::start();
    let folder = described(&demo, &["tests/slow/clients/client.ts", "tests/slow/clients/tsconfig.json"]);
    fs::write(folder.path().join("package.json"), r#"{"type":"module"}"#).unwrap();
    let generate = ["openapi.json", "--output", "siaga.d.ts"];
    printed("openapi-typescript", package(&folder, "openapi-typescript/bin/cli.js").args(generate));
    printed("tsc", &mut package(&folder, "typescript/bin/tsc"));
    printed("client.ts", node(folder.path()).args(["client.js", &demo.base(), demo.key()]));
    demo.end();
}

/// Generates a client with openapi-generator into a folder.
fn openapi_generator(folder: &TempDir, generator: &str, output: &str) {
    const RUN: &str = "from openapi_generator_cli import cli; raise SystemExit(cli())";
    let mut generate = python();
    generate.current_dir(folder).args(["-c", RUN, "generate", "-i", "openapi.json"]);
    generate.args(["-g", generator, "-o", output, "--additional-properties=packageName=siaga"]);
    printed(generator, &mut generate);
}

#[test]
fn the_client_of_openapi_generator_in_python_decodes_both_formats_of_the_map_and_one_in_java_is_generated() {
    let demo = Demo::start();
    let folder = described(&demo, &["tests/slow/clients/generated.py"]);
    openapi_generator(&folder, "python", ".");
    printed("generated.py", python().current_dir(&folder).args(["generated.py", &demo.base()]));
    openapi_generator(&folder, "java", "java");
    let source = folder.path().join("java/src/main/java/org/openapitools/client/api/FloodsApi.java");
    assert!(fs::read_to_string(source).unwrap().contains("listFloods("));
    demo.end();
}

#[test]
fn the_client_of_openapi_generator_in_typescript_compiles_strictly_and_decodes_both_formats() {
    let demo = Demo::start();
    let folder = described(&demo, &["tests/slow/clients/generated.ts"]);
    openapi_generator(&folder, "typescript-fetch", "siaga");
    let mut compile = package(&folder, "typescript/bin/tsc");
    compile.args(["--strict", "--target", "es2022", "--lib", "es2022,dom", "--module", "commonjs"]);
    printed("tsc", compile.args(["--types", "node", "generated.ts", "--outDir", "."]));
    printed("generated.ts", node(folder.path()).args(["generated.js", &demo.base()]));
    demo.end();
}

#[test]
fn the_client_of_openapi_python_client_has_every_operation_and_calls_the_service() {
    let demo = Demo::start();
    let folder = described(&demo, &["tests/slow/clients/client.py", "tests/slow/clients/python.yaml"]);
    let mut generate = python();
    generate.current_dir(&folder).args(["-m", "openapi_python_client", "generate", "--fail-on-warning"]);
    generate.args(["--path", "openapi.json", "--config", "python.yaml", "--meta", "none"]);
    printed("openapi-python-client", generate.args(["--output-path", "siaga"]));
    let mut client = python();
    client.current_dir(&folder).args(["client.py", &demo.base(), demo.key()]);
    printed("client.py", &mut client);
    demo.end();
}

#[test]
fn schemathesis_finds_no_undescribed_response_and_no_request_wrongly_accepted_or_rejected() {
    // Streams do not end.
    let demo = Demo::configured(&[("SIAGA_STREAMS__TOTAL", "0")]);
    // It reads its hooks from the working directory and writes its database there.
    let folder =
        folder_with(&["tests/slow/schemathesis/schemathesis.toml", "tests/slow/schemathesis/hooks.py"]);
    let mut schemathesis = python();
    schemathesis
        .current_dir(&folder)
        .args(["-m", "schemathesis.cli", "--config-file", "schemathesis.toml", "run"])
        .arg(demo.origin("/openapi.json"))
        .args(["--header", &format!("X-Api-Key: {}", demo.key()), "--checks", "all"])
        // Enough for thousands of cases in a quarter of a minute, the same in every run.
        .args(["--max-examples", "15", "--generation-deterministic"]);
    let summary = printed("schemathesis", &mut schemathesis);
    let cases =
        summary.lines().find_map(|line| line.split(" generated, ").next()?.trim().parse::<u32>().ok());
    assert!(cases.is_some_and(|cases| cases > 3000), "{summary}");
    demo.end();
}

#[test]
fn openlayers_and_maplibre_read_every_flooded_area_from_geojson() {
    let demo = Demo::start();
    let folder = folder_with(&["tests/slow/map_libraries.mjs", "tests/documentation/chromium.mjs"]);
    let address = demo.address("floods.geojson?minimum_state=1");
    let mut script = node(folder.path());
    script.args(["map_libraries.mjs", &demo.origin("/"), &address]);
    let seen: Value = serde_json::from_str(&printed("map_libraries.mjs", &mut script)).unwrap();
    let flooded = demo.flooded();
    assert_eq!(seen, json!({ "openlayers": flooded, "maplibre": flooded }));
    demo.end();
}

/// On a sphere a ring in the wrong direction encloses nearly everything.
#[test]
fn d3_draws_the_areas_of_the_demo_at_their_true_size() {
    let (demo, folder) = (Demo::start(), folder_with(&["tests/slow/globe.mjs"]));
    let topology = demo.get("floods?geoformat=topojson")["result"].to_string();
    fs::write(folder.path().join("topology.json"), topology).unwrap();
    let drawn = printed("globe.mjs", node(folder.path()).args(["globe.mjs", "topology.json"]));
    let drawn: BTreeMap<String, f64> = serde_json::from_str(&drawn).unwrap();
    let dataset = Dataset::load("demo", &FolderRules::default(), SystemClock.now()).unwrap();
    let areas = dataset.places.areas();
    assert_eq!(drawn.len(), areas.len());
    for area in areas.iter() {
        let drawn = drawn[&area.id.to_string()];
        // The map is small enough for a constant scale.
        let expected = area.outline.unsigned_area() * 1_f64.to_radians().powi(2) * 6.2_f64.to_radians().cos();
        assert!((drawn - expected).abs() < 0.02 * expected + 1e-10, "{}: {drawn}, not {expected}", area.id);
    }
    demo.end();
}
