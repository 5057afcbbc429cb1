//! Data sets in and out of a database: what is exported was imported, and what cannot be imported changes nothing.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rocket::futures::future::join_all;
use rocket::tokio;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use siaga::conformance::fixture::{self, content, id, place, state};
use siaga::conformance::{block_on, fixture::now};
use siaga::datasets::{Dataset, Folder, FolderFile, FolderWriter};
use siaga::model::intake::{GaugeReadings, PartnerReport};
use siaga::model::{
    Actor, AreaId, AreaSelector, CardId, DisasterType, FloodState, Layer, Period, Report, ReportKey,
    Timestamp,
};
use siaga::stores::postgres::OpenPostgres;
use siaga::stores::{
    FloodQuery, HistoryQuery, OpenStore, Received, Resource, Revision, SetFloodState, Store, StoreError,
    StoreSettings,
};
use sqlx::postgres::PgRow;
use sqlx::{Connection, FromRow, PgConnection};
use tempfile::TempDir;

#[path = "common/postgres.rs"]
mod database;

use database::Database;

/// A database as its operator sees it.
struct Operator {
    settings: StoreSettings,
    database: Database,
}

/// Everything there is, and how often it has changed.
#[derive(Debug, PartialEq)]
struct Everything {
    files: BTreeMap<&'static str, String>,
    revisions: Vec<(String, i64)>,
}

impl Operator {
    /// Of a database that holds the fixture.
    async fn with_fixture() -> Self {
        Self::of(Database::with_fixture().await)
    }

    fn of(database: Database) -> Self {
        Self { settings: database.settings(), database }
    }

    /// Imports a folder; an error names its files without the path.
    async fn import(&self, folder: &Path) -> Result<(), String> {
        let upkeep = OpenPostgres.upkeep().unwrap();
        let imported = upkeep.import(&self.settings, Folder::open(folder).unwrap()).await;
        imported.map_err(|error| error.to_string().replace(&format!("{}/", folder.display()), ""))
    }

    async fn import_files(&self, files: &[(FolderFile, String)]) -> Result<(), String> {
        self.import(folder_of(files).path()).await
    }

    async fn export(&self) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        let upkeep = OpenPostgres.upkeep().unwrap();
        upkeep.export(&self.settings, FolderWriter::create(folder.path()).unwrap()).await.unwrap();
        folder
    }

    async fn rows<T>(&self, sql: &'static str) -> Vec<T>
    where
        T: for<'r> FromRow<'r, PgRow> + Send + Unpin,
    {
        let mut connection = PgConnection::connect(&self.database.url()).await.unwrap();
        sqlx::query_as(sql).fetch_all(&mut connection).await.unwrap()
    }

    async fn count(&self, sql: &'static str) -> i64 {
        self.rows::<(i64,)>(sql).await[0].0
    }

    async fn revisions(&self) -> Vec<(String, i64)> {
        self.rows("SELECT resource, revision FROM current_revisions ORDER BY resource").await
    }

    async fn everything(&self) -> Everything {
        Everything { files: contents(self.export().await.path()), revisions: self.revisions().await }
    }

    async fn store(&self) -> Arc<dyn Store> {
        OpenPostgres.open(&self.settings).await.unwrap().store
    }
}

/// The files of a folder.
fn contents(folder: &Path) -> BTreeMap<&'static str, String> {
    let files = FolderFile::ALL.map(FolderFile::name);
    files.into_iter().map(|file| (file, fs::read_to_string(folder.join(file)).unwrap())).collect()
}

