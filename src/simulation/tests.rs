use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::simulate;

const FIXED_SEEDS: u64 = 2_000;

fn number(variable: &str) -> Option<u64> {
    env::var(variable).ok().map(|text| text.parse().expect(variable))
}

/// Simulates seeds on all processors until `ends`, and returns how many. Panics with the first seed that breaks a rule.
fn simulate_seeds(first: u64, ends: impl Fn(u64) -> bool + Sync) -> u64 {
    let (next, failed) = (AtomicU64::new(first), Mutex::new(None));
    let work = || {
        while failed.lock().unwrap().is_none() {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if ends(seed) {
                return;
            }
            let violations = catch_unwind(|| simulate(seed).violations);
            let violations = violations.unwrap_or_else(|_| vec!["a panic".to_owned()]);
            if let Some(first) = violations.first() {
                failed.lock().unwrap().get_or_insert_with(|| (seed, first.clone()));
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().unwrap().get() {
            scope.spawn(AssertUnwindSafe(work));
        }
    });
    if let Some((seed, violation)) = failed.into_inner().unwrap() {
        panic!(
            "SIMULATION_SEED={seed} cargo test --locked --workspace --lib simulation -- --nocapture: {violation}"
        );
    }
    next.into_inner() - first
}

/// `SIMULATION_SEED` repeats one seed with its trace, `SIMULATION_SECONDS` tries fresh seeds for a time.
#[test]
fn servers_tell_the_truth_under_every_seed() {
    if let Some(seed) = number("SIMULATION_SEED") {
        let outcome = simulate(seed);
        outcome.trace.iter().for_each(|line| println!("{line}"));
        assert_eq!(outcome.violations, Vec::<String>::new());
        return;
    }
    let begun = Instant::now();
    let count = match number("SIMULATION_SECONDS") {
        Some(seconds) => {
            let first = u64::from_str_radix(&crate::auth::random::hex::<7>().unwrap(), 16).unwrap();
            println!("seeds from {first}");
            simulate_seeds(first, |_| begun.elapsed() >= Duration::from_secs(seconds))
        }
        None => simulate_seeds(0, |seed| seed >= FIXED_SEEDS),
    };
    println!("{count} seeds in {:?}", begun.elapsed());
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    for seed in 0..100 {
        assert_eq!(simulate(seed), simulate(seed), "SIMULATION_SEED={seed}");
    }
}
