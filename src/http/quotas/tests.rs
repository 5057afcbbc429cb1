//! Tests the quotas with a fake clock.

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

fn accepted(quotas: &Quotas<FakeRelativeClock>, client: &Client, own: Option<OwnQuota>, count: u32) -> u32 {
    (0..count).map(|_| u32::from(quotas.count(client, own).is_ok())).sum()
}

#[test]
fn a_client_has_a_burst_and_then_its_rate() {
    let (quotas, clock) = quotas(json!({ "per_second": 10, "burst": 30, "per_day": 0 }));
    assert_eq!(accepted(&quotas, &client(1), None, 100), 30);
    let too_many = quotas.count(&client(1), None).unwrap_err();
    assert_eq!(too_many.retry_after, Duration::from_millis(100));
    assert_eq!(too_many.quota.reset, Duration::from_secs(3));
    clock.advance(Duration::from_millis(99));
    assert_eq!(accepted(&quotas, &client(1), None, 5), 0);
    clock.advance(Duration::from_millis(1));
    assert_eq!(accepted(&quotas, &client(1), None, 5), 1);
    clock.advance(Duration::from_secs(1));
    assert_eq!(accepted(&quotas, &client(1), None, 100), 10);
    clock.advance(Duration::from_hours(1));
    assert_eq!(accepted(&quotas, &client(1), None, 100), 30);
}

#[test]
fn the_daily_quota_refills_steadily() {
    let (quotas, clock) = quotas(json!({ "per_second": 0, "per_day": 2_400 }));
    assert_eq!(accepted(&quotas, &client(1), None, 5_000), 2_400);
    clock.advance(Duration::from_hours(1));
    assert_eq!(accepted(&quotas, &client(1), None, 5_000), 100);
    clock.advance(Duration::from_hours(24));
    assert_eq!(accepted(&quotas, &client(1), None, 5_000), 2_400);
}

#[test]
fn requests_rejected_by_the_second_do_not_use_up_the_day() {
    let (quotas, clock) = quotas(json!({ "per_second": 1, "burst": 1, "per_day": 1_000 }));
    assert_eq!(accepted(&quotas, &client(1), None, 100_000), 1);
    clock.advance(Duration::from_secs(1));
    let quota = quotas.count(&client(1), None).unwrap().unwrap();
    assert_eq!((quota.limit, quota.remaining), (1, 0));
    for _ in 0..500 {
        clock.advance(Duration::from_secs(1));
        assert!(quotas.count(&client(1), None).is_ok());
    }
}

#[test]
fn a_credentials_own_quota_replaces_the_configured_one() {
    let credential_quota = json!({ "per_second": 20, "burst": 40 });
    let (quotas, _) = quotas(json!({ "per_second": 1, "credential": credential_quota, "per_day": 1_000 }));
    let own =
        |second, day| Some(OwnQuota { per_second: NonZeroU32::new(second), per_day: NonZeroU32::new(day) });
    assert_eq!(accepted(&quotas, &credential("a"), own(100, 0), 2_000), 200);
    assert_eq!(accepted(&quotas, &credential("b"), own(100, 7), 2_000), 7);
    assert_eq!(accepted(&quotas, &credential("c"), own(0, 7), 2_000), 7);
    assert_eq!(accepted(&quotas, &credential("e"), None, 2_000), 40);
    quotas.sweep();
    assert_eq!(accepted(&quotas, &credential("a"), own(100, 0), 10), 0, "a sweep forgets no debt");
}

#[test]
fn addresses_beyond_the_limit_share_the_quota_of_their_network() {
    const MAX_CLIENTS: usize = 270_001;
    let (quotas, clock) = quotas(json!({
        "per_second": 1, "burst": 2, "credential": { "per_second": 1, "burst": 2 }, "per_day": 0, "fuse_per_second": 0,
    }));
    let early = client(1);
    assert!(quotas.count(&early, None).is_ok());
    for number in 0..2_000_000_u128 {
        let address = Ipv6Addr::from_bits((0x2001_0db8 << 96) | (number << 64));
        let _ = quotas.count(&IpAddr::from(address).into(), None);
    }
    assert!(quotas.client_count() <= MAX_CLIENTS, "{}", quotas.client_count());
    assert!(quotas.count(&early, None).is_ok(), "individually counted clients are unaffected");
    assert_eq!(accepted(&quotas, &credential("known"), None, 5), 2, "so are credentials");
    assert_eq!(accepted(&quotas, &client(0x0A00_0001), None, 1), 1);
    assert_eq!(accepted(&quotas, &client(0x0A00_0002), None, 2), 1, "neighbours share one");
    assert_eq!(accepted(&quotas, &client(0x0B00_0001), None, 1), 1, "others have another");
    clock.advance(Duration::from_secs(10));
    quotas.sweep();
    assert_eq!(quotas.client_count(), 0);
    assert_eq!(accepted(&quotas, &client(0x0A00_0001), None, 5), 2);
}

#[test]
fn counts_restart_only_if_the_limits_change() {
    let settings = |burst: u32| serde_json::from_value(json!({ "per_second": 1, "burst": burst })).unwrap();
    let (quotas, _) = quotas(json!({ "per_second": 1, "burst": 2 }));
    let client = client(1);
    assert_eq!(accepted(&quotas, &client, None, 5), 2);
    quotas.update_settings(settings(2));
    assert_eq!(accepted(&quotas, &client, None, 5), 0);
    quotas.update_settings(settings(3));
    assert_eq!(accepted(&quotas, &client, None, 5), 3);
}

#[test]
fn thousands_of_phones_behind_one_address_may_poll_cached_responses_each_minute() {
    const PHONES: u32 = 5_000;
    let (quotas, clock) = quotas(json!({}));
    let operator = client(1);
    for _ in 0..60 * PHONES {
        assert!(quotas.check_hard_limit(IpAddr::from(Ipv4Addr::from_bits(1))).is_ok());
        assert!(quotas.count(&operator, None).is_ok());
        quotas.refund_cache_hit(&operator, None);
        clock.advance(Duration::from_mins(1) / PHONES);
    }
    // Cache hits count a tenth, so 83 of them a second are below the limit of 20. The daily quota does not count them.
    assert_eq!(accepted(&quotas, &operator, None, 100), 40);
}

#[test]
fn cache_hits_count_a_tenth_and_refund_at_most_what_was_counted() {
    let (quotas, _) = quotas(json!({ "per_second": 1, "burst": 10, "per_day": 1_000 }));
    for _ in 0..50 {
        assert!(quotas.count(&client(1), None).is_ok());
        quotas.refund_cache_hit(&client(1), None);
    }
    assert_eq!(accepted(&quotas, &client(1), None, 100), 5, "50 tenths of ten");
    quotas.refund_cache_hit(&client(2), None);
    assert_eq!(accepted(&quotas, &client(2), None, 100), 10, "a client that is not counted");
}