/// A folder of these files.
fn folder_of(files: &[(FolderFile, String)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (file, content) in files {
        fs::write(folder.path().join(file.name()), content).unwrap();
    }
    folder
}

/// A data set as a folder that would be written again as the same bytes: in the order stores list things in, and with
/// rings wound as they are when they have been read.
fn saved(mut dataset: Dataset) -> TempDir {
    dataset.infrastructure.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
    dataset.flood_log.sort_by_key(|change| (change.at, change.area));
    let write = |dataset: &Dataset| {
        let folder = tempfile::tempdir().unwrap();
        dataset.save(&FolderWriter::create(folder.path()).unwrap()).unwrap();
        folder
    };
    let first = write(&dataset);
    write(&Dataset::load(first.path().to_str().unwrap(), now()).unwrap())
}

/// A file of features, the first of them on line 2.
fn collection(features: &[Value]) -> String {
    let lines: Vec<_> = features.iter().map(Value::to_string).collect();
    format!("{{\"type\":\"FeatureCollection\",\"features\":[\n{}\n]}}\n", lines.join(",\n"))
}

fn point(properties: Value, x: f64, y: f64) -> Value {
    let place = place(x, y).coord();
    let geometry = json!({ "type": "Point", "coordinates": [place.x, place.y] });
    json!({ "type": "Feature", "properties": properties, "geometry": geometry })
}

/// A surface of one hundredth of a degree, its lower left corner at a place of the fixture.
fn square(properties: Value, x: f64, y: f64) -> Value {
    let corners = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0), (0.0, 0.0)];
    let ring = corners.map(|(right, up)| place(x + right, y + up).coord()).map(|corner| [corner.x, corner.y]);
    let geometry = json!({ "type": "Polygon", "coordinates": [ring] });
    json!({ "type": "Feature", "properties": properties, "geometry": geometry })
}

fn area(number: u64, x: f64, y: f64) -> Value {
    let properties = json!({
        "area_id": number, "geom_id": "g", "area_name": format!("RW {number}"), "parent_name": "NEW",
        "city_name": "JAKARTA BARAT", "instance_region_code": "ID-JK", "city": "jbd",
    });
    square(properties, x, y)
}

/// A flood report of some seconds before now, without tags, with a key or without.
fn report(pkey: Option<u64>, seconds_ago: u64, x: f64, y: f64) -> Value {
    let created_at = now().before(Duration::from_secs(seconds_ago)).to_string();
    let mut properties = json!({
        "created_at": created_at, "source": "grasp", "disaster_type": "flood", "title": "", "text": "air",
        "report_data": { "flood_depth": 80 },
    });
    if let Some(pkey) = pkey {
        properties["pkey"] = json!(pkey.to_string());
    }
    point(properties, x, y)
}

fn reports(features: &[Value]) -> (FolderFile, String) {
    (FolderFile::Reports, collection(features))
}

fn states(rows: &str) -> (FolderFile, String) {
    (FolderFile::FloodStates, format!("area_id,state,changed_at,username,subject\n{rows}"))
}

fn cards(rows: &str) -> (FolderFile, String) {
    (FolderFile::Cards, format!("card_id,pkey,username,network,language,network_data,report\n{rows}"))
}

fn posts(rows: &str) -> (FolderFile, String) {
    (FolderFile::PartnerPosts, format!("post_id,pkey\n{rows}"))
}

/// Some milliseconds before now.
fn before(milliseconds: u64) -> Timestamp {
    now().before(Duration::from_millis(milliseconds))
}

fn order(area: u64, code: Option<u64>) -> SetFloodState {
    let by = Actor { subject: "test".to_owned(), username: None };
    SetFloodState { area: id(area), state: code.map(state), by }
}

fn post(post_id: i64, x: f64, y: f64) -> PartnerReport {
    PartnerReport { post_id, content: content(DisasterType::Flood, 0, place(x, y)) }
}

fn card_id(text: &str) -> CardId {
    text.parse().unwrap()
}

async fn receive(store: &dyn Store, card: &str) -> Result<Arc<Report>, StoreError> {
    store.receive_card_report(&card_id(card), content(DisasterType::Flood, 0, place(0.5, 0.5))).await
}

/// Areas and the codes of their states.
async fn standing(store: &dyn Store) -> Vec<(u64, u8)> {
    let states = store.flood_states(&FloodQuery::default()).await.unwrap().value;
    states.iter().map(|record| (record.area_id.number(), record.state.code())).collect()
}

/// Areas and the codes of their highest states between two moments.
async fn highest(store: &dyn Store, start: &str, end: &str) -> Vec<(u64, u8)> {
    let moment = |text| Timestamp::parse(text).unwrap();
    let period = Period::new(moment(start), moment(end), Duration::MAX).unwrap();
    let query = HistoryQuery { selector: AreaSelector::default(), period };
    let archive = store.flood_archive(&query).await.unwrap().value;
    archive.iter().map(|record| (record.area_id.number(), record.max_state.code())).collect()
}

