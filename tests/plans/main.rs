//! What questions cost in a large database: each is answered by its index, whichever way its statement was planned.

#[path = "../../crates/siaga-conformance/src/fixture.rs"]
mod fixture;

use std::collections::HashMap;
use std::time::Duration;

use rocket::futures::FutureExt;
use rocket::futures::future::BoxFuture;
use siaga::model::bodies::{GaugeReadings, PartnerReport};
use siaga::model::{Actor, AreaSelector, DisasterType, Period};
use siaga::stores::postgres::OpenPostgres;
use siaga::stores::{
    EntryQuery, FloodQuery, GaugeQuery, HistoryQuery, LogQuery, OpenStore, Received, ReportQuery,
    ReportSeriesQuery, SetFloodState, Store, Window,
};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};

#[path = "../common/postgres.rs"]
mod database;
#[path = "../common/eventually.rs"]
mod eventually;

mod images;
mod revisions;

use database::Database;
use eventually::{LONG, eventually};
use fixture::{block_on, cards, content, id, now, place, reading, state};

/// The tables that grow for as long as the service runs.
const LARGE: &str = "('flood_changes', 'reports', 'cards', 'images', 'gauge_readings')";

/// A year of a city of 2,700 areas: 200,000 changes, as many reports and readings, 50,000 cards, and images of most.
const YEAR: &str = "
    SET session_replication_role = replica;
    CREATE TEMPORARY TABLE moments AS
        SELECT number, timestamptz '2016-12-19T16:08:52Z' - number * interval '157 s' AS moment
        FROM generate_series(0, 199999) AS number;
    INSERT INTO areas
        SELECT 1000 + number, 'g', 'RW ' || number, 'P', 'C', (ARRAY['jbd', 'bdg', 'sby'])[1 + number % 3],
               (ARRAY['ID-JK', 'ID-JB', 'ID-JI'])[1 + number % 3],
               ST_Multi(ST_MakeEnvelope(110 + number * 0.001, 1, 110.001 + number * 0.001, 1.001, 4326))
        FROM generate_series(0, 2699) AS number;
    INSERT INTO flood_changes
        SELECT 1000 + (number * 7919) % 2700, moment, nullif(number % 5, 0), 'import', NULL, moment FROM moments;
    INSERT INTO flood_states
        SELECT DISTINCT ON (area_id) area_id, state, changed_at FROM flood_changes WHERE area_id >= 1000
        ORDER BY area_id, changed_at DESC;
    INSERT INTO cards (card_id, username, network, language, created_at)
        SELECT 'card-' || number, 'user', 'telegram', 'id', timestamptz '2016-12-18T16:08:52Z' - number * interval '157 s'
        FROM generate_series(10000, 59999) AS number;
    INSERT INTO reports (created_at, source, disaster_type, report_data, title, text, location, local_area_id,
                         instance_region_code, card_id, post_id, is_training)
        SELECT moment, CASE WHEN number % 4 = 0 THEN 'grasp' ELSE 'partner' END,
               (ARRAY['flood', 'flood', 'flood', 'prep', 'wind'])[1 + number % 5], '{\"flood_depth\":80}', '', 'air',
               ST_SetSRID(ST_MakePoint(110 + number % 2700 * 0.001, 1), 4326), 1000 + number % 2700,
               (ARRAY['ID-JK', 'ID-JB', 'ID-JI'])[1 + number % 3],
               CASE WHEN number % 4 = 0 AND number / 4 < 49000 THEN 'card-' || 10000 + number / 4 END,
               CASE WHEN number % 4 <> 0 THEN 100000 + number END, number % 100 = 0
        FROM moments ORDER BY number DESC;
    INSERT INTO images (card_id, state, expected_until, object, due_at)
        SELECT 'card-' || number, state, moment, CASE WHEN state <> 'expected' THEN 'object-' || number END,
               CASE WHEN state = 'received' THEN moment END
        FROM generate_series(10000, 56999) AS number,
             LATERAL (SELECT CASE WHEN number < 55000 THEN 'published' WHEN number < 56000 THEN 'received'
                                  ELSE 'expected' END AS state,
                             timestamptz '2016-12-19T16:08:52Z' - number * interval '1 s' AS moment) AS of
        ORDER BY number DESC;
    INSERT INTO gauges
        SELECT 'GAUGE' || number, 'Pos', 'ID-JK', ST_SetSRID(ST_MakePoint(106.8, -6.2), 4326)
        FROM generate_series(0, 99) AS number;
    INSERT INTO gauge_readings
        SELECT 'GAUGE' || number % 100, moment - number % 100 * interval '1 s', number, 4, 'SIAGA IV' FROM moments;
    SET session_replication_role = origin;
    VACUUM ANALYZE";

