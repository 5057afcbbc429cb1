//! Both persistent stores import and export the same.

use std::fmt::Write as _;

use serde_json::{Value, json};
use siaga::folder::{Dataset, FolderFile, FolderRules};
use siaga::model::Geometry;
use siaga::stores::{Replace, RowCounts};

use crate::fixture::{self, now};
use crate::folders::{
    area, canonical_folder, cards, collection, contents, folder_of, point, posts, report, reports, square,
    states,
};
use crate::operations::before;
use crate::operator::Operator;

fn areas(areas: &[Value]) -> (FolderFile, String) {
    (FolderFile::Areas, collection(areas))
}

type Files = Vec<(FolderFile, String)>;

/// Consecutive imports that change the fixture in every way.
fn changes() -> Vec<(&'static str, Files, Replace)> {
    let city = |x| collection(&[square(json!({ "code": "jbd", "name": "West" }), x, 0.0)]);
    let gauges = |name| collection(&[point(json!({ "gaugeid": "NEW", "gaugenameid": name }), 0.5, 0.5)]);
    let readings = "gaugeid,observed_at,level,alert,label\nNEW,2016-12-01T00:00:00Z,1.5,2,\n\
                    NEW,2016-12-01T00:00:00Z,2.5,2,last\nNEW,2016-12-02T00:00:00Z,3.25,4,\n";
    let readings = (FolderFile::GaugeReadings, readings.to_owned());
    let mut log = String::new();
    for n in 0..20 {
        writeln!(log, "{},{},{},,", [1, 2, 5][n % 3], n % 5, before(1_000 * n as u64)).unwrap();
    }
    let log = states(&log.replace(",0,", ",,"));
    let keyless = report(None, 1, 0.5, 0.5);
    let mut elsewhere = report(Some(22), 1, 0.5, 0.5);
    elsewhere["properties"]["tags"] = json!({ "instance_region_code": "ID-JB", "local_area_id": null });
    let some = [keyless.clone(), report(Some(20), 2, 0.5, 0.5), keyless.clone(), elsewhere];
    let used = "new-card-1,10,\"Ibu, O\",telegram,id,\"{\"\"a\"\": 1.0}\",20\nnew-card-2,11,,,,,\n";
    let mut wide = area(77, 1.0, 0.0);
    wide["properties"]["height"] = json!(1.5);
    let replaced = [wide.clone(), area(5, 2.0, 0.0)];
    let added = [
        ("areas", vec![areas(&[area(6, 7.0, 0.0), area(1, 0.0, 0.0)])]),
        ("a log", vec![log.clone()]),
        ("a log again", vec![log]),
        ("an unknown area", vec![states("99,1,2016-12-01T00:00:00Z,,\n")]),
        ("gauges", vec![(FolderFile::Gauges, gauges("N")), readings]),
        ("a renamed gauge", vec![(FolderFile::Gauges, gauges("M"))]),
        ("reports", vec![reports(&some)]),
        ("reports again", vec![reports(&[keyless.clone(), keyless.clone(), keyless])]),
        ("another report", vec![reports(&[report(Some(1), 1, 0.5, 0.5)])]),
        ("cards", vec![cards(used)]),
        ("a received card", vec![cards("new-card-2,11,,,,,22\n")]),
        ("another card", vec![cards("new-card-3,10,,,,,\n")]),
        ("a report that is taken", vec![cards("new-card-3,30,,,,,20\n")]),
        ("posts", vec![posts("-5,21\n")]),
        ("a post that is taken", vec![posts("-5,23\n")]),
        ("a card's report", vec![posts("-6,20\n")]),
        ("a city", vec![(FolderFile::Cities, city(0.0))]),
        ("a moved city", vec![(FolderFile::Cities, city(3.0))]),
    ];
    let added = added.map(|(name, files)| (name, files, Replace::Nothing));
    let replacing = [
        ("no areas", vec![reports(&[])], Replace::AreasAndLog),
        ("areas in the log", vec![areas(&[wide])], Replace::Areas),
        ("other areas", vec![areas(&replaced)], Replace::AreasAndLog),
        ("other areas again", vec![areas(&replaced)], Replace::AreasAndLog),
    ];
    added.into_iter().chain(replacing).collect()
}

