//! Shell blocks. The blocks of a page form one session, as for its reader.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use siaga::folder::FolderWriter;
use sqlx::{Connection, Executor, PgConnection};
use tempfile::TempDir;

use crate::blocks::{Block, blocks, blocks_on};
use crate::demo::Demo;
use crate::fixture::{self, block_on};
use crate::postgres::Database;
use crate::programs::{cap_check, take_over};
use crate::tools::{printed, program};

/// The program. A server is stopped as soon as it serves.
const SIAGA: &str = r#"#!/bin/sh
set -eu
if [ $# != 0 ]; then exec PROGRAM "$@"; fi
lines=$(mktemp -p .)
PROGRAM >"$lines" &
until grep -q serves "$lines"; do
    kill -0 $!
    sleep 0.1
done
kill $!
wait $!
"#;

/// The only Cargo command of the pages: runs the tested build.
const CARGO: &str = r#"#!/bin/sh
if [ "$*" != "run --release" ]; then exit 1; fi
exec siaga
"#;

/// Puts programs into the `bin` of a folder.
pub(crate) fn put_programs(folder: &Path, programs: &[(&str, String)]) {
    for (name, text) in programs {
        let path = folder.join("bin").join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    }
}

/// A shell in a folder with its programs and a clean environment. A failed response ends it.
pub(crate) fn shell(folder: &Path, session: &str) -> Command {
    fs::write(folder.join(".curlrc"), "fail-with-body\nsilent\nshow-error\n").unwrap();
    let path = format!("{}:{}", folder.join("bin").display(), std::env::var("PATH").unwrap());
    let mut shell = program("sh");
    shell.args(["-eu", "-c", session]).current_dir(folder).env_clear();
    shell.env("PATH", path).env("HOME", folder).env("no_proxy", "127.0.0.1");
    shell
}

/// The folder of a session: the program, a data set, the demo's, a shapefile, an OpenStreetMap extract and a photo.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let dataset = folder.path().join("path/to/folder");
    fs::create_dir_all(&dataset).unwrap();
    fixture::dataset().save(&FolderWriter::create(&dataset).unwrap()).unwrap();
    symlink(concat!(env!("CARGO_MANIFEST_DIR"), "/demo"), folder.path().join("demo")).unwrap();
    image::RgbImage::new(60, 30).save(folder.path().join("photo.jpg")).unwrap();
    // The shapefile has columns and coordinates of its own.
    let mut convert = program("ogr2ogr");
    convert.args(["-t_srs", "EPSG:32748", "-sql"]);
    convert.arg("SELECT area_id AS ID, area_name AS NAME, parent_name AS DISTRICT FROM areas");
    let shapefile = folder.path().join("boundaries.shp");
    printed("ogr2ogr", convert.arg(shapefile).arg(dataset.join("areas.geojson")));
    crate::extract::write(&folder.path().join("city.osm.pbf"));
    fs::create_dir(folder.path().join("bin")).unwrap();
    symlink(take_over(), folder.path().join("bin/siaga-take-over")).unwrap();
    symlink(cap_check(), folder.path().join("bin/cap-check")).unwrap();
    let programs = [("siaga", SIAGA), ("cargo", CARGO)];
    let program = |text: &str| text.replace("PROGRAM", env!("CARGO_BIN_EXE_siaga"));
    put_programs(folder.path(), &programs.map(|(name, text)| (name, program(text))));
    folder
}

struct Surroundings {
    demo: Demo,
    /// The database of the service.
    database: Database,
    /// A CogniCity database.
    cognicity: Database,
}

impl Surroundings {
    async fn start(demo: Demo) -> Self {
        let cognicity = Database::empty().await;
        let mut connection = PgConnection::connect(&cognicity.url()).await.unwrap();
        connection.execute(include_str!("../common/cognicity.sql")).await.unwrap();
        connection.close().await.unwrap();
        Self { demo, database: Database::empty().await, cognicity }
    }
}

/// A block with its gaps filled in.
fn filled(block: &Block, Surroundings { demo, database, cognicity }: &Surroundings) -> String {
    let text = demo
        .fill_in(&block.text)
        .replace("postgres://reader:…@127.0.0.1/cognicity", &cognicity.url())
        .replace("postgres://siaga:…@127.0.0.1:5432/siaga", &database.url())
        .replace("postgres://siaga:…@127.0.0.1/siaga", &database.url())
        .replace("sha256=\"…\"", &format!("sha256=\"{}\"", "0".repeat(64)));
    assert!(!text.contains('…'), "{}:{} has a gap that nothing is known for: {text}", block.page, block.line);
    text
}