/// A question to a store, and what it may cost.
struct Question {
    name: &'static str,
    /// Asks it; answers how much was found.
    ask: for<'s> fn(&'s dyn Store) -> BoxFuture<'s, usize>,
    /// The index by which it is answered; `None` when nothing that grows is read.
    index: Option<&'static str>,
    /// How many rows of the large tables are read for it at most.
    rows: i64,
}

/// A day has 550 changes and as many reports.
const QUESTIONS: &[Question] = &[
    Question {
        name: "the reports of the last hour",
        ask: |store| reports(store, AreaSelector::default(), None).boxed(),
        index: Some("reports_created_at"),
        rows: 50,
    },
    Question {
        name: "the floods reported in a city in the last hour",
        ask: |store| reports(store, city("jbd"), Some(DisasterType::Flood)).boxed(),
        index: Some("reports_created_at"),
        rows: 50,
    },
    Question {
        name: "how many reports a year has, up to a bound",
        ask: |store| {
            let query = ReportQuery {
                selector: AreaSelector::default(),
                disaster: None,
                training: false,
                window: Window::Within(period(365, 365)),
            };
            async move { count(store.count_reports(&query, 100).await) }.boxed()
        },
        index: Some("reports_created_at"),
        rows: 300,
    },
    Question {
        name: "the reports of each hour of a day",
        ask: |store| {
            let series = async {
                let query = ReportSeriesQuery {
                    selector: city("bdg"),
                    disaster: DisasterType::Flood,
                    training: false,
                    period: period(30, 1),
                };
                store
                    .report_series(&query)
                    .await
                    .unwrap()
                    .value
                    .iter()
                    .filter(|point| point.count > 0)
                    .count()
            };
            series.boxed()
        },
        index: Some("reports_created_at"),
        rows: 700,
    },
    Question {
        name: "the sums of a day's reports",
        ask: |store| {
            let summary = async {
                let window = Window::Within(period(30, 1));
                let query = ReportQuery {
                    selector: AreaSelector::default(),
                    disaster: None,
                    training: false,
                    window,
                };
                store.report_summary(&query).await.unwrap().value.by_source.len()
            };
            summary.boxed()
        },
        index: Some("reports_created_at"),
        rows: 700,
    },
    Question {
        name: "a report",
        ask: |store| async { found(store.report(100_000.try_into().unwrap()).await) }.boxed(),
        index: Some("reports_pkey"),
        rows: 1,
    },
    Question {
        name: "a card that has its report",
        ask: |store| async { found(store.card(&"card-12345".parse().unwrap()).await) }.boxed(),
        index: Some("reports_card_id"),
        rows: 2,
    },
    Question {
        name: "a card",
        ask: |store| async { found(store.card(&"card-59998".parse().unwrap()).await) }.boxed(),
        index: Some("cards_pkey"),
        rows: 1,
    },
    Question {
        name: "the cards of an old hour without a report",
        ask: |store| {
            let hours = |ago| now().before(Duration::from_hours(ago));
            async move { count(store.erase_unused_cards(hours(2_620)..hours(2_619), 100).await) }.boxed()
        },
        index: Some("cards_created_at"),
        rows: 100,
    },
    Question {
        name: "a new card",
        ask: |store| async { found(store.create_card(cards()[0].holder.clone()).await) }.boxed(),
        index: Some("cards_pkey"),
        rows: 0,
    },
    Question {
        name: "the report of a card",
        ask: |store| {
            let receive = async {
                let content = content(DisasterType::Flood, 0, place(0.5, 0.5));
                store.receive_card_report(&"card-59999".parse().unwrap(), content).await
            };
            receive.map(found).boxed()
        },
        index: Some("cards_pkey"),
        rows: 4,
    },
    Question {
        name: "a second report of a card",
        ask: |store| {
            let receive = async {
                let content = content(DisasterType::Flood, 0, place(0.5, 0.5));
                store.receive_card_report(&"card-12345".parse().unwrap(), content).await
            };
            receive.map(|received| usize::from(received.is_err())).boxed()
        },
        index: Some("reports_card_id"),
        rows: 2,
    },
    Question {
        name: "a post that has come",
        ask: |store| async { usize::from(receive(store, 100_001).await == Received::Existing) }.boxed(),
        index: Some("reports_post_id"),
        rows: 1,
    },
    Question {
        name: "a new post",
        ask: |store| async { usize::from(receive(store, 1).await == Received::Created) }.boxed(),
        index: Some("reports_post_id"),
        rows: 1,
    },
    Question {
        name: "the gauges of the last hour",
        ask: |store| gauges(store, AreaSelector::default()).boxed(),
        index: Some("gauge_readings_observed_at"),
        rows: 50,
    },
    Question {
        name: "the gauges of a province",
        ask: |store| {
            let province = AreaSelector { city: None, region: Some("ID-JK".to_owned()) };
            gauges(store, province).boxed()
        },
        index: Some("gauge_readings_observed_at"),
        rows: 50,
    },
    Question {
        name: "how many readings the last hour has",
        ask: |store| {
            let query = GaugeQuery { selector: AreaSelector::default(), window: HOUR };
            async move { count(store.count_readings(&query, 1_000).await) }.boxed()
        },
        index: Some("gauge_readings_observed_at"),
        rows: 50,
    },
    Question {
        name: "a reading of a gauge",
        ask: |store| {
            let (id, name, location) = ("GAUGE7".to_owned(), "Pos".to_owned(), place(0.0, 0.0));
            let readings = GaugeReadings { id, name, location, observations: vec![reading(0, 1.0)] };
            async { store.store_gauge(readings).await.unwrap() }.boxed()
        },
        index: Some("gauge_readings_pkey"),
        rows: 1,
    },
    Question {
        name: "the overview",
        ask: |store| async { store.overview().await.unwrap().into_iter().count() }.boxed(),
        index: Some("flood_changes_changed_at"),
        rows: 10,
    },
    Question {
        name: "the map",
        ask: |store| async { found(store.floods(&FloodQuery::default()).await) }.boxed(),
        index: None,
        rows: 3_000,
    },
    Question {
        name: "the highest states of a week",
        ask: |store| {
            let query = HistoryQuery { selector: AreaSelector::default(), period: period(30, 7) };
            async move { store.flood_archive(&query).await.unwrap().value.len() }.boxed()
        },
        index: Some("flood_changes_changed_at"),
        rows: 2_705 + 4_000,
    },
    Question {
        name: "the flooded areas of each hour of a week",
        ask: |store| {
            let query = HistoryQuery { selector: AreaSelector::default(), period: period(30, 7) };
            async move { store.flood_series(&query).await.unwrap().value.len() }.boxed()
        },
        index: Some("flood_changes_changed_at"),
        rows: 2_705 + 4_000,
    },
    Question {
        name: "the entries of two days",
        ask: |store| {
            let query = EntryQuery {
                selector: AreaSelector::default(),
                area: None,
                from: now().before(Duration::from_hours(48)),
                until: now(),
            };
            async move { store.flood_entries(&query).await.unwrap().value.len() }.boxed()
        },
        index: Some("flood_changes_changed_at"),
        rows: 1_200,
    },
    Question {
        name: "the entries of an area in 30 days",
        ask: |store| {
            let (from, until) = (now().before(Duration::from_hours(30 * 24)), now());
            let query = EntryQuery { selector: AreaSelector::default(), area: Some(id(1_234)), from, until };
            async move { store.flood_entries(&query).await.unwrap().value.len() }.boxed()
        },
        index: Some("flood_changes_pkey"),
        rows: 10,
    },
    Question {
        name: "the changes of an area",
        ask: |store| async { store.flood_log(id(1_234)).await.unwrap().len() }.boxed(),
        index: Some("flood_changes_pkey"),
        rows: 100,
    },
    Question {
        name: "the newest changes of an area before some time",
        ask: |store| {
            let before = Some(now().before(Duration::from_hours(30 * 24)));
            let query = LogQuery { area: id(1_234), before, most: 5 };
            async move { store.latest_flood_changes(&query).await.unwrap().len() }.boxed()
        },
        index: Some("flood_changes_pkey"),
        rows: 10,
    },
    Question {
        name: "a change of an area",
        ask: |store| {
            let by = Actor { subject: "test".to_owned(), username: None };
            let order = SetFloodState { area: id(1_234), state: Some(state(2)), by };
            async { found(store.set_flood_state(order).await) }.boxed()
        },
        index: Some("flood_changes_changed_at"),
        // The newest entry of all, and the one before of the area, for its run.
        rows: 5,
    },
];

