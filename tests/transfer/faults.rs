//! Faulty rows change nothing. Their messages are tested in `tests/folders/faults.rs`.

use serde_json::{Value, json};
use siaga::folder::FolderFile;

use crate::fixture;
use crate::folders::{area, cards, point, posts, report, reports, square, states};
use crate::operations::before;
use crate::operator::Operator;

/// Rows per file of a large folder: more than one database batch.
const MANY: u64 = 2_500;

/// Valid rows for each file that change a store with the fixture.
fn many(file: FolderFile) -> Vec<String> {
    let features = |count: u64, row: &dyn Fn(u64) -> Value| (0..count).map(|n| row(n).to_string()).collect();
    let rows = |row: &dyn Fn(u64) -> String| (0..MANY).map(row).collect();
    match file {
        FolderFile::Areas => features(MANY, &|n| area(n, 10.0 + n as f64, 0.0)),
        FolderFile::Regions => {
            features(20, &|n| square(json!({ "code": format!("ID-{n}"), "name": "New" }), 40.0, n as f64))
        }
        FolderFile::Cities => {
            features(20, &|n| square(json!({ "code": format!("city-{n}"), "name": "New" }), 30.0, n as f64))
        }
        FolderFile::Infrastructure => {
            features(MANY, &|n| point(json!({ "type": "pumps", "name": format!("Pompa {n}") }), 0.5, 0.5))
        }
        FolderFile::Gauges => features(MANY, &|n| {
            point(json!({ "gaugeid": format!("TMA{n:05}"), "gaugenameid": "Pos" }), 0.5, 0.5)
        }),
        FolderFile::GaugeReadings => rows(&|n| format!("TMA00001,{},{n}.5,3,\n", before(n))),
        FolderFile::FloodStates => rows(&|n| format!("5,{},{},,\n", n % 4 + 1, before(n))),
        FolderFile::ErasedReports => {
            rows(&|n| format!("{},{},grasp,flood,false,ID-JK,jbd,false,{n:064}\n", 800_000 + n, before(n)))
        }
        FolderFile::HiddenReports => features(MANY, &|n| report(Some(700_000 + n), 10_000 + n, 0.5, 0.5)),
        FolderFile::ModerationLog => {
            rows(&|n| format!("{},hide,{},{},import,,spam\n", before(n), 700_000 + n, before(10_000 + n)))
        }
        FolderFile::Reports => features(MANY, &|n| report((n % 2 == 0).then_some(1_000 + n), n, 0.5, 0.5)),
        FolderFile::Cards => rows(&|n| format!("new-card-{n},{},,,,,\n", 1_000 + n)),
        FolderFile::PartnerPosts => {
            rows(&|n| format!("{n},{}\n", 1_000 + 2 * n)).into_iter().take(1_000).collect()
        }
        other => panic!("no rows of {other}"),
    }
}

fn file_of(file: FolderFile, rows: &[String]) -> (FolderFile, String) {
    let header = match file {
        FolderFile::GaugeReadings => "gaugeid,observed_at,level,alert,label\n",
        FolderFile::ErasedReports => {
            "pkey,created_at,source,disaster_type,is_training,instance_region_code,city,hidden,digest\n"
        }
        FolderFile::ModerationLog => "at,action,report,made_at,subject,username,reason\n",
        FolderFile::FloodStates => return states(&rows.concat()),
        FolderFile::Cards => return cards(&rows.concat()),
        FolderFile::PartnerPosts => return posts(&rows.concat()),
        _ => {
            let features = rows.join(",\n");
            return (file, format!("{{\"type\":\"FeatureCollection\",\"features\":[\n{features}\n]}}\n"));
        }
    };
    (file, format!("{header}{}", rows.concat()))
}

#[rocket::async_test]
async fn a_broken_row_late_in_any_file_changes_nothing() {
    let sound = FolderFile::ALL.map(|file| file_of(file, &many(file)));
    for operator in Operator::each_with_fixture().await {
        let before = operator.snapshot().await;
        for broken in FolderFile::ALL {
            let wrong = if broken.name().ends_with("csv") { "x\n" } else { r#"{"type":"Feature"}"# };
            let rows = [many(broken), vec![wrong.to_owned()]].concat();
            let files = sound.iter().map(|(file, content)| {
                if *file == broken { file_of(broken, &rows) } else { (*file, content.clone()) }
            });
            let error = operator.import_files(&files.collect::<Vec<_>>()).await.unwrap_err();
            assert!(error.starts_with(&format!("{broken}, line {}: ", rows.len() + 1)), "{error}");
            assert!(operator.snapshot().await == before, "{broken}");
        }
        operator.add(&sound).await;
        let after = operator.snapshot().await;
        for (file, content) in &before.files {
            assert!(after.files[file] != *content, "{file} would have changed");
        }
    }
}

#[rocket::async_test]
async fn a_row_that_contradicts_the_store_or_another_row_is_reported_and_changes_nothing() {
    let new = || report(Some(20), 1, 0.5, 0.5);
    let known = &fixture::reports()[0].content;
    let mut moved = report(Some(1), 0, 0.6, 0.5);
    moved["properties"]["created_at"] = json!(known.created_at.to_string());
    for operator in Operator::each_with_fixture().await {
        let before = operator.snapshot().await;
        for (file, fault) in [
            (states("2,3,2016-12-19T16:00:00Z,,\n99,1,2016-12-19T16:00:00Z,,\n"), "3: area_id 99 is no"),
            (
                states("2,3,2016-12-19T16:08:53Z,,\n"),
                "2: changed_at must not be after now, 2016-12-19T16:08:52",
            ),
            (reports(&[new(), report(Some(1), 1, 0.5, 0.5)]), "3: pkey 1 is that of another"),
            (reports(&[new(), moved.clone()]), "3: pkey 1 is that of another"),
            (cards("new-card-1,10,,,,,20\nnew-card-2,11,,,,,99\n"), "3: report 99 is not the report of"),
            (cards("new-card-1,10,,,,,1\n"), "2: report 1 is not the report of"),
            (cards("new-card-1,10,,,,,4\n"), "2: report 4 is not the report of"),
            (cards("used-card,2,,,,,20\n"), "2: report 20 is not the report of"),
            (cards("used-card,2,,,,,\nother-card,2,,,,,\n"), "3: pkey is that of line 2 already"),
            (cards("other-card,2,,,,,\n"), "2: pkey 2 is that of another card"),
            (posts("1,20\n2,99\n"), "3: pkey 99 is not the report of"),
            (posts("1,1\n"), "2: pkey 1 is not the report of"),
            (posts("1,4\n"), "2: pkey 4 is not the report of"),
            (posts("4711,20\n"), "2: pkey 20 is not the report of"),
        ] {
            let expected = format!("{}, line {fault}", file.0);
            let files =
                if file.0 == FolderFile::Reports { vec![file] } else { vec![reports(&[new()]), file] };
            let error = operator.import_files(&files).await.unwrap_err();
            assert!(error.starts_with(&expected), "{expected}: {error}");
            assert_eq!(operator.snapshot().await, before, "{expected}");
        }
        let two = cards("new-card-1,10,,,,,20\nnew-card-2,11,,,,,20\n");
        let error = operator.import_files(&[reports(&[new()]), two]).await.unwrap_err();
        assert!(error.contains("report 20 is not the report of"), "of two cards: {error}");
        assert_eq!(operator.snapshot().await, before);
    }
}