async fn keys(operator: &Operator) -> Vec<i64> {
    let keys: Vec<(i64,)> = operator.rows("SELECT pkey FROM reports ORDER BY pkey").await;
    keys.into_iter().map(|(key,)| key).collect()
}

#[test]
fn what_is_imported_is_exported_as_the_same_bytes_and_imported_again_changes_nothing() {
    block_on(async {
        for dataset in [fixture::dataset(), Dataset::load("demo", now()).unwrap()] {
            let folder = saved(dataset);
            let operator = Operator::of(Database::empty().await);
            operator.import(folder.path()).await.unwrap();
            let first = operator.everything().await;
            for (file, content) in contents(folder.path()) {
                assert!(first.files[file] == content, "{file} differs");
            }
            operator.import(folder.path()).await.unwrap();
            assert!(operator.everything().await == first, "an import of the same");
            operator.import(operator.export().await.path()).await.unwrap();
            assert!(operator.everything().await == first, "an import of what was exported");
        }
    });
}

#[test]
fn a_log_alone_names_the_areas_of_the_store() {
    block_on(async {
        let operator = Operator::with_fixture().await;
        let store = operator.store().await;
        let unknown = states("2,3,2016-12-19T16:00:00Z,,\n99,1,2016-12-19T16:00:00Z,,\n");
        let error = operator.import_files(&[unknown]).await.unwrap_err();
        assert_eq!(error, "flood_states.csv, line 3: area_id 99 is no known area");
        assert_eq!(standing(&*store).await, [(5, 2), (30, 3)], "nothing changed");
        let known = states("2,3,2016-12-19T16:00:00Z,,\n30,,2016-12-19T16:00:01Z,,\n");
        operator.import_files(&[known]).await.unwrap();
        assert_eq!(standing(&*store).await, [(2, 3), (5, 2)]);
        let after_now = operator.import_files(&[states("2,3,2016-12-19T16:08:53Z,,\n")]).await.unwrap_err();
        assert!(
            after_now.starts_with("flood_states.csv, line 2: changed_at must not be after now"),
            "{after_now}"
        );
    });
}

#[test]
fn reports_alone_are_tagged_with_the_areas_of_the_store() {
    block_on(async {
        let operator = Operator::with_fixture().await;
        let store = operator.store().await;
        let mut elsewhere = report(Some(22), 1, 0.5, 0.5);
        elsewhere["properties"]["tags"] = json!({ "instance_region_code": "ID-JB", "local_area_id": null });
        let features = [report(Some(20), 1, 3.5, 0.5), report(Some(21), 1, 6.5, 0.5), elsewhere];
        operator.import_files(&[reports(&features)]).await.unwrap();
        for (key, region, area) in [(20, "ID-JB", Some(30)), (21, "ID-JB", None), (22, "ID-JB", None)] {
            let found = store.report(key.try_into().unwrap()).await.unwrap().value;
            assert_eq!(found.tags.instance_region_code.as_deref(), Some(region), "{key}");
            assert_eq!(found.tags.local_area_id.map(AreaId::number), area, "{key}");
        }
    });
}

#[test]
fn an_imported_log_is_merged_with_what_is_live() {
    block_on(async {
        let operator = Operator::with_fixture().await;
        let store = operator.store().await;
        store.set_flood_state(order(1, Some(4))).await.unwrap();
        store.set_flood_state(order(30, None)).await.unwrap();
        let log =
            states("1,3,2016-12-16T00:00:00Z,,\n30,4,2016-12-16T01:00:00Z,,\n2,1,2016-12-17T00:00:00Z,,\n");
        operator.import_files(&[log]).await.unwrap();
        assert_eq!(standing(&*store).await, [(1, 4), (2, 1), (5, 2)], "the newest stands");
        let past = highest(&*store, "2016-12-16T02:00:00Z", "2016-12-16T03:00:00Z").await;
        assert_eq!(past, [(1, 3), (5, 4), (30, 4)]);
        let log = store.flood_log(id(1)).await.unwrap();
        let codes: Vec<_> = log.iter().map(|change| change.state.map(FloodState::code)).collect();
        assert_eq!(codes, [Some(2), None, Some(3), Some(4)]);
        assert!(log.is_sorted_by_key(|change| change.at));
    });
}