fn city(code: &str) -> AreaSelector {
    AreaSelector { city: Some(code.to_owned()), region: None }
}

/// Some days of the past.
fn period(days_ago: u64, days: u64) -> Period {
    let day = Duration::from_hours(24);
    let start = now().before(day * u32::try_from(days_ago).unwrap());
    Period::new(start, start.after(day * u32::try_from(days).unwrap()), Duration::MAX).unwrap()
}

const HOUR: Window = Window::Last(Duration::from_hours(1));

fn found<T, E: std::fmt::Debug>(answer: Result<T, E>) -> usize {
    answer.map(|_| 1).unwrap()
}

fn count<E: std::fmt::Debug>(counted: Result<u64, E>) -> usize {
    counted.unwrap().try_into().unwrap()
}

async fn reports(store: &dyn Store, selector: AreaSelector, disaster: Option<DisasterType>) -> usize {
    let query = ReportQuery { selector, disaster, training: false, window: HOUR };
    store.reports(&query).await.unwrap().value.reports.len()
}

async fn gauges(store: &dyn Store, selector: AreaSelector) -> usize {
    store.gauges(&GaugeQuery { selector, window: HOUR }).await.unwrap().value.0.len()
}

async fn receive(store: &dyn Store, post_id: i64) -> Received {
    let content = content(DisasterType::Flood, 0, place(0.5, 0.5));
    store.receive_partner_report(PartnerReport { post_id, content }).await.unwrap()
}

