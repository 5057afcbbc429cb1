//! The store in one file and the one in `PostgreSQL` import and export the same.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};
use siaga::folder::{Dataset, Folder, FolderFile, FolderRules, FolderWriter};
use siaga::model::Geometry;
use siaga::stores::file::OpenFile;
use siaga::stores::{Imported, OpenStore, Replace, Rows};
use tempfile::TempDir;

use crate::asking::before;
use crate::fixture::{self, block_on, now};
use crate::folders::{
    area, cards, collection, contents, folder_of, point, posts, report, reports, saved, square, states,
};
use crate::operator::Operator;
use crate::store_file::StoreFile;

/// Imports a folder into a file; an error names the folder's files without the path.
pub(crate) async fn import(file: &StoreFile, folder: &Path, replace: Replace) -> Result<Imported, String> {
    let settings = file.settings();
    let opened = Folder::open(folder).unwrap().by(settings.rules.clone());
    let imported = OpenFile.upkeep().unwrap().import(&settings, &opened, replace).await;
    imported.map_err(|error| error.to_string().replace(&format!("{}/", folder.display()), ""))
}

pub(crate) async fn export(file: &StoreFile) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let writer = FolderWriter::create(folder.path()).unwrap();
    OpenFile.upkeep().unwrap().export(&file.settings(), writer).await.unwrap();
    folder
}

fn infrastructure(pieces: &[Value]) -> TempDir {
    folder_of(&[(FolderFile::Infrastructure, collection(pieces))])
}

/// Folders that change the fixture in every way, one after the other.
fn folders() -> Vec<(&'static str, TempDir, Replace)> {
    let square_city = |name: &str, x| collection(&[square(json!({ "code": "jbd", "name": name }), x, 0.0)]);
    let gauges =
        |name: &str| collection(&[point(json!({ "gaugeid": "NEW", "gaugenameid": name }), 0.5, 0.5)]);
    let readings = "gaugeid,observed_at,level,alert,label\nNEW,2016-12-01T00:00:00Z,1.5,2,\n\
                    NEW,2016-12-01T00:00:00Z,2.5,2,last\nNEW,2016-12-02T00:00:00Z,3.25,4,\n";
    let mut log = String::new();
    for n in 0..20 {
        writeln!(log, "{},{},{},,", [1, 2, 5][n % 3], n % 5, before(1_000 * n as u64)).unwrap();
    }
    let log = log.replace(",0,", ",,");
    let pump = point(json!({ "type": "pumps", "name": "Pump" }), 0.5, 0.5);
    let called = |id, x| point(json!({ "type": "pumps", "name": "Pump", "id": id }), x, 0.5);
    let elsewhere = {
        let mut report = report(Some(22), 1, 0.5, 0.5);
        report["properties"]["tags"] = json!({ "instance_region_code": "ID-JB", "local_area_id": null });
        report
    };
    let mut wide = area(77, 1.0, 0.0);
    wide["properties"]["height"] = json!(1.5);
    let nothing = Replace::Nothing;
    vec![
        (
            "areas",
            folder_of(&[(FolderFile::Areas, collection(&[area(6, 7.0, 0.0), area(1, 0.0, 0.0)]))]),
            nothing,
        ),
        ("a log", folder_of(&[states(&log)]), nothing),
        ("a log again", folder_of(&[states(&log)]), nothing),
        ("an unknown area", folder_of(&[states("99,1,2016-12-01T00:00:00Z,,\n")]), nothing),
        (
            "gauges",
            folder_of(&[(FolderFile::Gauges, gauges("N")), (FolderFile::GaugeReadings, readings.to_owned())]),
            nothing,
        ),
        ("a renamed gauge", folder_of(&[(FolderFile::Gauges, gauges("M"))]), nothing),
        ("pumps", infrastructure(&[pump.clone(), pump.clone()]), nothing),
        ("more pumps", infrastructure(&[pump.clone(), pump.clone(), pump.clone()]), nothing),
        ("pumps with identifiers", infrastructure(&[called("A", 0.5), called("B", 0.5)]), nothing),
        ("pumps without identifiers again", infrastructure(&[pump.clone(), pump.clone(), pump]), nothing),
        ("a moved pump", infrastructure(&[called("B", 1.5), called("C", 1.5)]), nothing),
        (
            "reports",
            folder_of(&[reports(&[
                report(None, 1, 0.5, 0.5),
                report(Some(20), 2, 0.5, 0.5),
                report(None, 1, 0.5, 0.5),
                elsewhere,
            ])]),
            nothing,
        ),
        (
            "reports again",
            folder_of(&[reports(&[
                report(None, 1, 0.5, 0.5),
                report(None, 1, 0.5, 0.5),
                report(None, 1, 0.5, 0.5),
            ])]),
            nothing,
        ),
        ("another report", folder_of(&[reports(&[report(Some(1), 1, 0.5, 0.5)])]), nothing),
        (
            "cards",
            folder_of(&[cards(
                "new-card-1,10,\"Ibu, O\",telegram,id,\"{\"\"a\"\": 1.0}\",20\nnew-card-2,11,,,,,\n",
            )]),
            nothing,
        ),
        ("a received card", folder_of(&[cards("new-card-2,11,,,,,22\n")]), nothing),
        ("another card", folder_of(&[cards("new-card-3,10,,,,,\n")]), nothing),
        ("a report that is taken", folder_of(&[cards("new-card-3,30,,,,,20\n")]), nothing),
        ("posts", folder_of(&[posts("-5,21\n")]), nothing),
        ("a post that is taken", folder_of(&[posts("-5,23\n")]), nothing),
        ("a card's report", folder_of(&[posts("-6,20\n")]), nothing),
        ("a city", folder_of(&[(FolderFile::Cities, square_city("West", 0.0))]), nothing),
        ("a moved city", folder_of(&[(FolderFile::Cities, square_city("West", 3.0))]), nothing),
        ("no areas", folder_of(&[reports(&[])]), Replace::AreasAndLog),
        ("areas in the log", folder_of(&[(FolderFile::Areas, collection(&[wide.clone()]))]), Replace::Areas),
        (
            "other areas",
            folder_of(&[(FolderFile::Areas, collection(&[wide.clone(), area(5, 2.0, 0.0)]))]),
            Replace::AreasAndLog,
        ),
        (
            "other areas again",
            folder_of(&[(FolderFile::Areas, collection(&[wide, area(5, 2.0, 0.0)]))]),
            Replace::AreasAndLog,
        ),
    ]
}

