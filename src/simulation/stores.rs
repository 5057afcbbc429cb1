//! The same workload in real time, on the stores that keep data.

use std::sync::Arc;

use rocket::futures::future::join_all;
use rocket::tokio::runtime::Builder;
use rocket::tokio::task::LocalSet;
use rocket::tokio::time::Instant;

use self::file::StoreFile;
use self::postgres::Database;
use super::clock::SteppingClock;
use super::simulate_in_real_time;
use crate::model::Clock;
use crate::stores::file::OpenFile;
use crate::stores::postgres::OpenPostgres;
use crate::stores::{OpenStore, Store, StoreSettings};

#[path = "../../tests/common/file.rs"]
mod file;
#[path = "../../tests/common/postgres.rs"]
mod postgres;

const SEEDS: u64 = 20;
/// How many servers share a database.
const SERVERS: usize = 2;

fn check_seeds<D>(open: impl AsyncFn(Arc<dyn Clock>) -> (D, Vec<Arc<dyn Store>>)) {
    let runtime = Builder::new_multi_thread().enable_all().build().unwrap();
    // The stores open outside the local set, because they block its thread.
    let opened: Vec<_> = runtime.block_on(join_all((0..SEEDS).map(async |seed| {
        let clock = Arc::new(SteppingClock::new(Instant::now()));
        let (data, stores) = open(Arc::clone(&clock) as _).await;
        (seed, clock, data, stores)
    })));
    let run = async |(seed, clock, _data, stores): &(u64, Arc<SteppingClock>, D, Vec<Arc<dyn Store>>)| {
        let violations = simulate_in_real_time(*seed, stores.clone(), Arc::clone(clock)).await;
        assert_eq!(violations, Vec::<String>::new(), "seed {seed}");
    };
    LocalSet::new().block_on(&runtime, join_all(opened.iter().map(run)));
    runtime.block_on(join_all(opened.iter().flat_map(|(_, _, _, stores)| stores).map(|store| store.close())));
}

#[test]
fn servers_on_one_database_tell_the_truth() {
    check_seeds(async |clock| {
        let database = Database::with_fixture().await;
        let settings = StoreSettings::new(database.figment(), clock);
        let mut stores = Vec::new();
        for _ in 0..SERVERS {
            stores.push(OpenPostgres.open(&settings).await.unwrap().store);
        }
        (database, stores)
    });
}

#[test]
fn a_server_on_a_file_tells_the_truth() {
    check_seeds(async |clock| {
        let file = StoreFile::with_fixture().await;
        let settings = StoreSettings::new(file.figment(), clock);
        let store = OpenFile.open(&settings).await.unwrap().store;
        (file, vec![store])
    });
}