/// The JSON block with the output of a shell block, if the page has one.
fn response(block: &Block) -> Option<Block> {
    let next = blocks_on(&block.page).into_iter().find(|next| next.line > block.line)?;
    (next.mark.as_deref() == Some("the response")).then_some(next)
}

/// The file with the actual output for a JSON block.
fn printed_for(response: &Block) -> String {
    format!("response-{}", response.line)
}

/// Asserts that each value of the page is in the response, which may have more members.
fn shows(response: &Block, folder: &Path) {
    let printed = fs::read_to_string(folder.join(printed_for(response))).unwrap();
    let printed = serde_json::Deserializer::from_str(&printed).into_iter::<Value>().last().unwrap().unwrap();
    let shown: serde_json::Map<String, Value> = serde_json::from_str(&response.text).unwrap();
    let is_there = shown.iter().all(|(name, value)| printed.get(name) == Some(value));
    assert!(is_there, "{}:{} shows another response than {printed}", response.page, response.line);
}

/// The blocks as one shell script. Environment files of a service are checked by the program.
fn session(blocks: &[Block], surroundings: &Surroundings) -> String {
    let mut session = String::new();
    for block in blocks {
        let mut text = filled(block, surroundings);
        if text.contains("KEY=$(siaga key create") {
            text += UNTIL_KEY_WORKS;
        }
        writeln!(session, "echo {}:{} >&2", block.page, block.line).unwrap();
        match block.mark.as_deref() {
            Some("environment") => writeln!(session, "(set -a\n{text}siaga check)").unwrap(),
            Some(mark) => panic!("{mark}: {block:?}"),
            None => match response(block) {
                Some(response) => writeln!(session, "{{\n{text}}} >{}", printed_for(&response)).unwrap(),
                None => session.push_str(&text),
            },
        }
    }
    session
}

/// Waits until the service accepts the new key, within a second.
const UNTIL_KEY_WORKS: &str = r#"
curl --retry 20 --retry-delay 1 --retry-all-errors -H "X-Api-Key: $KEY" "$BASE/floods/log" >tries 2>&1
"#;

/// Runs the blocks of a page.
fn run(page: &str, blocks: &[Block]) {
    let folder = folder();
    let file = folder.path().join("siaga.db");
    let on_file = [("SIAGA_STORE", "file"), ("SIAGA_FILE__PATH", file.to_str().unwrap())];
    // Its operator makes a key while the service runs.
    let makes_key = page == "docs/undo.md";
    let demo = if makes_key {
        let mut import = Command::new(env!("CARGO_BIN_EXE_siaga"));
        import.args(["import", "demo"]).current_dir(&folder).env_clear();
        printed("import", import.envs(on_file));
        Demo::on_file(&file)
    } else {
        Demo::start()
    };
    let surroundings = block_on(Surroundings::start(demo));
    let mut session = session(blocks, &surroundings);
    // These pages need a persistent service with reports.
    let has_reports = page == "docs/moderation.md";
    if has_reports {
        session.insert_str(0, "siaga import path/to/folder\n");
    }
    let mut shell = shell(folder.path(), &session);
    shell.env("ROCKET_PORT", "0");
    if has_reports || page == "docs/credentials.md" {
        shell.env("SIAGA_STORE", "postgres").env("DATABASE_URL", surroundings.database.url());
    }
    if makes_key {
        shell.envs(on_file);
    }
    let output = shell.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    // In a pipe the shell itself does not notice.
    assert!(output.status.success() && !error.contains("curl: ("), "{error}");
    blocks.iter().filter_map(response).for_each(|response| shows(&response, folder.path()));
    surroundings.demo.end();
}

#[test]
fn shell_blocks_of_pages_run_as_printed_and_print_the_responses_shown() {
    let mut pages: BTreeMap<String, Vec<Block>> = BTreeMap::new();
    for block in blocks("sh") {
        pages.entry(block.page.clone()).or_default().push(block);
    }
    for page in ["docs/ten-minutes.md", "README.md"] {
        assert_eq!(pages[page].iter().filter_map(response).count(), 1, "{page}");
    }
    for (page, blocks) in pages {
        run(&page, &blocks);
    }
}