/// What has been read in a database, as `PostgreSQL` counts it.
#[derive(Debug)]
struct Counts {
    /// How often all rows of one of the large tables were read.
    scans: i64,
    /// How many rows of them were read, or found in an index.
    rows: i64,
    /// How often each index was searched.
    searches: HashMap<String, i64>,
}

impl Counts {
    async fn of(connection: &mut PgConnection) -> Self {
        let sql = format!(
            "SELECT (SELECT sum(seq_scan) FROM pg_stat_user_tables WHERE relname IN {LARGE})::bigint,
                    (SELECT sum(seq_tup_read) FROM pg_stat_user_tables WHERE relname IN {LARGE})::bigint
                  + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname IN {LARGE})::bigint"
        );
        let (scans, rows) = sqlx::query_as(AssertSqlSafe(sql)).fetch_one(&mut *connection).await.unwrap();
        let searches = sqlx::query_as("SELECT indexrelname::text, idx_scan FROM pg_stat_user_indexes");
        let searches: Vec<(String, i64)> = searches.fetch_all(connection).await.unwrap();
        Self { scans, rows, searches: searches.into_iter().collect() }
    }
}

/// Ends all other sessions in the database and waits until they have added what they read to the counts.
async fn end_sessions(connection: &mut PgConnection) {
    const OTHERS: &str =
        "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
    let end = format!("SELECT pg_terminate_backend(pid) {OTHERS}");
    let left = format!("SELECT count(*) {OTHERS}");
    let left = async || {
        connection.execute(AssertSqlSafe(end.as_str())).await.unwrap();
        sqlx::query_scalar::<_, i64>(AssertSqlSafe(left.as_str())).fetch_one(&mut *connection).await.unwrap()
    };
    eventually("no other session is left", LONG, left, |left| *left == 0).await;
}

/// A database of a year, in which all statements are planned in one way.
async fn large_database(plans: &str) -> (Database, PgConnection) {
    let database = Database::with_fixture().await;
    let mut connection = PgConnection::connect(&database.url()).await.unwrap();
    for statement in YEAR.split(';') {
        connection.execute(statement).await.unwrap();
    }
    let name: String =
        sqlx::query_scalar("SELECT current_database()::text").fetch_one(&mut connection).await.unwrap();
    let set = format!("ALTER DATABASE {name} SET plan_cache_mode = {plans}");
    connection.execute(AssertSqlSafe(set)).await.unwrap();
    (database, connection)
}

#[test]
fn every_question_is_answered_by_its_index_in_a_large_database() {
    block_on(async {
        let mut faults = Vec::new();
        for plans in ["force_custom_plan", "force_generic_plan"] {
            let (database, mut connection) = large_database(plans).await;
            for Question { name, ask, index, rows: most } in QUESTIONS.iter().chain(&images::QUESTIONS) {
                let store = OpenPostgres.open(&database.settings()).await.unwrap().store;
                let before = Counts::of(&mut connection).await;
                let found = ask(&*store).await;
                drop(store);
                end_sessions(&mut connection).await;
                let after = Counts::of(&mut connection).await;

                assert!(found > 0, "{name}: nothing is found");
                let (scans, rows) = (after.scans - before.scans, after.rows - before.rows);
                let unused = index.filter(|index| after.searches[*index] == before.searches[*index]);
                if scans > 0 || rows > *most || unused.is_some() {
                    faults.push(format!("{name}, {plans}: {scans} scans, {rows} rows, unused: {unused:?}"));
                }
            }
        }
        assert!(faults.is_empty(), "{faults:#?}");
    });
}
