//! Histories of clients while servers are killed, a standby is promoted and the network fails: one order of all operations on each
//! area explains what each of them returned (docs/several-servers.md), and nothing shows a part of a batch.

mod clients;
mod search;

use std::collections::{BTreeSet, HashMap};
use std::env;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use self::clients::{AREAS, Client, History, Log, Write};
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
/// How far a server may be behind the others.
const LAG: Duration = Duration::from_secs(1);

/// A server with a port of its own, which it keeps.
struct Server {
    config: ServiceConfig,
    process: Running,
}

impl Server {
    fn start(config: &ServiceConfig) -> Self {
        let config = config.clone().with("ROCKET_PORT", &free_port().to_string());
        let process = config.start();
        Self { config, process }
    }

    fn kill_and_restart(&mut self) {
        self.process.process.kill().unwrap();
        self.process.process.wait().unwrap();
        self.process = self.config.start();
    }
}

/// Runs clients of several servers during events, which can wait for a number of further acknowledged writes, and checks the
/// history of the clients. The network between them and the servers fails now and then.
fn check_under(
    config: &ServiceConfig,
    count: usize,
    lag: Duration,
    events: impl FnOnce(&mut [Server], &dyn Fn(u64)),
) {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_nanos().into();
    let seed: u64 = env::var(SEED).map_or_else(|_| now(), |seed| seed.parse().expect(SEED));
    println!("{SEED}={seed}");
    let dice = |number: u64| Dice((seed + number).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut servers: Vec<_> = (0..count).map(|_| Server::start(config)).collect();
    let networks = servers.iter().map(|server| Proxy::before_authority(&server.process.authority));
    let networks: Vec<_> = networks.collect();
    let authorities: Vec<_> = networks.iter().map(Proxy::authority).collect();
    let (going, acknowledged, zero) = (AtomicBool::new(true), AtomicU64::new(0), Instant::now());
    let client = |number| Client::new(number, &authorities, zero, lag, &acknowledged, dice(number));
    let mut histories: Vec<History> = thread::scope(|scope| {
        let stop = Stop(&going);
        let clients = (0..CLIENTS).map(|number| {
            let (client, going) = (client(number), &going);
            scope.spawn(move || client.run(going))
        });
        let clients: Vec<_> = clients.collect();
        scope.spawn(|| {
            let mut dice = dice(CLIENTS);
            while going.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(30 + dice.below(200)));
                let network = &networks[usize::try_from(dice.below(count as u64)).unwrap()];
                network.cut();
                thread::sleep(Duration::from_millis(1 + dice.below(10)));
                network.restore();
            }
        });
        events(&mut servers, &|more| {
            let expected = acknowledged.load(Ordering::Relaxed) + more;
            let count = || acknowledged.load(Ordering::Relaxed);
            eventually_blocking("more is acknowledged", LONG, count, |count| *count >= expected);
        });
        drop(stop);
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    });
    // From then on, each server shows every change.
    thread::sleep(lag);
    let mut last = client(CLIENTS + 1);
    (0..10 * count).for_each(|_| last.read_map("/v1/floods/states"));
    let readable: BTreeSet<_> = last.history.reads.iter().map(|(_, read)| read.server).collect();
    assert_eq!(readable.len(), count, "each server responds");
    let log = last.read_whole_log();
    histories.push(last.history);
    check(&histories, &log);
}

fn check(histories: &[History], log: &Log) {
    let all = || histories.iter();
    let writes: HashMap<&str, &Write> =
        all().flat_map(|history| &history.writes).map(|write| (&*write.mark, write)).collect();
    let count = |is_counted: fn(&Write) -> bool| writes.values().filter(|write| is_counted(write)).count();
    let (acknowledged, unanswered) =
        (count(|write| write.end.is_some()), count(|write| write.end.is_none() && !write.refused));
    let (conflicts, stale): (u64, u64) =
        (all().map(|history| history.conflicts).sum(), all().map(|history| history.stale).sum());
    let snapshots: Vec<_> = all().flat_map(|history| &history.snapshots).collect();
    println!(
        "{acknowledged} writes acknowledged, {conflicts} conflicts, {unanswered} without a response, {} maps, {stale} stale",
        snapshots.len()
    );
    assert!(acknowledged > 0 && conflicts > 0 && unanswered > 0, "the clients disturb each other");
    for (mark, stored) in all().flat_map(|history| &history.pages).chain([log]).flatten() {
        let write = writes[&**mark];
        let expected: Vec<_> = write.changes.iter().map(|(area, (_, state))| (area, state)).collect();
        let shown: Vec<_> = stored.iter().map(|(area, version)| (area, &version.state)).collect();
        assert_eq!(shown, expected, "the log shows a part of {write:?}");
        let at = write.at.as_ref().or(stored.values().next().unwrap().at.as_ref());
        assert!(
            stored.values().all(|version| version.at.as_ref() == at),
            "{write:?} is logged as {stored:?}"
        );
        assert!(!write.refused, "refused, but executed: {write:?}");
    }
    for snapshot in snapshots {
        for (mark, stored) in log.iter().filter(|(_, stored)| stored.len() > 1) {
            // Whether the map shows this change of an area, or a later one.
            let has =
                |(area, version): (&u64, &Version)| Some(snapshot[area].at.as_ref()? >= version.at.as_ref()?);
            let shown: Vec<_> = stored.iter().filter_map(has).collect();
            let is_whole = shown.windows(2).all(|pair| pair[0] == pair[1]);
            assert!(is_whole, "a map shows a part of {mark}, {stored:?}: {snapshot:?}");
        }
    }
    for area in AREAS {
        let reads = all().flat_map(|history| &history.reads).filter(|(of, _)| *of == area);
        let writes = writes.values().filter_map(|write| {
            let (after, _) = write.changes.get(&area)?;
            let Some(stored) = log.get(&write.mark) else {
                assert!(write.end.is_none(), "acknowledged, but not in the log: {write:?}");
                return None;
            };
            let action = Action::Write(after.clone(), stored[&area].clone());
            let Write { server, begin, end, .. } = **write;
            Some(Operation { server, begin, end, lag: Duration::ZERO, action })
        });
        let mut operations: Vec<_> = reads.map(|(_, read)| read.clone()).chain(writes).collect();
        operations.sort_by_key(|operation| operation.begin);
        if let Err(excerpt) = find_order(&operations) {
            panic!("no order explains the {} operations on area {area}: {excerpt}", operations.len());
        }
    }
}

#[test]
fn clients_of_three_servers_see_one_history_when_a_server_is_killed_and_a_standby_promoted() {
    let (primary, standby) = block_on(primary_and_standby());
    let config =
        ServiceConfig::in_database(&url_of(&[&primary, &standby])).with("SIAGA_LIMITS__TIMEOUT", "5s");
    check_under(&config, 3, LAG, |servers, wait| {
        wait(200);
        servers[0].kill_and_restart();
        wait(100);
        primary.stop("immediate");
        // An operator needs some time to notice.
        thread::sleep(Duration::from_millis(1_500));
        standby.promote();
        wait(300);
    });
}

#[test]
fn clients_of_a_service_on_a_file_see_one_history_when_it_is_killed_again_and_again() {
    let file = file_with_areas();
    check_under(&ServiceConfig::in_file(&file.path()), 1, Duration::ZERO, |servers, wait| {
        for round in 0..10 {
            wait(40);
            thread::sleep(Duration::from_millis(17 * round));
            servers[0].kill_and_restart();
        }
        wait(40);
    });
}
