//! The description of the interface serves tools: a linter, and generators of clients in TypeScript and Python.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::demo::Demo;
use crate::tools::{node, printed, python};

const CLIENTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/slow/clients");

/// A folder with the description in it, and these files.
fn folder(demo: &Demo, files: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("openapi.json"), demo.body("/openapi.json")).unwrap();
    for file in files {
        fs::copy(Path::new(CLIENTS).join(file), folder.path().join(file)).unwrap();
    }
    folder
}

/// A program of a package for Node.
fn package(folder: &TempDir, program: &str) -> Command {
    let mut node = node(folder.path());
    node.arg(format!("node_modules/{program}"));
    node
}

#[test]
fn redocly_finds_no_fault_by_its_recommended_rules() {
    let demo = Demo::start();
    let folder = folder(&demo, &[]);
    let mut redocly = package(&folder, "@redocly/cli/bin/cli.js");
    redocly.args(["lint", "openapi.json", "--extends=recommended", "--format=json"]);
    redocly.env("REDOCLY_TELEMETRY", "off").env("REDOCLY_SUPPRESS_UPDATE_NOTICE", "true");
    let report = printed("redocly", &mut redocly);
    let report: Value = serde_json::from_str(&report[report.find('{').unwrap()..]).unwrap();
    assert_eq!(report["problems"], serde_json::json!([]));
    demo.end();
}

#[test]
fn a_program_with_the_types_of_openapi_typescript_compiles_and_calls_the_service() {
    let demo = Demo::start();
    let folder = folder(&demo, &["client.ts", "tsconfig.json"]);
    fs::write(folder.path().join("package.json"), r#"{"type":"module"}"#).unwrap();
    let generate = ["openapi.json", "--output", "siaga.d.ts"];
    printed("openapi-typescript", package(&folder, "openapi-typescript/bin/cli.js").args(generate));
    printed("tsc", &mut package(&folder, "typescript/bin/tsc"));
    printed("client.ts", node(folder.path()).args(["client.js", &demo.origin("/v1"), demo.key()]));
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
fn the_client_of_openapi_generator_in_python_decodes_both_formats_of_the_map() {
    let demo = Demo::start();
    let folder = folder(&demo, &["generated.py"]);
    openapi_generator(&folder, "python", ".");
    printed("generated.py", python().current_dir(&folder).args(["generated.py", &demo.origin("/v1")]));
    demo.end();
}

#[test]
fn the_client_of_openapi_generator_in_typescript_compiles_strictly_and_decodes_both_formats() {
    let demo = Demo::start();
    let folder = folder(&demo, &["generated.ts"]);
    openapi_generator(&folder, "typescript-fetch", "siaga");
    let mut compile = package(&folder, "typescript/bin/tsc");
    compile.args(["--strict", "--target", "es2022", "--lib", "es2022,dom", "--module", "commonjs"]);
    printed("tsc", compile.args(["--types", "node", "generated.ts", "--outDir", "."]));
    printed("generated.ts", node(folder.path()).args(["generated.js", &demo.origin("/v1")]));
    demo.end();
}

#[test]
fn openapi_generator_generates_a_client_in_java() {
    let demo = Demo::start();
    let folder = folder(&demo, &[]);
    openapi_generator(&folder, "java", "java");
    let source = folder.path().join("java/src/main/java/org/openapitools/client/api/FloodsApi.java");
    assert!(fs::read_to_string(source).unwrap().contains("listFloods("));
    demo.end();
}

#[test]
fn the_client_of_openapi_python_client_has_every_operation_and_calls_the_service() {
    let demo = Demo::start();
    let folder = folder(&demo, &["client.py", "python.yaml"]);
    let mut generate = python();
    generate.current_dir(&folder).args(["-m", "openapi_python_client", "generate", "--fail-on-warning"]);
    generate.args(["--path", "openapi.json", "--config", "python.yaml", "--meta", "none"]);
    printed("openapi-python-client", generate.args(["--output-path", "siaga"]));
    let mut client = python();
    client.current_dir(&folder).args(["client.py", &demo.origin("/v1"), demo.key()]);
    printed("client.py", &mut client);
    demo.end();
}