#[test]
fn a_corrected_entry_replaces_the_one_of_its_moment() {
    block_on(async {
        let operator = Operator::with_fixture().await;
        let store = operator.store().await;
        let older = states("5,,2016-12-14T09:00:35Z,bpbd,import\n");
        operator.import_files(&[older]).await.unwrap();
        assert_eq!(standing(&*store).await, [(5, 2), (30, 3)], "a newer one stands");
        let then = highest(&*store, "2016-12-14T10:00:00Z", "2016-12-14T11:00:00Z").await;
        assert_eq!(then, [(1, 2), (30, 3)]);
        // Of two rows of one moment the last counts.
        let newest = states("5,1,2016-12-19T13:41:35Z,,\n5,4,2016-12-19T13:41:35Z,bpbd,corrected\n");
        operator.import_files(&[newest]).await.unwrap();
        assert_eq!(standing(&*store).await, [(5, 4), (30, 3)]);
        let last = store.flood_log(id(5)).await.unwrap().pop().unwrap();
        assert_eq!((last.state, last.by.subject.as_str()), (Some(state(4)), "corrected"));
        operator.import_files(&[states("5,,2016-12-19T13:41:35Z,,\n")]).await.unwrap();
        assert_eq!(standing(&*store).await, [(30, 3)], "a clearing");
        assert_eq!(operator.count("SELECT count(*) FROM flood_changes").await, 6);
    });
}

#[test]
fn reports_without_a_key_are_counted_on_once() {
    block_on(async {
        let operator = Operator::with_fixture().await;
        let twice = [report(None, 1, 0.5, 0.5), report(Some(20), 2, 0.5, 0.5), report(None, 1, 0.5, 0.5)];
        operator.import_files(&[reports(&twice)]).await.unwrap();
        assert_eq!(
            keys(&operator).await,
            [1, 2, 3, 4, 5, 6, 7, 8, 20, 21, 22],
            "after the highest of the file"
        );
        let before = operator.revisions().await;
        operator.import_files(&[reports(&twice)]).await.unwrap();
        assert_eq!(operator.revisions().await, before, "nothing is added");
        let mut pictured = report(None, 1, 0.5, 0.5);
        pictured["properties"]["image_url"] = json!("http://example.org/2.jpg");
        let mut without_data = report(None, 1, 0.5, 0.5);
        without_data["properties"]["report_data"] = Value::Null;
        for more in [&[pictured, without_data][..], &[twice[0].clone(), twice[0].clone(), twice[0].clone()]] {
            operator.import_files(&[reports(more)]).await.unwrap();
            let added = keys(&operator).await;
            operator.import_files(&[reports(more)]).await.unwrap();
            assert_eq!(keys(&operator).await, added);
        }
        assert_eq!(keys(&operator).await[11..], [23, 24, 25], "two that say something else, and a third one");
        let store = operator.store().await;
        assert_eq!(receive(&*store, "fresh-card").await.unwrap().key.number(), 26);
        operator.import_files(&[reports(&[report(None, 3, 0.5, 0.5)])]).await.unwrap();
        assert_eq!(keys(&operator).await.last(), Some(&27), "after the highest of the store");
    });
}

#[test]
fn a_key_is_not_given_to_another_report() {
    block_on(async {
        let operator = Operator::with_fixture().await;
        let before = operator.everything().await;
        let moved = |key: u64| {
            let known = &fixture::reports()[usize::try_from(key).unwrap() - 1].content;
            let mut moved = report(Some(key), 0, 0.6, 0.5);
            moved["properties"]["created_at"] = json!(known.created_at.to_string());
            moved
        };
        for other in [report(Some(1), 1, 0.5, 0.5), moved(1)] {
            let features = [report(Some(20), 1, 0.5, 0.5), report(None, 1, 0.5, 0.5), other];
            let error = operator.import_files(&[reports(&features)]).await.unwrap_err();
            assert_eq!(error, "reports.geojson, line 4: pkey 1 is that of another report in the store");
            assert_eq!(operator.everything().await, before);
        }
    });
}

