//! Rows that are wrong.

use serde_json::{Value, json};
use siaga::folder::FolderFile;

use crate::asking::before;
use crate::fixture::{block_on, now};
use crate::folders::{area, cards, point, posts, report, square, states};
use crate::operator::Operator;

/// How many rows of a kind there are in a large folder: more than go to the database at once.
const MANY: u64 = 2_500;

/// Rows for each file that a store with the fixture takes, and which change something.
fn many(file: FolderFile) -> Vec<String> {
    let features = |count: u64, of: &dyn Fn(u64) -> Value| (0..count).map(|n| of(n).to_string()).collect();
    let rows = |of: &dyn Fn(u64) -> String| (0..MANY).map(of).collect();
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

/// A file of these rows.
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

#[test]
fn a_broken_row_late_in_any_file_leaves_everything_as_it_was() {
    let mut wrong_area = area(9_999, 50.0, 50.0);
    wrong_area["geometry"] = json!({ "type": "Point", "coordinates": [106.8, -6.2] });
    let faults = [
        (
            FolderFile::Areas,
            wrong_area.to_string(),
            "geometry must be a Polygon or MultiPolygon, not a Point",
        ),
        (
            FolderFile::Regions,
            square(json!({ "code": "ID-0", "name": "Again" }), 0.0, 0.0).to_string(),
            "code ID-0 occurs already",
        ),
        (FolderFile::Cities, square(json!({ "code": "jbd" }), 0.0, 0.0).to_string(), "name is missing"),
        (
            FolderFile::Infrastructure,
            point(json!({ "type": "dams" }), 0.0, 0.0).to_string(),
            "type must be one of [floodgates, pumps, waterways], not \"dams\"",
        ),
        (
            FolderFile::Gauges,
            point(json!({ "gaugeid": "TMA9" }), 0.0, 0.0).to_string(),
            "gaugenameid is missing",
        ),
        (FolderFile::GaugeReadings, format!("TMA9,{},1,1,\n", now()), "gaugeid \"TMA9\" is no known gauge"),
        (
            FolderFile::FloodStates,
            format!("5,6,{},,\n", now()),
            "state must be one of [1, 2, 3, 4] or empty, not \"6\"",
        ),
        (
            FolderFile::ErasedReports,
            format!("900000,{},grasp,flood,false,,,false,12\n", now()),
            "digest must be a digest of 64 hexadecimal digits",
        ),
        (
            FolderFile::HiddenReports,
            report(None, 1, 0.5, 0.5).to_string(),
            "pkey is missing: a hidden report needs one",
        ),
        (
            FolderFile::Reports,
            report(Some(1), 1, 0.5, 0.5).to_string(),
            "pkey 1 is that of another report in the store",
        ),
        (
            FolderFile::Cards,
            "my-card,5000,,,,,9999\n".to_owned(),
            "report 9999 is not the report of the card",
        ),
        (FolderFile::PartnerPosts, "9999,1\n".to_owned(), "pkey 1 is not the report of the post"),
        (
            FolderFile::ModerationLog,
            format!("{},remove,1,{},import,,spam\n", now(), now()),
            "action must be one of [hide, show, erase]",
        ),
    ];
    assert_eq!(faults.each_ref().map(|(file, ..)| *file), FolderFile::ALL);
    block_on(async {
        let operator = Operator::with_fixture().await;
        let before = operator.everything().await;
        let sound = FolderFile::ALL.map(|file| file_of(file, &many(file)));
        for (broken, row, reason) in faults {
            let rows = [many(broken), vec![row]].concat();
            let files = sound.iter().map(|(file, content)| {
                if *file == broken { file_of(broken, &rows) } else { (*file, content.clone()) }
            });
            let error = operator.import_files(&files.collect::<Vec<_>>()).await.unwrap_err();
            assert!(error.starts_with(&format!("{broken}, line {}: ", rows.len() + 1)), "{error}");
            assert!(error.contains(reason), "{error}");
            assert!(operator.everything().await == before, "{broken}");
        }
        operator.import_files(&sound).await.unwrap();
        let after = operator.everything().await;
        for (file, content) in &before.files {
            assert!(after.files[file] != *content, "{file} would have changed");
        }
    });
}
