//! The cost of queries in a large database: each uses its index with generic and custom plans.

#[path = "../../crates/siaga-conformance/src/fixture.rs"]
mod fixture;

use std::collections::HashMap;
use std::time::Duration;

use rocket::futures::FutureExt;
use rocket::futures::future::BoxFuture;
use siaga::model::bodies::{GaugeReadings, PartnerReport, SettingsUpdate};
use siaga::model::{Actor, AreaLimit, AreaSelector, DisasterType, Period, ReportContent};
use siaga::stores::postgres::OpenPostgres;
use siaga::stores::{
    EntryQuery, FloodQuery, GaugeQuery, HistoryQuery, LogQuery, OpenStore, ReceiveOutcome, ReportQuery,
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
use fixture::{cards, content, id, now, place, reading, state};

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

/// Runs a query on a store; returns the number of results.
type Run = for<'s> fn(&'s dyn Store) -> BoxFuture<'s, usize>;

/// A query and its cost: its index (`None` if no growing table is
/// read), and the maximum number of rows read from large tables.
struct Query(&'static str, Option<&'static str>, i64, Run);

/// A day has 550 changes and as many reports.
const QUERIES: &[Query] = &[
    Query("the reports of the last hour", Some("reports_created_at"), 50, |store| {
        async { store.reports(&of_reports(HOUR)).await.unwrap().value.reports.len() }.boxed()
    }),
    Query("how many reports a year has, up to a bound", Some("reports_created_at"), 300, |store| {
        let query = of_reports(Window::Within(period(365, 365)));
        async move { count(store.count_reports(&query, 100).await) }.boxed()
    }),
    Query("the reports of each hour of a day", Some("reports_created_at"), 700, |store| {
        let (disaster, period) = (DisasterType::Flood, period(30, 1));
        let selector = AreaSelector { city: Some("bdg".to_owned()), region: None };
        let query = ReportSeriesQuery { selector, disaster, training: false, period };
        let series = async move { store.report_series(&query).await.unwrap().value };
        series.map(|series| series.iter().filter(|point| point.count > 0).count()).boxed()
    }),
    Query("the sums of a day's reports", Some("reports_created_at"), 700, |store| {
        let query = of_reports(Window::Within(period(30, 1)));
        async move { store.report_summary(&query).await.unwrap().value.by_source.len() }.boxed()
    }),
    Query("a report", Some("reports_pkey"), 1, |store| {
        async { found(store.report(100_000.try_into().unwrap()).await) }.boxed()
    }),
    Query("a card that has its report", Some("reports_card_id"), 2, |store| {
        async { found(store.card(&"card-12345".parse().unwrap()).await) }.boxed()
    }),
    Query("a card", Some("cards_pkey"), 1, |store| {
        async { found(store.card(&"card-59998".parse().unwrap()).await) }.boxed()
    }),
    Query("the cards of an old hour without a report", Some("cards_created_at"), 100, |store| {
        let hours = |ago| now().saturating_sub(Duration::from_hours(ago));
        async move { count(store.erase_unused_cards(hours(2_620)..hours(2_619), 100).await) }.boxed()
    }),
    Query("a new card", Some("cards_pkey"), 0, |store| {
        async { found(store.create_card(cards()[0].holder.clone()).await) }.boxed()
    }),
    Query("the report of a card", Some("cards_pkey"), 4, |store| {
        async { found(store.receive_card_report(&"card-59999".parse().unwrap(), flood()).await) }.boxed()
    }),
    Query("a second report of a card", Some("reports_card_id"), 2, |store| {
        let received = async { store.receive_card_report(&"card-12345".parse().unwrap(), flood()).await };
        received.map(|received| usize::from(received.is_err())).boxed()
    }),
    Query("a post that has come", Some("reports_post_id"), 1, |store| {
        async { usize::from(receive(store, 100_001).await == ReceiveOutcome::Existing) }.boxed()
    }),
    Query("a new post", Some("reports_post_id"), 1, |store| {
        async { usize::from(receive(store, 1).await == ReceiveOutcome::Created) }.boxed()
    }),
    Query("the gauges of the last hour", Some("gauge_readings_observed_at"), 50, |store| {
        async { store.gauges(&of_gauges()).await.unwrap().value.0.len() }.boxed()
    }),
    // 103 gauges: the time of the 21st newest reading, and the readings since.
    Query("the newest readings of each gauge", Some("gauge_readings_pkey"), 5_000, |store| {
        let since = now().saturating_sub(Duration::from_hours(2));
        async move { store.recent_readings(since).await.unwrap().value.0.len() }.boxed()
    }),
    Query("how many readings the last hour has", Some("gauge_readings_observed_at"), 50, |store| {
        async { count(store.count_readings(&of_gauges(), 1_000).await) }.boxed()
    }),
    Query("a reading of a gauge", Some("gauge_readings_pkey"), 1, |store| {
        let (id, name, location) = ("GAUGE7".to_owned(), "Pos".to_owned(), place(0.0, 0.0));
        let readings = GaugeReadings {
            id,
            name,
            location,
            settings: SettingsUpdate::default(),
            observations: vec![reading(0, 1.0).into()],
        };
        async { store.store_gauge(readings).await.unwrap() }.boxed()
    }),
    Query("the overview", Some("flood_changes_changed_at"), 10, |store| {
        async { store.overview().await.unwrap().into_iter().count() }.boxed()
    }),
    Query("the map", None, 3_000, |store| {
        async { found(store.floods(&FloodQuery::default()).await) }.boxed()
    }),
    Query("the highest states of a week", Some("flood_changes_changed_at"), 2_705 + 4_000, |store| {
        async { store.flood_archive(&week()).await.unwrap().value.len() }.boxed()
    }),
    Query("the flooded areas of each hour of a week", Some("flood_changes_changed_at"), 6_705, |store| {
        async { store.flood_series(&week()).await.unwrap().value.len() }.boxed()
    }),
    Query("the entries of two days", Some("flood_changes_changed_at"), 1_200, |store| {
        async { store.flood_entries(&entries(None, 2)).await.unwrap().value.len() }.boxed()
    }),
    Query("the entries of an area in 30 days", Some("flood_changes_pkey"), 10, |store| {
        async { store.flood_entries(&entries(Some(1_234), 30)).await.unwrap().value.len() }.boxed()
    }),
    Query("the changes of an area", Some("flood_changes_pkey"), 100, |store| {
        async { store.flood_log(id(1_234)).await.unwrap().len() }.boxed()
    }),
    Query("the newest changes of an area before some time", Some("flood_changes_pkey"), 10, |store| {
        let before = Some(now().saturating_sub(Duration::from_hours(30 * 24)));
        let query = LogQuery { area: id(1_234), before, most: 5 };
        async move { store.latest_flood_changes(&query).await.unwrap().len() }.boxed()
    }),
    // The newest entry of all, and the one before of the area, for its run.
    Query("a change of an area", Some("flood_changes_changed_at"), 5, |store| {
        let by = Actor { subject: "test".to_owned(), username: None };
        let write =
            SetFloodState { area: id(1_234), state: Some(state(2)), by, limit: AreaLimit::Everywhere };
        async { found(store.set_flood_state(write).await) }.boxed()
    }),
];