#[test]
fn the_next_report_follows_the_highest_imported_key() {
    block_on(async {
        let operator = Operator::with_fixture().await;
        let store = operator.store().await;
        operator
            .import_files(&[reports(&[report(Some(1000), 1, 0.5, 0.5)]), cards("new-card,70,,,,,\n")])
            .await
            .unwrap();
        assert_eq!(receive(&*store, "fresh-card").await.unwrap().key.number(), 1001);
        assert_eq!(receive(&*store, "new-card").await.unwrap().key.number(), 1002);
        let holder = fixture::cards()[0].holder.clone();
        assert_eq!(store.create_card(holder).await.unwrap().pkey, 71);
        operator
            .import_files(&[reports(&[report(Some(500), 1, 0.5, 0.5)]), cards("low-card,60,,,,,\n")])
            .await
            .unwrap();
        assert_eq!(
            receive(&*store, "low-card").await.unwrap().key.number(),
            1003,
            "a lower one changes nothing"
        );
    });
}

#[test]
fn an_import_that_fails_takes_no_keys() {
    block_on(async {
        let operator = Operator::with_fixture().await;
        let store = operator.store().await;
        let highest = [report(Some(ReportKey::MAX), 1, 0.5, 0.5)];
        let files =
            [reports(&highest), cards(&format!("new-card,{},,,,,\nmy-card,5,,,,,99\n", ReportKey::MAX))];
        assert!(operator.import_files(&files).await.is_err());
        let files = [reports(&highest), posts("1,99\n")];
        assert!(operator.import_files(&files).await.is_err());
        assert_eq!(receive(&*store, "fresh-card").await.unwrap().key.number(), 9);
        assert_eq!(store.create_card(fixture::cards()[0].holder.clone()).await.unwrap().pkey, 3);
    });
}

#[test]
fn imported_cards_and_posts_are_used_as_if_they_had_come_by_themselves() {
    block_on(async {
        let operator = Operator::with_fixture().await;
        let store = operator.store().await;
        let files = [
            reports(&[report(Some(20), 1, 0.5, 0.5), report(Some(21), 1, 0.5, 0.5)]),
            cards("new-card-1,10,\"Ibu, O\",telegram,id,\"{\"\"a\"\": 1.0}\",20\nnew-card-2,11,,,,,\n"),
            posts("-5,21\n"),
        ];
        operator.import_files(&files).await.unwrap();
        let card = store.card(&card_id("new-card-1")).await.unwrap();
        assert_eq!((card.pkey, card.report.map(ReportKey::number)), (10, Some(20)));
        assert_eq!(card.holder.network_data.as_deref().map(RawValue::get), Some("{\"a\": 1.0}"));
        assert!(matches!(receive(&*store, "new-card-1").await, Err(StoreError::Conflict { .. })));
        let received = receive(&*store, "new-card-2").await.unwrap();
        assert!(matches!(receive(&*store, "new-card-2").await, Err(StoreError::Conflict { .. })));
        assert_eq!(store.receive_partner_report(post(-5, 0.5, 0.5)).await.unwrap(), Received::Existing);
        assert_eq!(store.receive_partner_report(post(-6, 0.5, 0.5)).await.unwrap(), Received::Created);

        // What has been used meanwhile stays used.
        let before = operator.everything().await;
        operator.import_files(&files).await.unwrap();
        assert_eq!(operator.everything().await, before);
        assert_eq!(store.card(&card_id("new-card-2")).await.unwrap().report, Some(received.key));
    });
}