#[rocket::async_test]
async fn each_folder_is_imported_and_exported_alike_by_each_store() {
    let [postgres, file] = Operator::each_with_fixture().await;
    for (name, files, replace) in changes() {
        let folder = folder_of(&files);
        let expected = postgres.import_replacing(folder.path(), replace).await;
        assert_eq!(file.import_replacing(folder.path(), replace).await, expected, "{name}");
        let (of_file, of_postgres) = (file.export().await, postgres.export().await);
        let (of_file, of_postgres) = (contents(of_file.path()), contents(of_postgres.path()));
        for (name_of_file, content) in of_postgres {
            assert_eq!(of_file[name_of_file], content, "{name}: {name_of_file}");
        }
    }
}

#[rocket::async_test]
async fn imported_data_is_exported_byte_for_byte_and_a_second_import_changes_nothing() {
    for dataset in [fixture::dataset(), Dataset::load("demo", &FolderRules::default(), now()).unwrap()] {
        let folder = canonical_folder(dataset);
        for operator in Operator::each_empty().await {
            operator.import(folder.path()).await.unwrap();
            let first = operator.snapshot().await;
            for (file, content) in contents(folder.path()) {
                assert!(first.files[file] == content, "{file} differs");
            }
            let exported = operator.export().await;
            for again in [&folder, &exported] {
                let imported = operator.import(again.path()).await.unwrap();
                assert!(imported.files.values().all(|rows| rows.skipped() == rows.read), "{imported:?}");
                assert!(operator.snapshot().await == first);
            }
        }
    }
}

#[rocket::async_test]
async fn infrastructure_is_replaced_by_identifier_else_by_content() {
    let pump = |id: Option<&str>, x| point(json!({ "type": "pumps", "name": "Pump", "id": id }), x, 0.5);
    let rows = |read, added, replaced| RowCounts { read, added, replaced };
    let operators = Operator::each_with_fixture().await;
    let mut hash = None;
    for (name, pieces, counted, expected) in [
        ("two without", vec![pump(None, 0.5); 2], rows(2, 2, 0), &[("HASH", 0.5), ("HASH-2", 0.5)][..]),
        ("one gets an identifier", vec![pump(Some("A"), 0.5)], rows(1, 0, 1), &[("A", 0.5), ("HASH-2", 0.5)]),
        ("it has none again", vec![pump(None, 0.5); 2], rows(2, 0, 0), &[("A", 0.5), ("HASH-2", 0.5)]),
        ("it moves", vec![pump(Some("A"), 1.5)], rows(1, 0, 1), &[("A", 1.5), ("HASH-2", 0.5)]),
        (
            "another comes where it was",
            vec![pump(Some("B"), 0.5), pump(Some("C"), 0.5)],
            rows(2, 1, 1),
            &[("A", 1.5), ("B", 0.5), ("C", 0.5)],
        ),
    ] {
        for operator in &operators {
            let imported =
                operator.import_files(&[(FolderFile::Infrastructure, collection(&pieces))]).await.unwrap();
            assert_eq!(imported.files[&FolderFile::Infrastructure], counted, "{name}");
            let store = operator.store().await;
            let places = store.places().await.unwrap().value;
            store.close().await;
            let pumps = places.infrastructure().iter().filter(|piece| piece.name == "Pump");
            let pumps: Vec<_> =
                pumps.map(|piece| (piece.id.clone(), format!("{:?}", piece.geometry()))).collect();
            let own = hash.get_or_insert_with(|| pumps[0].0.clone());
            let at = |x| format!("{:?}", Geometry::Point(fixture::place(x, 0.5).coord()));
            let expected = expected.iter().map(|(id, x)| (id.replace("HASH", own), at(*x)));
            assert_eq!(pumps, expected.collect::<Vec<_>>(), "{name}");
        }
    }
}