#[test]
fn each_folder_is_imported_and_exported_as_by_postgres() {
    block_on(async {
        let operator = Operator::with_fixture().await;
        let file = StoreFile::with_fixture().await;
        for (name, folder, replace) in folders() {
            let expected = operator.import_replacing(folder.path(), replace).await;
            let imported = import(&file, folder.path(), replace).await;
            assert_eq!(imported, expected, "{name}");
            let (of_file, of_postgres) = (export(&file).await, operator.export().await);
            for (name_of_file, content) in contents(of_postgres.path()) {
                assert_eq!(contents(of_file.path())[name_of_file], content, "{name}: {name_of_file}");
            }
        }
    });
}

#[test]
fn data_passes_through_all_stores_without_a_changed_byte() {
    block_on(async {
        let first = saved(fixture::dataset());
        let file = StoreFile::none();
        import(&file, first.path(), Replace::Nothing).await.unwrap();
        let of_file = export(&file).await;
        let operator = Operator::of(crate::database::Database::empty().await);
        operator.import(of_file.path()).await.unwrap();
        let of_postgres = operator.export().await;
        let rules = FolderRules::default();
        let in_memory = Dataset::load(of_postgres.path().to_str().unwrap(), &rules, now()).unwrap();
        let of_memory = tempfile::tempdir().unwrap();
        in_memory.save(&FolderWriter::create(of_memory.path()).unwrap()).unwrap();
        for folder in [&of_file, &of_postgres, &of_memory] {
            assert_eq!(contents(folder.path()), contents(first.path()));
        }
    });
}

#[test]
fn a_folder_that_is_stored_already_changes_nothing() {
    block_on(async {
        let file = StoreFile::with_fixture().await;
        let before = std::fs::read(file.path()).unwrap();
        let folder = saved(fixture::dataset());
        let imported = import(&file, folder.path(), Replace::Nothing).await.unwrap();
        assert!(imported.files.values().all(|rows| rows.skipped() == rows.read), "{imported:?}");
        let store = OpenFile.open(&file.settings()).await.unwrap().store;
        store.close().await;
        assert!(std::fs::read(file.path()).unwrap() == before);
    });
}

/// The identifiers of the pumps named "Pump", and where each is, in the order of the list.
async fn pumps(file: &StoreFile) -> Vec<(String, f64)> {
    let store = OpenFile.open(&file.settings()).await.unwrap().store;
    let places = store.places().await.unwrap().value;
    let pumps = places.infrastructure().iter().filter(|piece| piece.name == "Pump");
    let pumps = pumps.map(|piece| match piece.geometry() {
        Geometry::Point(at) => (piece.id.clone(), at.x),
        other => panic!("{other:?}"),
    });
    let pumps = pumps.collect();
    store.close().await;
    pumps
}

#[test]
fn infrastructure_is_replaced_by_its_identifier_else_by_what_it_is() {
    block_on(async {
        let pump = |id: Option<&str>, x| {
            let mut pump = point(json!({ "type": "pumps", "name": "Pump" }), x, 0.5);
            pump["id"] = json!(id);
            pump
        };
        let place = |x| fixture::place(x, 0.5).coord().x;
        let file = StoreFile::with_fixture().await;
        let mut stored = Vec::new();
        let rows = |read, added, replaced| Rows { read, added, replaced };
        let hash = |pumps: &[(String, f64)]| pumps[0].0.clone();
        for (name, pieces, counted) in [
            ("two without", vec![pump(None, 0.5), pump(None, 0.5)], rows(2, 2, 0)),
            ("one gets an identifier", vec![pump(Some("A"), 0.5)], rows(1, 0, 1)),
            ("it has none again", vec![pump(None, 0.5), pump(None, 0.5)], rows(2, 0, 0)),
            ("it moves", vec![pump(Some("A"), 1.5)], rows(1, 0, 1)),
            ("another comes where it was", vec![pump(Some("B"), 0.5), pump(Some("C"), 0.5)], rows(2, 1, 1)),
        ] {
            let folder = infrastructure(&pieces);
            let imported = import(&file, folder.path(), Replace::Nothing).await.unwrap();
            assert_eq!(imported.files[&FolderFile::Infrastructure], counted, "{name}");
            stored.push(pumps(&file).await);
        }
        let own = hash(&stored[0]);
        let expected = |pumps: &[(&str, f64)]| -> Vec<_> {
            pumps.iter().map(|(id, x)| (id.replace("HASH", &own), place(*x))).collect()
        };
        assert_eq!(own.len(), 16);
        assert_eq!(
            stored,
            [
                expected(&[("HASH", 0.5), ("HASH-2", 0.5)]),
                expected(&[("A", 0.5), ("HASH-2", 0.5)]),
                expected(&[("A", 0.5), ("HASH-2", 0.5)]),
                expected(&[("A", 1.5), ("HASH-2", 0.5)]),
                expected(&[("A", 1.5), ("B", 0.5), ("C", 0.5)]),
            ]
        );
    });
}
