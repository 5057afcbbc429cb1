//! What quotas cost while they are needed.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use governor::clock::FakeRelativeClock;
use serde_json::json;
use siaga::internals::{Client, Quota, Quotas};

use super::{Before, MIB, is_alone};

fn client(number: u32) -> Client {
    IpAddr::from(Ipv4Addr::from_bits(number)).into()
}

#[test]
fn honest_clients_go_on_and_memory_stays_small_under_a_million_requests_of_a_hundred_thousand_addresses() {
    const TEST: &str = "honest_clients_go_on_and_memory_stays_small_under_a_million_requests_of_a_hundred_thousand_addresses";
    if !is_alone(&format!("memory::quotas::{TEST}")) {
        return;
    }
    const ADDRESSES: u32 = 100_000;
    const REQUESTS: u32 = 1_000_000;
    let clock = FakeRelativeClock::default();
    let settings = json!({ "per_second": 1, "burst": 2, "per_day": 100 });
    let settings: Quota = serde_json::from_value(settings).unwrap();
    let quotas = Quotas::new(settings, clock.clone());
    // Each sends a request, and half a second later another.
    let honest: Vec<Vec<Client>> = (0..5)
        .map(|group| (0..100).map(|number| client(0xC000_0000 + group * 100 + number)).collect())
        .collect();
    let before = Before::now();
    let (mut sent, mut accepted, mut refused) = (0_u32, 0_u32, 0_u32);
    // A second, in which every attacker sends ten requests.
    for number in 0..REQUESTS {
        let attacker = number % ADDRESSES;
        if quotas.fuse(Ipv4Addr::from_bits(attacker).into()).is_ok() {
            refused += u32::from(quotas.count(&client(attacker), None).is_err());
        }
        if number % ADDRESSES == 0 {
            let group = &honest[(number / ADDRESSES) as usize % honest.len()];
            for client in group {
                sent += 1;
                accepted += u32::from(quotas.count(client, None).is_ok());
            }
        }
        clock.advance(Duration::from_micros(1));
    }
    assert!(f64::from(accepted) > 0.9 * f64::from(sent), "{accepted} of {sent}");
    assert!(refused > REQUESTS / 2, "{refused}");
    assert!(quotas.tracked() >= ADDRESSES as usize);
    let grown = before.kept();
    assert!(grown < 100 * MIB, "{grown} bytes");
    clock.advance(Duration::from_hours(25));
    quotas.sweep();
    assert_eq!(quotas.tracked(), 0);
    let kept = before.kept();
    assert!(kept < grown / 2, "{kept} of {grown} bytes are given back");
    for client in honest.iter().flatten() {
        assert!(quotas.count(client, None).is_ok());
    }
}