/// Some days of the past.
fn period(days_ago: u64, days: u64) -> Period {
    let day = Duration::from_hours(24);
    let start = now().saturating_sub(day * u32::try_from(days_ago).unwrap());
    Period::new(start, start.saturating_add(day * u32::try_from(days).unwrap()), Duration::MAX).unwrap()
}

const HOUR: Window = Window::Last(Duration::from_hours(1));

fn found<T, E: std::fmt::Debug>(response: Result<T, E>) -> usize {
    response.map(|_| 1).unwrap()
}

fn count<E: std::fmt::Debug>(counted: Result<u64, E>) -> usize {
    counted.unwrap().try_into().unwrap()
}

fn of_reports(window: Window) -> ReportQuery {
    ReportQuery { selector: AreaSelector::default(), disaster: None, training: false, window }
}

fn of_gauges() -> GaugeQuery {
    GaugeQuery { selector: AreaSelector::default(), window: HOUR, with_failed: true }
}

/// A week of the past.
fn week() -> HistoryQuery {
    HistoryQuery { selector: AreaSelector::default(), period: period(30, 7) }
}

/// The entries of an area, or of all, in the last days.
fn entries(area: Option<u64>, days: u64) -> EntryQuery {
    let (from, until) = (now().saturating_sub(Duration::from_hours(24 * days)), now());
    EntryQuery { selector: AreaSelector::default(), area: area.map(id), from, until }
}

fn flood() -> ReportContent {
    content(DisasterType::Flood, 0, place(0.5, 0.5))
}

async fn receive(store: &dyn Store, post_id: i64) -> ReceiveOutcome {
    store.receive_partner_report(PartnerReport { post_id, content: flood() }).await.unwrap()
}

/// `PostgreSQL`'s counters of reads in a database.
#[derive(Debug)]
struct Counts {
    /// Sequential scans of large tables.
    scans: i64,
    /// Rows read by scans or indexes.
    rows: i64,
    /// Scans of each index.
    searches: HashMap<String, i64>,
}

impl Counts {
    async fn read(connection: &mut PgConnection) -> Self {
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

/// Ends all other sessions of the database and waits until their counters are flushed.
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

/// A database of a year with one plan mode.
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

#[rocket::async_test]
async fn every_query_uses_its_index_in_a_large_database() {
    let mut faults = Vec::new();
    for plans in ["force_custom_plan", "force_generic_plan"] {
        let (database, mut connection) = large_database(plans).await;
        for Query(name, index, most, run) in QUERIES.iter().chain(&images::QUERIES) {
            let store = OpenPostgres.open(&database.settings()).await.unwrap().store;
            let before = Counts::read(&mut connection).await;
            let found = run(&*store).await;
            drop(store);
            end_sessions(&mut connection).await;
            let after = Counts::read(&mut connection).await;

            assert!(found > 0, "{name}: nothing is found");
            let (scans, rows) = (after.scans - before.scans, after.rows - before.rows);
            let unused = index.filter(|index| after.searches[*index] == before.searches[*index]);
            if scans > 0 || rows > *most || unused.is_some() {
                faults.push(format!("{name}, {plans}: {scans} scans, {rows} rows, unused: {unused:?}"));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}
