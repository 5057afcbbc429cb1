//! The quotas by themselves, by a clock that the tests move.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::num::NonZeroU32;
use std::time::Duration;

use super::{Client, Quotas};
use crate::auth::{CredentialKind, OwnQuota};
use crate::config;
use governor::clock::FakeRelativeClock;
use serde_json::json;

fn quotas(settings: serde_json::Value) -> (Quotas<FakeRelativeClock>, FakeRelativeClock) {
    let clock = FakeRelativeClock::default();
    let settings: config::Quota = serde_json::from_value(settings).unwrap();
    (Quotas::new(settings, clock.clone()), clock)
}

fn client(number: u32) -> Client {
    IpAddr::from(Ipv4Addr::from_bits(number)).into()
}

fn credential(name: &str) -> Client {
    Client::Credential(CredentialKind::ApiKey, name.into())
}

/// How many of so many requests at once are taken.
fn taken(quotas: &Quotas<FakeRelativeClock>, client: &Client, own: Option<OwnQuota>, of: u32) -> u32 {
    (0..of).map(|_| u32::from(quotas.count(client, own).is_ok())).sum()
}

#[test]
fn a_client_has_a_burst_and_then_its_rate() {
    let (quotas, clock) = quotas(json!({ "per_second": 10, "burst": 30, "per_day": 0 }));
    assert_eq!(taken(&quotas, &client(1), None, 100), 30);
    let too_many = quotas.count(&client(1), None).unwrap_err();
    assert_eq!(too_many.retry_after, Duration::from_millis(100));
    assert_eq!(too_many.standing.reset, Duration::from_secs(3));
    clock.advance(Duration::from_millis(99));
    assert_eq!(taken(&quotas, &client(1), None, 5), 0);
    clock.advance(Duration::from_millis(1));
    assert_eq!(taken(&quotas, &client(1), None, 5), 1);
    clock.advance(Duration::from_secs(1));
    assert_eq!(taken(&quotas, &client(1), None, 100), 10);
    clock.advance(Duration::from_hours(1));
    assert_eq!(taken(&quotas, &client(1), None, 100), 30);
}

#[test]
fn a_day_has_its_number_of_requests_and_gives_them_back_steadily() {
    let (quotas, clock) = quotas(json!({ "per_second": 0, "per_day": 2_400 }));
    assert_eq!(taken(&quotas, &client(1), None, 5_000), 2_400);
    clock.advance(Duration::from_hours(1));
    assert_eq!(taken(&quotas, &client(1), None, 5_000), 100);
    clock.advance(Duration::from_hours(24));
    assert_eq!(taken(&quotas, &client(1), None, 5_000), 2_400);
}

#[test]
fn what_the_second_refuses_does_not_use_up_the_day() {
    let (quotas, clock) = quotas(json!({ "per_second": 1, "burst": 1, "per_day": 1_000 }));
    assert_eq!(taken(&quotas, &client(1), None, 100_000), 1);
    clock.advance(Duration::from_secs(1));
    let standing = quotas.count(&client(1), None).unwrap().unwrap();
    assert_eq!((standing.limit, standing.remaining), (1, 0));
    for _ in 0..500 {
        clock.advance(Duration::from_secs(1));
        assert!(quotas.count(&client(1), None).is_ok());
    }
}

#[test]
fn a_credential_with_a_quota_of_its_own_has_that_and_others_the_usual_one() {
    let credential_quota = json!({ "per_second": 20, "burst": 40 });
    let (quotas, _) = quotas(json!({ "per_second": 1, "credential": credential_quota, "per_day": 1_000 }));
    let own =
        |second, day| Some(OwnQuota { per_second: NonZeroU32::new(second), per_day: NonZeroU32::new(day) });
    assert_eq!(taken(&quotas, &credential("a"), own(100, 0), 2_000), 200);
    assert_eq!(taken(&quotas, &credential("b"), own(100, 7), 2_000), 7);
    assert_eq!(taken(&quotas, &credential("c"), own(0, 7), 2_000), 7);
    assert_eq!(taken(&quotas, &credential("e"), None, 2_000), 40);
    quotas.sweep();
    assert_eq!(taken(&quotas, &credential("a"), own(100, 0), 10), 0, "a sweep forgets no debt");
}

#[test]
fn of_more_addresses_than_are_kept_new_ones_share_the_quota_of_their_network() {
    const KEPT: usize = 270_001;
    let (quotas, clock) = quotas(json!({
        "per_second": 1, "burst": 2, "credential": { "per_second": 1, "burst": 2 }, "per_day": 0, "fuse_per_second": 0,
    }));
    let early = client(1);
    assert!(quotas.count(&early, None).is_ok());
    for number in 0..2_000_000_u128 {
        let address = Ipv6Addr::from_bits((0x2001_0db8 << 96) | (number << 64));
        let _ = quotas.count(&IpAddr::from(address).into(), None);
    }
    assert!(quotas.tracked() <= KEPT, "{}", quotas.tracked());
    assert!(quotas.count(&early, None).is_ok(), "who is kept has a quota of its own");
    assert_eq!(taken(&quotas, &credential("known"), None, 5), 2, "as who has a credential");
    assert_eq!(taken(&quotas, &client(0x0A00_0001), None, 1), 1);
    assert_eq!(taken(&quotas, &client(0x0A00_0002), None, 2), 1, "neighbours share one");
    assert_eq!(taken(&quotas, &client(0x0B00_0001), None, 1), 1, "others have another");
    clock.advance(Duration::from_secs(10));
    quotas.sweep();
    assert_eq!(quotas.tracked(), 0);
    assert_eq!(taken(&quotas, &client(0x0A00_0001), None, 5), 2);
}

#[test]
fn other_settings_count_anew_and_the_same_go_on() {
    let settings = |burst: u32| serde_json::from_value(json!({ "per_second": 1, "burst": burst })).unwrap();
    let (quotas, _) = quotas(json!({ "per_second": 1, "burst": 2 }));
    let client = client(1);
    assert_eq!(taken(&quotas, &client, None, 5), 2);
    quotas.change(settings(2));
    assert_eq!(taken(&quotas, &client, None, 5), 0);
    quotas.change(settings(3));
    assert_eq!(taken(&quotas, &client, None, 5), 3);
}

#[test]
fn thousands_of_phones_behind_one_address_may_poll_each_minute_if_their_responses_are_ready() {
    const PHONES: u32 = 5_000;
    let (quotas, clock) = quotas(json!({}));
    let operator = client(1);
    for _ in 0..60 * PHONES {
        assert!(quotas.fuse(IpAddr::from(Ipv4Addr::from_bits(1))).is_ok());
        assert!(quotas.count(&operator, None).is_ok());
        quotas.was_ready(&operator, None);
        clock.advance(Duration::from_mins(1) / PHONES);
    }
    // A tenth of 83 a second is far from 20, and nothing of the day is used.
    assert_eq!(taken(&quotas, &operator, None, 100), 40);
}

#[test]
fn what_was_ready_counts_a_tenth_by_the_second_and_gives_back_no_more_than_was_taken() {
    let (quotas, _) = quotas(json!({ "per_second": 1, "burst": 10, "per_day": 1_000 }));
    for _ in 0..50 {
        assert!(quotas.count(&client(1), None).is_ok());
        quotas.was_ready(&client(1), None);
    }
    assert_eq!(taken(&quotas, &client(1), None, 100), 5, "50 tenths of ten");
    quotas.was_ready(&client(2), None);
    assert_eq!(taken(&quotas, &client(2), None, 100), 10, "a client that is not counted");
}