#[test]
fn cards_and_posts_name_reports_of_their_own() {
    block_on(async {
        let operator = Operator::with_fixture().await;
        let before = operator.everything().await;
        let new = || reports(&[report(Some(20), 1, 0.5, 0.5)]);
        for (file, fault) in [
            (
                cards("new-card-1,10,,,,,20\nnew-card-2,11,,,,,99\n"),
                "cards.csv, line 3: report 99 is not the report of the card",
            ),
            (cards("new-card-1,10,,,,,1\n"), "cards.csv, line 2: report 1 is not the report of the card"),
            (cards("new-card-1,10,,,,,4\n"), "cards.csv, line 2: report 4 is not the report of the card"),
            (cards("used-card,2,,,,,20\n"), "cards.csv, line 2: report 20 is not the report of the card"),
            (
                cards("new-card-1,10,,,,,20\nused-card,2,,,,,\nother-card,2,,,,,\n"),
                "cards.csv, line 4: pkey is that of line 3 already",
            ),
            (cards("other-card,2,,,,,\n"), "cards.csv, line 2: pkey 2 is that of another card in the store"),
            (posts("1,20\n2,99\n"), "partner_posts.csv, line 3: pkey 99 is not the report of the post"),
            (posts("1,1\n"), "partner_posts.csv, line 2: pkey 1 is not the report of the post"),
            (posts("1,4\n"), "partner_posts.csv, line 2: pkey 4 is not the report of the post"),
            (posts("4711,20\n"), "partner_posts.csv, line 2: pkey 20 is not the report of the post"),
        ] {
            assert_eq!(operator.import_files(&[new(), file]).await.unwrap_err(), fault);
            assert_eq!(operator.everything().await, before, "{fault}");
        }
        let two = cards("new-card-1,10,,,,,20\nnew-card-2,11,,,,,20\n");
        let error = operator.import_files(&[new(), two]).await.unwrap_err();
        assert!(
            error.starts_with("cards.csv, line ")
                && error.ends_with("report 20 is not the report of the card"),
            "{error}"
        );
        assert_eq!(operator.everything().await, before, "one report of two cards");
    });
}

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
        FolderFile::Infrastructure => {
            features(MANY, &|n| point(json!({ "type": "pumps", "name": format!("Pompa {n}") }), 0.5, 0.5))
        }
        FolderFile::Gauges => features(MANY, &|n| {
            point(json!({ "gaugeid": format!("TMA{n:05}"), "gaugenameid": "Pos" }), 0.5, 0.5)
        }),
        FolderFile::GaugeReadings => rows(&|n| format!("TMA00001,{},{n}.5,3,\n", before(n))),
        FolderFile::FloodStates => rows(&|n| format!("5,{},{},,\n", n % 4 + 1, before(n))),
        FolderFile::Reports => features(MANY, &|n| report((n % 2 == 0).then_some(1_000 + n), n, 0.5, 0.5)),
        FolderFile::Cards => rows(&|n| format!("new-card-{n},{},,,,,\n", 1_000 + n)),
        FolderFile::PartnerPosts => {
            rows(&|n| format!("{n},{}\n", 1_000 + 2 * n)).into_iter().take(1_000).collect()
        }
    }
}

/// A file of these rows.
fn file_of(file: FolderFile, rows: &[String]) -> (FolderFile, String) {
    let header = match file {
        FolderFile::GaugeReadings => "gaugeid,observed_at,level,alert,label\n",
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
            assert_eq!(error, format!("{broken}, line {}: {reason}", rows.len() + 1));
            assert!(operator.everything().await == before, "{broken}");
        }
        operator.import_files(&sound).await.unwrap();
        let after = operator.everything().await;
        for (file, content) in &before.files {
            assert!(after.files[file] != *content, "{file} would have changed");
        }
    });
}

