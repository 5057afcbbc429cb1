//! Histories of clients while servers are killed, a standby is promoted and the network fails: for each area, one order of all
//! operations explains what the clients received (docs/several-servers.md), and no response shows a part of a batch.

mod clients;
mod search;

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use self::clients::{AREAS, Client, Site, Write};
use self::search::{Action, Operation, Version, find_order};
use crate::cluster::url_of;
use crate::crashes::Stop;
use crate::dice::Dice;
use crate::eventually::{LONG, eventually_blocking};
use crate::failover::primary_and_standby;
use crate::fixture::block_on;
use crate::port::free_port;
use crate::proxy::Proxy;
use crate::running::Running;
use crate::service_config::{ServiceConfig, file_with_areas};

/// The environment variable that repeats the random choices of a run.
const SEED: &str = "HISTORY_SEED";
const CLIENTS: u64 = 6;

/// Runs clients of servers during events, which can restart a server and wait for more acknowledged writes, and checks what the
/// clients recorded. The network before the servers fails now and then. Returns the servers.
fn check_during(
    config: &ServiceConfig,
    count: usize,
    lag: Duration,
    events: impl FnOnce(&mut dyn FnMut(usize), &dyn Fn(u64)),
) -> Vec<Running> {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_nanos().into();
    let seed: u64 = env::var(SEED).map_or_else(|_| now(), |seed| seed.parse().expect(SEED));
    println!("{SEED}={seed}");
    let with_port = |_| config.clone().with("ROCKET_PORT", &free_port().to_string());
    let configs: Vec<_> = (0..count).map(with_port).collect();
    let mut servers: Vec<_> = configs.iter().map(ServiceConfig::start).collect();
    let networks: Vec<_> = servers.iter().map(|server| Proxy::before_authority(&server.authority)).collect();
    let site = Site {
        servers: networks.iter().map(Proxy::authority).collect(),
        lag,
        zero: Instant::now(),
        going: AtomicBool::new(true),
        acknowledged: AtomicU64::new(0),
    };
    let mut clients: Vec<_> = thread::scope(|scope| {
        let stop = Stop(&site.going);
        let clients = (0..CLIENTS).map(|number| Client::new(&site, number, seed));
        let clients: Vec<_> = clients.map(|client| scope.spawn(|| client.run())).collect();
        scope.spawn(|| {
            let mut dice = Dice(seed);
            while site.going.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(10 + dice.below(100)));
                let network = &networks[usize::try_from(dice.below(count as u64)).unwrap()];
                network.cut();
                thread::sleep(Duration::from_millis(1 + dice.below(10)));
                network.restore();
            }
        });
        let mut restart = |server: usize| {
            servers[server].process.kill().unwrap();
            servers[server].process.wait().unwrap();
            servers[server] = configs[server].start();
        };
        let acknowledged = || site.acknowledged.load(Ordering::Relaxed);
        events(&mut restart, &|more| {
            let expected = acknowledged() + more;
            eventually_blocking("more is acknowledged", LONG, acknowledged, |count| *count >= expected);
        });
        drop(stop);
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    });
    // After this time each server shows every change.
    thread::sleep(lag);
    let mut last = Client::new(&site, CLIENTS, seed);
    let readable = || {
        last.read_map("/v1/floods/states");
        last.reads.iter().map(|(_, read)| read.server).collect::<BTreeSet<_>>().len()
    };
    eventually_blocking("each server responds", LONG, readable, |servers| *servers == count);
    let logs = || {
        last.read_log();
        last.logs.len()
    };
    eventually_blocking("the whole log is read", LONG, logs, |logs| *logs > 0);
    clients.push(last);
    check(&clients);
    servers
}

fn check(clients: &[Client<'_>]) {
    let log = clients.last().and_then(|client| client.logs.last()).expect("the log at the end");
    let writes: BTreeMap<_, _> = clients.iter().flat_map(|client| &client.writes).collect();
    let snapshots: Vec<_> = clients.iter().flat_map(|client| &client.snapshots).collect();
    for (mark, stored) in clients.iter().flat_map(|client| &client.logs).flatten() {
        let Write { changes, is_refused, .. } = writes[mark];
        let sent = changes.iter().map(|(area, (_, state))| (area, state));
        let is_whole = stored.iter().map(|(area, version)| (area, &version.state)).eq(sent);
        assert!(is_whole && !is_refused, "refused: {is_refused}; sent: {changes:?}; in the log: {stored:?}");
    }
    for stored in log.values() {
        for snapshot in &snapshots {
            // Whether the map has this version of an area, or a later one; unknown if it has no time.
            let has =
                |(area, version): (&u64, &Version)| Some(snapshot[area].at.as_ref()? >= version.at.as_ref()?);
            let shown: Vec<_> = stored.iter().filter_map(has).collect();
            let is_whole = shown.windows(2).all(|two| two[0] == two[1]);
            let of_areas = || stored.keys().map(|area| &snapshot[area]).collect::<Vec<_>>();
            assert!(is_whole, "a map has {:?} after a batch of {stored:?}", of_areas());
        }
    }
    for area in 1..=AREAS {
        let writes = writes.iter().filter_map(|(mark, write)| {
            let (after, _) = write.changes.get(&area)?;
            let (stored, is_acknowledged) = (log.get(*mark), write.operation.end.is_some());
            assert!(stored.is_some() || !is_acknowledged, "not in the log: {mark}, {:?}", write.changes);
            let action = Action::Write(after.clone(), stored?[&area].clone());
            Some(Operation { action, ..write.operation.clone() })
        });
        let reads = clients.iter().flat_map(|client| &client.reads).filter(|(of, _)| *of == area);
        let mut operations: Vec<_> = reads.map(|(_, read)| read.clone()).chain(writes).collect();
        operations.sort_by_key(|operation| operation.begin);
        find_order(&operations).unwrap_or_else(|excerpt| panic!("area {area}: {excerpt}"));
    }
    let lost = log.keys().filter(|mark| writes[*mark].operation.end.is_none()).count();
    let refused = writes.values().filter(|write| write.is_refused).count();
    println!("{} writes stored, {lost} of them without a response; {refused} refused", log.len());
    assert!(refused > 0 && lost > 0, "clients were in conflict, and the network failed");
}

#[test]
fn clients_of_three_servers_see_one_history_while_a_server_is_killed_and_a_standby_promoted() {
    let (primary, standby) = block_on(primary_and_standby());
    let config =
        ServiceConfig::in_database(&url_of(&[&primary, &standby])).with("SIAGA_LIMITS__TIMEOUT", "5s");
    let mut servers = check_during(&config, 3, Duration::from_secs(1), |restart, wait| {
        wait(50);
        restart(0);
        wait(50);
        primary.stop("immediate");
        // An operator needs some time to notice.
        thread::sleep(Duration::from_secs(3));
        standby.promote();
        wait(100);
    });
    let log = servers.remove(1).kill();
    assert_eq!(log.matches("the database is written to at another host now").count(), 1, "{log}");
}

#[test]
fn clients_of_a_service_on_a_file_see_one_history_while_it_is_killed_again_and_again() {
    let file = file_with_areas();
    check_during(&ServiceConfig::in_file(&file.path()), 1, Duration::ZERO, |restart, wait| {
        for round in 0..6 {
            wait(25);
            thread::sleep(Duration::from_millis(17 * round));
            restart(0);
        }
        wait(25);
    });
}
