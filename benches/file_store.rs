//! The store in one file: writes against bare `SQLite` with the same durability, reads against the store in memory, and the
//! start with a long log. Prints one line for each; `cargo bench --bench file_store`.

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use figment::Figment;
use figment::providers::Serialized;
use futures::future::join_all;
use siaga::folder::{Dataset, Folder, FolderRules, FolderWriter};
use siaga::model::{Actor, AreaId, AreaLimit, Clock, FloodState, SystemClock};
use siaga::stores::file::OpenFile;
use siaga::stores::memory::MemoryStore;
use siaga::stores::{FloodQuery, OpenStore, Replace, SetFloodState, Store, StoreSettings};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, SqliteConnection};

const CONNECTIONS: u64 = 16;
/// How many areas have a state.
const AREAS: u64 = 600;
const ROUNDS: usize = 5;
const ROUND: Duration = Duration::from_secs(2);
const ENTRIES: i64 = 1_000_000;

fn settings(path: &Path) -> StoreSettings {
    StoreSettings::new(Figment::from(Serialized::default("siaga.file.path", path)), Arc::new(SystemClock))
}

async fn connect(path: &Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(Duration::from_secs(10))
        .disable_statement_logging();
    options.connect().await.expect("a connection")
}

/// Repeats something for a round; returns how often it was done in a second.
async fn rate<F: Future<Output = u64>>(mut work: impl FnMut() -> F) -> f64 {
    let (since, mut count) = (Instant::now(), 0);
    while since.elapsed() < ROUND {
        count += work().await;
    }
    count as f64 / since.elapsed().as_secs_f64()
}

fn write(number: u64) -> SetFloodState {
    let area = AreaId::try_from(number % AREAS + 1).expect("an area");
    let by = Actor { subject: "bench".to_owned(), username: None };
    SetFloodState { area, state: Some(FloodState::Minor), by, limit: AreaLimit::Everywhere }
}

async fn writes(store: &Arc<dyn Store>) -> f64 {
    let writers = (0..CONNECTIONS).map(|writer| {
        let store = Arc::clone(store);
        tokio::spawn(async move {
            let store = &store;
            let mut number = writer * 100;
            let set = || {
                number += 1;
                async move { store.set_flood_state(write(number)).await.map(|_| 1).expect("a change") }
            };
            rate(set).await
        })
    });
    join_all(writers).await.into_iter().map(|rate| rate.expect("a writer")).sum()
}

const INSERT: &str = "INSERT INTO log (area_id, changed_at, state, subject) VALUES (?, ?, 2, 'bench')";

/// Bare inserts over some connections, each insert in a transaction of its own.
async fn bare(path: &Path, connections: u64) -> f64 {
    let writers = (0..connections).map(|writer| {
        let path = path.to_owned();
        tokio::spawn(async move {
            let mut connection = connect(&path).await;
            let (since, mut count) = (Instant::now(), 0_i64);
            while since.elapsed() < ROUND {
                count += 1;
                let query = sqlx::query(INSERT).bind(writer.cast_signed()).bind(count);
                query.execute(&mut connection).await.expect("an insert");
            }
            count as f64 / since.elapsed().as_secs_f64()
        })
    });
    join_all(writers).await.into_iter().map(|rate| rate.expect("a writer")).sum()
}

async fn reads(store: &Arc<dyn Store>) -> f64 {
    let query = FloodQuery { minimum_state: Some(FloodState::Unknown), ..FloodQuery::default() };
    let read = || async {
        drop(black_box(store.floods(&query).await.expect("a read")));
        1
    };
    rate(read).await
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

async fn measure() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, data) = (folder.path().join("siaga.db"), folder.path().join("data"));
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let demo = || Dataset::load("demo", &FolderRules::default(), clock.now()).expect("the demo");
    demo().save(&FolderWriter::create(&data).expect("a folder")).expect("saved");
    let settings = settings(&path);
    let upkeep = OpenFile.upkeep().expect("upkeep");
    let imported = Folder::open(&data).expect("a folder");
    upkeep.import(&settings, &imported, Replace::Nothing).await.expect("imported");
    let in_file = OpenFile.open(&settings).await.expect("opened").store;
    let in_memory: Arc<dyn Store> = Arc::new(MemoryStore::new(demo(), Arc::clone(&clock)));

    // Before the writes, so that both have the same data.
    for store in [&in_file, &in_memory] {
        for area in 0..AREAS {
            store.set_flood_state(write(area)).await.expect("a change");
        }
    }
    let (mut of_file, mut of_memory) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        of_memory.push(reads(&in_memory).await);
        of_file.push(reads(&in_file).await);
    }
    let (file, memory) = (median(of_file), median(of_memory));
    println!("reads: {file:.0}/s; in memory {memory:.0}/s; ratio {:.3}", file / memory);
    let plain = folder.path().join("plain.db");
    let mut connection = connect(&plain).await;
    let table = "CREATE TABLE log (area_id INTEGER, changed_at INTEGER, state INTEGER, subject TEXT)";
    sqlx::query(table).execute(&mut connection).await.expect("a table");
    let (mut of_file, mut of_one, mut of_many) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        of_file.push(writes(&in_file).await);
        of_one.push(bare(&plain, 1).await);
        of_many.push(bare(&plain, CONNECTIONS).await);
    }
    let (file, one, many) = (median(of_file), median(of_one), median(of_many));
    println!(
        "writes by {CONNECTIONS}: {file:.0}/s; bare inserts: {one:.0}/s by one, {many:.0}/s by {CONNECTIONS}"
    );

    in_file.close().await;

    let mut connection = connect(&path).await;
    let fill = "
        WITH RECURSIVE entry (number) AS (SELECT 0 UNION ALL SELECT number + 1 FROM entry WHERE number < ?)
        INSERT OR REPLACE INTO flood_states
        SELECT number % 600 + 1, 1400000000000 + number * 60000, number % 4 + 1, NULL, 'control room' FROM entry";
    sqlx::query(fill).bind(ENTRIES).execute(&mut connection).await.expect("a log");
    connection.close().await.expect("closed");
    for _ in 0..3 {
        let since = Instant::now();
        let store = OpenFile.open(&settings).await.expect("opened").store;
        println!("start with {ENTRIES} entries: {:.2} s", since.elapsed().as_secs_f64());
        store.close().await;
    }
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("threads").block_on(measure());
}