#[test]
fn an_open_store_shows_what_is_imported_within_a_second() {
    block_on(async {
        let operator = Operator::with_fixture().await;
        let store = operator.store().await;
        let map = async |store: &dyn Store| {
            let layer = store.floods(&FloodQuery::default()).await.unwrap();
            Layer::Floods(layer.value)
                .features()
                .map(|feature| format!("{:?}", feature.geometry))
                .collect::<Vec<_>>()
        };
        let outlines = map(&*store).await;
        assert_eq!(outlines.len(), 5);
        // It has the places at hand when they change.
        store.receive_partner_report(post(1, 7.5, 0.5)).await.unwrap();
        let mut revisions: Vec<Revision> = Vec::new();
        let resources = [Resource::Floods, Resource::Reports, Resource::Infrastructure];
        for resource in resources {
            revisions.push(store.revision(resource).await.unwrap());
        }

        let areas = (FolderFile::Areas, collection(&[area(6, 7.0, 0.0), area(30, 3.0, 5.0)]));
        operator.import_files(&[areas]).await.unwrap();
        let imported = Instant::now();
        let shown = map(&*store).await;
        assert_eq!(shown.len(), 6);
        assert!(outlines[4] != shown[5] && outlines[..3] == shown[..3], "30 has moved, others have not");
        store.receive_partner_report(post(2, 7.5, 0.5)).await.unwrap();
        let tags: Vec<(Option<i64>,)> =
            operator.rows("SELECT local_area_id FROM reports WHERE post_id IN (1, 2) ORDER BY post_id").await;
        assert_eq!(tags, [(None,), (Some(6),)]);
        for (resource, before) in resources.into_iter().zip(revisions) {
            while store.revision(resource).await.unwrap() <= before {
                assert!(imported.elapsed() < Duration::from_secs(1), "{resource:?}");
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    });
}

/// A folder whose import takes a while: new areas, a long log of all areas, and reports with keys and without.
fn long_folder() -> TempDir {
    const ROWS: u64 = 12_000;
    let areas: Vec<_> = fixture::areas().iter().map(|area| area.id.number()).collect();
    let mut log = String::new();
    for n in 1..=ROWS {
        let area = areas[usize::try_from(n).unwrap() % areas.len()];
        writeln!(log, "{area},{},{},,", n % 4 + 1, before(1_000 * n)).unwrap();
    }
    let features: Vec<_> =
        (0..ROWS).map(|n| report((n % 2 == 0).then_some(100_000 + n), n, 0.5, 0.5)).collect();
    let new = collection(&[area(6, 7.0, 0.0)]);
    folder_of(&[(FolderFile::Areas, new), states(&log), reports(&features)])
}

#[test]
fn nothing_that_is_written_during_an_import_fails_or_is_lost() {
    block_on(async {
        let operator = Arc::new(Operator::with_fixture().await);
        let store = operator.store().await;
        let folder = long_folder();
        let done = Arc::new(AtomicBool::new(false));
        let writers = (0..4i64).map(|writer| {
            let (store, done) = (Arc::clone(&store), Arc::clone(&done));
            tokio::spawn(async move {
                let (mut written, mut at) = (0, Vec::new());
                while !done.load(Ordering::SeqCst) || written < 10 {
                    let areas = [1, 2, 5, 10, 30];
                    let area = areas[usize::try_from(written + writer).unwrap() % areas.len()];
                    let code = u64::try_from(written % 5).unwrap();
                    let change =
                        store.set_flood_state(order(area, (code > 0).then_some(code))).await.unwrap();
                    at.push((change.area.number().cast_signed(), change.at.to_utc()));
                    let received = store.receive_partner_report(post(written * 4 + writer, 0.5, 0.5)).await;
                    assert_eq!(received.unwrap(), Received::Created);
                    written += 1;
                }
                (written, at)
            })
        });
        let writers: Vec<_> = writers.collect();
        tokio::time::sleep(Duration::from_millis(50)).await;
        let imported = operator.import(folder.path()).await;
        done.store(true, Ordering::SeqCst);
        imported.unwrap();
        let (mut posts, mut changes) = (0, Vec::new());
        for written in join_all(writers).await {
            let (count, at) = written.unwrap();
            posts += count;
            changes.extend(at);
        }

        let logged: Vec<(i64, chrono::DateTime<chrono::Utc>)> =
            operator.rows("SELECT area_id, changed_at FROM flood_changes WHERE subject = 'test'").await;
        changes.sort_unstable();
        let mut logged = logged;
        logged.sort_unstable();
        assert_eq!(logged, changes, "each change that was answered, and no other");
        let stale = "
            SELECT count(*) FROM flood_states FULL JOIN (
                SELECT DISTINCT ON (area_id) area_id, state, changed_at FROM flood_changes
                ORDER BY area_id, changed_at DESC
            ) newest USING (area_id)
            WHERE (flood_states.state, flood_states.changed_at) IS DISTINCT FROM (newest.state, newest.changed_at)";
        assert_eq!(operator.count(stale).await, 0, "states that are not the newest of the log");
        assert_eq!(operator.count("SELECT count(*) FROM reports WHERE post_id <> 4711").await, posts);
        let imported =
            operator.count("SELECT count(*) FROM reports WHERE post_id IS NULL AND pkey > 8").await;
        assert_eq!(imported, 12_000);
        let keys = keys(&operator).await;
        assert!(keys.is_sorted_by(|a, b| a < b), "each key once");
    });
}

#[test]
fn an_import_that_takes_long_holds_nobody_up_before_it_comes_to_the_reports() {
    block_on(async {
        let operator = Arc::new(Operator::with_fixture().await);
        let store = operator.store().await;
        let mut holder = PgConnection::connect(&operator.database.url()).await.unwrap();
        let mut held = holder.begin().await.unwrap();
        sqlx::query("LOCK TABLE cards IN ROW EXCLUSIVE MODE").execute(&mut *held).await.unwrap();
        let importing = tokio::spawn({
            let operator = Arc::clone(&operator);
            async move {
                let folder = operator.export().await;
                fs::write(folder.path().join("flood_states.csv"), states("5,3,2016-12-19T16:00:00Z,,\n").1)
                    .unwrap();
                operator.import(folder.path()).await
            }
        });
        let waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'cards'::regclass";
        while operator.count(waiting).await == 0 {
            assert!(!importing.is_finished(), "{:?}", importing.await);
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let writing = async {
            store.set_flood_state(order(5, Some(4))).await.unwrap();
            let gauge = fixture::gauges()[0].gauge.clone();
            let observations = vec![fixture::reading(1, 50.0)];
            let readings = GaugeReadings {
                id: gauge.id.clone(),
                name: gauge.name.clone(),
                location: gauge.location,
                observations,
            };
            store.store_gauge(readings).await.unwrap();
        };
        tokio::time::timeout(Duration::from_secs(2), writing).await.unwrap();
        held.rollback().await.unwrap();
        importing.await.unwrap().unwrap();
        assert_eq!(standing(&*store).await, [(5, 4), (30, 3)], "the live one is newer");
    });
}

#[test]
fn a_long_log_is_imported_or_its_last_line_undoes_it() {
    const ROWS: u64 = 300_000;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FolderFile::FloodStates.name());
    let mut out = BufWriter::new(fs::File::create(&path).unwrap());
    out.write_all(b"area_id,state,changed_at\n").unwrap();
    let areas: Vec<_> = fixture::areas().iter().map(|area| area.id.number()).collect();
    for n in (0..ROWS).rev() {
        let area = areas[usize::try_from(n).unwrap() % areas.len()];
        writeln!(out, "{area},{},{}", n % 4 + 1, before(n)).unwrap();
    }
    out.write_all(b"5,2,tomorrow\n").unwrap();
    out.flush().unwrap();
    block_on(async {
        let operator = Operator::with_fixture().await;
        let before = operator.everything().await;
        let error = operator.import(folder.path()).await.unwrap_err();
        assert!(error.starts_with("flood_states.csv, line 300002: changed_at must be a time"), "{error}");
        assert!(operator.everything().await == before);
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_len(file.metadata().unwrap().len() - b"5,2,tomorrow\n".len() as u64).unwrap();
        operator.import(folder.path()).await.unwrap();
        assert_eq!(operator.count("SELECT count(*) FROM flood_changes").await, 300_006);
        assert_eq!(standing(&*operator.store().await).await.len(), 5);
    });
}

/// Runs the program on a database.
fn siaga(database: &Database, arguments: &[&str]) -> Output {
    let elsewhere = tempfile::tempdir().unwrap();
    Command::new(env!("CARGO_BIN_EXE_siaga"))
        .args(arguments)
        .current_dir(&elsewhere)
        .env_clear()
        .env("SIAGA_STORE", "postgres")
        .env("DATABASE_URL", database.url())
        .output()
        .unwrap()
}

/// The one line on standard error of a run that ended with 1.
fn refusal(output: &Output) -> String {
    let error = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!((output.status.code(), error.lines().count()), (Some(1), 1), "{error}");
    error.trim_end().to_owned()
}

#[test]
fn the_program_imports_and_exports_folders() {
    let database = block_on(Database::empty());
    let folder = saved(fixture::dataset());
    let imported = siaga(&database, &["import", folder.path().to_str().unwrap()]);
    assert!(imported.status.success() && imported.stderr.is_empty(), "{imported:?}");
    let exported = tempfile::tempdir().unwrap();
    let path = exported.path().join("new");
    let output = siaga(&database, &["export", path.to_str().unwrap()]);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    assert_eq!(contents(&path), contents(folder.path()));

    let again = refusal(&siaga(&database, &["export", path.to_str().unwrap()]));
    assert!(again.starts_with("siaga: ") && again.contains("areas.geojson is there already"), "{again}");
    let broken = folder_of(&[cards("new-card-1,10,,,,,99\n")]);
    let error = refusal(&siaga(&database, &["import", broken.path().to_str().unwrap()]));
    let path = broken.path().join("cards.csv");
    assert_eq!(error, format!("siaga: {}, line 2: report 99 is not the report of the card", path.display()));
    let error = refusal(&siaga(&database, &["import", "nowhere"]));
    assert!(error.starts_with("siaga: ") && error.contains("nowhere"), "{error}");
}
