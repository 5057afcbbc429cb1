//! What pages have for the shell. The blocks of a page are one session, as they are for who follows it.

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
use crate::take_over::take_over;
use crate::tools::{printed, program};

/// The program. A server is ended as soon as it serves.
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

/// The one command of Cargo's that pages have: it runs what was built for the test.
const CARGO: &str = r#"#!/bin/sh
if [ "$*" != "run --release" ]; then exit 1; fi
exec siaga
"#;

/// An answer that is a failure ends the session.
const CURLRC: &str = "fail-with-body\nsilent\nshow-error\n";

/// Makes the shapefile of a reader, with columns and coordinates of its own.
fn shapefile(file: &Path, areas: &Path) {
    let mut convert = program("ogr2ogr");
    convert.args(["-t_srs", "EPSG:32748", "-sql"]);
    convert.arg("SELECT area_id AS ID, area_name AS NAME, parent_name AS DISTRICT FROM areas");
    printed("ogr2ogr", convert.arg(file).arg(areas));
}

/// An extract of OpenStreetMap.
const EXTRACT: &str = r#"<?xml version="1.0" encoding="UTF-8"?><osm version="0.6">
<node id="1" lat="-6.18" lon="106.80" version="1"/><node id="2" lat="-6.18" lon="106.82" version="1"/>
<node id="3" lat="-6.17" lon="106.81" version="1"><tag k="place" v="suburb"/><tag k="name" v="Grogol"/></node>
<way id="1" version="1"><nd ref="1"/><nd ref="2"/><tag k="highway" v="residential"/><tag k="name" v="Jalan Mawar"/></way>
<way id="2" version="1"><nd ref="1"/><nd ref="3"/><tag k="railway" v="rail"/></way>
<way id="3" version="1"><nd ref="1"/><nd ref="2"/><nd ref="3"/><nd ref="1"/><tag k="leisure" v="park"/></way>
</osm>
"#;

/// Where the session of a page begins: with the program, a data set, the demo's, a shapefile, an extract of OpenStreetMap and a photo.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let dataset = folder.path().join("path/to/folder");
    fs::create_dir_all(&dataset).unwrap();
    fixture::dataset().save(&FolderWriter::create(&dataset).unwrap()).unwrap();
    symlink(concat!(env!("CARGO_MANIFEST_DIR"), "/demo"), folder.path().join("demo")).unwrap();
    image::RgbImage::new(60, 30).save(folder.path().join("photo.jpg")).unwrap();
    shapefile(&folder.path().join("boundaries.shp"), &dataset.join("areas.geojson"));
    fs::write(folder.path().join("city.osm.pbf"), EXTRACT).unwrap();
    fs::write(folder.path().join(".curlrc"), CURLRC).unwrap();
    fs::create_dir(folder.path().join("bin")).unwrap();
    symlink(take_over(), folder.path().join("bin/siaga-take-over")).unwrap();
    for (name, text) in [("siaga", SIAGA), ("cargo", CARGO)] {
        let path = folder.path().join("bin").join(name);
        fs::write(&path, text.replace("PROGRAM", env!("CARGO_BIN_EXE_siaga"))).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    }
    folder
}

