//! What a limit to areas costs a write: ten pairs of runs with and without one, in turn, on each store. Prints one line for each;
//! `tests/with-postgres cargo bench --bench limits`.

use std::env;
use std::sync::Arc;
use std::time::Instant;

use figment::Figment;
use figment::providers::Serialized;
use siaga::folder::{Dataset, Folder, FolderRules, FolderWriter};
use siaga::model::{Actor, AreaId, AreaLimit, AreaRule, Clock, FloodState, SystemClock};
use siaga::stores::file::OpenFile;
use siaga::stores::memory::MemoryStore;
use siaga::stores::postgres::OpenPostgres;
use siaga::stores::{OpenStore, Replace, SetFloodState, Store, StoreSettings};
use sqlx::{Connection, Executor, PgConnection};

const PAIRS: usize = 10;
/// The size of a city: so many larger areas are compared before the right one is found.
const PARENTS: usize = 44;

/// Returns the microseconds of a write.
async fn run(store: &dyn Store, limit: &AreaLimit, area: AreaId, writes: u32) -> f64 {
    let since = Instant::now();
    for _ in 0..writes {
        let by = Actor { subject: "bench".to_owned(), username: None };
        let change = SetFloodState { area, state: Some(FloodState::Minor), by, limit: limit.clone() };
        store.set_flood_state(change).await.expect("a change");
    }
    since.elapsed().as_secs_f64() * 1e6 / f64::from(writes)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    f64::midpoint(values[PAIRS / 2 - 1], values[PAIRS / 2])
}

async fn compare(name: &str, store: &dyn Store, writes: u32) {
    let places = store.places().await.expect("places").value;
    let area = &places.areas()[300];
    let others = (1..PARENTS).map(|number| format!("KELURAHAN {number}"));
    let parents = others.chain([area.parent_name.to_lowercase()]).collect();
    let rule = AreaRule::new([vec![], vec![], vec![area.city_name.clone()], parents]).expect("a rule");
    let limit = AreaLimit::Within([rule].into());
    run(store, &limit, area.id, writes).await;
    let (mut without, mut differences) = (Vec::new(), Vec::new());
    for pair in 0..PAIRS {
        let (one, other) =
            if pair % 2 == 0 { (&AreaLimit::Everywhere, &limit) } else { (&limit, &AreaLimit::Everywhere) };
        let first = run(store, one, area.id, writes).await;
        let second = run(store, other, area.id, writes).await;
        let (plain, limited) = if pair % 2 == 0 { (first, second) } else { (second, first) };
        without.push(plain);
        differences.push(limited - plain);
    }
    let (plain, more) = (median(without), median(differences));
    println!("{name}: {plain:.1} µs a write, with a limit {more:+.1} µs ({:+.1} %)", more / plain * 100.0);
}

async fn open(opener: &dyn OpenStore, key: &str, value: &str) -> Arc<dyn Store> {
    let figment = Figment::from(Serialized::default(key, value));
    let settings = StoreSettings::new(figment, Arc::new(SystemClock));
    let folder = tempfile::tempdir().expect("a folder");
    let demo = Dataset::load("demo", &FolderRules::default(), SystemClock.now()).expect("the demo");
    demo.save(&FolderWriter::create(folder.path()).expect("a folder")).expect("saved");
    let imported = Folder::open(folder.path()).expect("a folder");
    let upkeep = opener.upkeep().expect("upkeep");
    upkeep.import(&settings, &imported, Replace::Nothing).await.expect("imported");
    opener.open(&settings).await.expect("opened").store
}

async fn measure() {
    let demo = Dataset::load("demo", &FolderRules::default(), SystemClock.now()).expect("the demo");
    compare("memory", &MemoryStore::new(demo, Arc::new(SystemClock)), 20_000).await;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("siaga.db");
    let file = open(&OpenFile, "siaga.file.path", path.to_str().expect("a path")).await;
    compare("file", &*file, 500).await;
    file.close().await;
    let url = env::var("TEST_DATABASE_URL").expect("TEST_DATABASE_URL: run by tests/with-postgres");
    let mut connection = PgConnection::connect(&url).await.expect("a database");
    connection.execute("CREATE DATABASE limits TEMPLATE template0").await.expect("a database");
    let url = url.rsplit_once('/').map(|(server, _)| format!("{server}/limits")).expect("an address");
    let postgres = open(&OpenPostgres, "databases.siaga.url", &url).await;
    compare("PostgreSQL", &*postgres, 500).await;
    postgres.close().await;
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("threads").block_on(measure());
}