/// What the blocks of a page use.
struct Surroundings {
    demo: Demo,
    /// The database of the service.
    database: Database,
    /// That of a CogniCity.
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

/// The text of a block with what its reader puts into its gaps.
fn filled(block: &Block, Surroundings { demo, database, cognicity }: &Surroundings) -> String {
    let text = demo
        .put_into(&block.text)
        .replace("postgres://reader:…@127.0.0.1/cognicity", &cognicity.url())
        .replace("postgres://siaga:…@127.0.0.1:5432/siaga", &database.url())
        .replace("postgres://siaga:…@127.0.0.1/siaga", &database.url())
        .replace("sha256=\"…\"", &format!("sha256=\"{}\"", "0".repeat(64)));
    assert!(!text.contains('…'), "{}:{} has a gap that nothing is known for: {text}", block.page, block.line);
    text
}

/// What marks a block of JSON as what the block for the shell before it prints at its end.
const RESPONSE: &str = "the response";

/// The block with what a block for the shell prints, if the page has it.
fn response(block: &Block) -> Option<Block> {
    let next = blocks_on(&block.page).into_iter().find(|next| next.line > block.line)?;
    (next.mark.as_deref() == Some(RESPONSE)).then_some(next)
}

/// The file with what was printed in place of a block of JSON.
fn printed_for(response: &Block) -> String {
    format!("response-{}", response.line)
}

/// Makes sure that each value that a page shows is in the response, which may have more members.
fn shows(response: &Block, folder: &Path) {
    let printed = fs::read_to_string(folder.join(printed_for(response))).unwrap();
    let printed = serde_json::Deserializer::from_str(&printed).into_iter::<Value>().last().unwrap().unwrap();
    let shown: Value = serde_json::from_str(&response.text).unwrap();
    let are_in = |shown: &Value, printed: &Value| match (shown, printed) {
        (Value::Object(shown), Value::Object(printed)) => {
            shown.iter().all(|(name, value)| printed.get(name) == Some(value))
        }
        (shown, printed) => shown == printed,
    };
    assert!(
        are_in(&shown, &printed),
        "{}:{} shows another response than {printed}",
        response.page,
        response.line
    );
}

/// The blocks as one text for the shell. Of a file with the environment of a service the program says whether it takes it.
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

/// A service that keeps the data of the demo in a file.
fn serving(file: &Path, folder: &Path) -> Demo {
    let mut import = Command::new(env!("CARGO_BIN_EXE_siaga"));
    import.args(["import", "demo"]).current_dir(folder).env_clear();
    printed("import", import.env("SIAGA_STORE", "file").env("SIAGA_FILE__PATH", file));
    Demo::on_file(file)
}

/// Waits until the service accepts the key that was made, which it does within a second.
const UNTIL_KEY_WORKS: &str = r#"
curl --retry 20 --retry-delay 1 --retry-all-errors -H "X-Api-Key: $KEY" "$BASE/floods/log" >tries 2>&1
"#;

/// Runs the blocks of a page.
fn run(page: &str, blocks: &[Block]) {
    let folder = folder();
    let file = folder.path().join("siaga.db");
    // Its operator makes a key while the service runs.
    let makes_key = page == "docs/undo.md";
    let demo = if makes_key { serving(&file, folder.path()) } else { Demo::start() };
    let surroundings = block_on(Surroundings::start(demo));
    let mut session = session(blocks, &surroundings);
    // They speak of a service that keeps its data, and of reports in it.
    let has_reports = page == "docs/moderation.md";
    let keeps_data = has_reports || page == "docs/credentials.md";
    if has_reports {
        session.insert_str(0, "siaga import path/to/folder\n");
    }
    let path = std::env::var("PATH").unwrap();
    let mut shell = program("sh");
    shell
        .current_dir(&folder)
        .env_clear()
        .env("PATH", format!("{}:{path}", folder.path().join("bin").display()))
        .env("HOME", folder.path())
        .env("ROCKET_PORT", "0");
    if keeps_data {
        shell.env("SIAGA_STORE", "postgres").env("DATABASE_URL", surroundings.database.url());
    }
    if makes_key {
        shell.env("SIAGA_STORE", "file").env("SIAGA_FILE__PATH", file);
    }
    let output = shell.args(["-eu", "-c", &session]).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    // In a pipe the shell itself does not notice.
    assert!(output.status.success() && !error.contains("curl: ("), "{error}");
    blocks.iter().filter_map(response).for_each(|response| shows(&response, folder.path()));
    surroundings.demo.end();
}

#[test]
fn what_pages_have_for_the_shell_runs_as_it_is_printed() {
    let mut pages: BTreeMap<String, Vec<Block>> = BTreeMap::new();
    for block in blocks("sh") {
        pages.entry(block.page.clone()).or_default().push(block);
    }
    assert!(pages.len() > 5, "{pages:?}");
    for (page, blocks) in pages {
        run(&page, &blocks);
    }
}

#[test]
fn the_tutorial_and_the_readme_show_what_the_demo_answers() {
    let shown =
        |page: &str| blocks("sh").iter().filter(|block| block.page == page).filter_map(response).count();
    assert_eq!((shown("docs/ten-minutes.md"), shown("README.md")), (1, 1));
}

#[test]
fn an_answer_that_is_a_failure_is_noticed() {
    let (demo, folder) = (Demo::start(), folder());
    let mut curl = program("curl");
    curl.arg(demo.address("floods?minimum_state=9")).env("HOME", folder.path());
    let output = curl.output().unwrap();
    assert_eq!(output.status.code(), Some(22), "{output:?}");
}
