//! API keys.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use rocket::futures::future::join_all;
use rocket::tokio;

use super::{FreshStore, open};
use crate::fixture::now;
use siaga::auth::{ApiKey, KeyDigest, Scope};
use siaga::model::{AreaRule, Clock};
use siaga::stores::{KeyEntry, Store, StoreError, StoredKey};

fn entry(name: &str) -> KeyEntry {
    let key = ApiKey {
        name: name.to_owned(),
        sha256: KeyDigest::new(name),
        scopes: vec![Scope::FloodsWrite, Scope::CardsRead],
        areas: None,
        expires: None,
        per_second: None,
        per_day: None,
    };
    KeyEntry { key, owner: None }
}

async fn all_keys(store: &dyn Store) -> Vec<StoredKey> {
    store.keys().await.unwrap().value
}

pub async fn a_key_is_stored_unchanged(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    assert!(all_keys(&*store).await.is_empty());
    let before = store.keys_revision().await.unwrap();
    let most = NonZeroU32::MAX;
    let full = KeyEntry {
        key: ApiKey {
            scopes: Scope::ALL.to_vec(),
            expires: Some(now().saturating_add(Duration::from_millis(1)).to_utc()),
            per_second: NonZeroU32::new(1),
            per_day: Some(most),
            ..entry("kunci ☔").key
        },
        owner: Some("BPBD DKI".to_owned()),
    };
    store.create_key(full.clone()).await.unwrap();
    clock.set(now().saturating_add(Duration::from_secs(5)));
    store.create_key(entry("B")).await.unwrap();
    store.create_key(entry("a")).await.unwrap();
    let found = store.keys().await.unwrap();
    assert!(found.revision > before);
    assert_eq!(store.keys_revision().await.unwrap(), found.revision);
    let names: Vec<_> = found.value.iter().map(|key| key.entry.key.name.as_str()).collect();
    assert_eq!(names, ["B", "a", "kunci ☔"], "by name");
    let first = &found.value[2];
    assert_eq!(format!("{:?}", first.entry), format!("{full:?}"));
    assert!(first.entry.key.sha256 == full.key.sha256);
    assert_eq!((first.created_at, first.revoked_at, first.last_used), (now(), None, None));
    assert_eq!(found.value[0].created_at, now().saturating_add(Duration::from_secs(5)));
}

pub async fn names_and_hashes_of_keys_are_never_reused(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    store.create_key(entry("one")).await.unwrap();
    store.revoke_key("one").await.unwrap();
    let revision = store.keys_revision().await.unwrap();
    let other_hash = ApiKey { sha256: KeyDigest::new("other"), ..entry("one").key };
    let other_name = ApiKey { name: "other".to_owned(), ..entry("one").key };
    for key in [entry("one").key, other_hash, other_name] {
        let again = store.create_key(KeyEntry { key, owner: None }).await;
        assert!(matches!(again, Err(StoreError::Conflict { .. })), "{again:?}");
    }
    assert_eq!(store.keys_revision().await.unwrap(), revision, "nothing changed");
    assert_eq!(all_keys(&*store).await.len(), 1);
}

pub async fn a_revoked_key_stays_listed_with_its_first_revocation_time(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    store.create_key(entry("one")).await.unwrap();
    store.create_key(entry("other")).await.unwrap();
    let before = store.keys_revision().await.unwrap();
    let unknown = store.revoke_key("One").await;
    assert!(matches!(unknown, Err(StoreError::NotFound { .. })), "{unknown:?}");
    assert_eq!(store.keys_revision().await.unwrap(), before);
    store.revoke_key("one").await.unwrap();
    let after = store.keys_revision().await.unwrap();
    assert!(after > before);
    clock.set(now().saturating_add(Duration::from_secs(5)));
    store.revoke_key("one").await.unwrap();
    assert_eq!(store.keys_revision().await.unwrap(), after, "nothing changed");
    let revoked: Vec<_> = all_keys(&*store).await.iter().map(|key| key.revoked_at).collect();
    assert_eq!(revoked, [Some(now()), None]);
}

pub async fn the_latest_use_of_a_key_is_stored_without_bumping_the_revision(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    store.create_key(entry("one")).await.unwrap();
    store.create_key(entry("other")).await.unwrap();
    let revision = store.keys_revision().await.unwrap();
    let at = |seconds| now().saturating_add(Duration::from_secs(seconds));
    let used = |name: &str, seconds| (name.to_owned(), at(seconds));
    store.note_key_uses(&[]).await.unwrap();
    let uses = [used("one", 5), used("nobody's", 1), used("one", 7), used("one", 6)];
    store.note_key_uses(&uses).await.unwrap();
    store.note_key_uses(&[used("one", 3)]).await.unwrap();
    let last: Vec<_> = all_keys(&*store).await.iter().map(|key| key.last_used).collect();
    assert_eq!(last, [Some(at(7)), None]);
    assert_eq!(store.keys_revision().await.unwrap(), revision);
}

pub async fn exactly_one_concurrent_key_of_a_name_is_stored(fresh: &dyn FreshStore) {
    let (store, _) = open(fresh).await;
    let creating = (0..20).map(|number| {
        let store = Arc::clone(&store);
        let key = ApiKey { sha256: KeyDigest::new(&number.to_string()), ..entry("same").key };
        tokio::spawn(async move { store.create_key(KeyEntry { key, owner: None }).await })
    });
    let results = join_all(creating).await.into_iter().map(Result::unwrap);
    assert_eq!(results.flatten().count(), 1);
    assert_eq!(all_keys(&*store).await.len(), 1);
}

pub async fn the_areas_of_a_key_are_stored(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    let names = |name: &str| vec![name.to_owned(), "Depok".to_owned()];
    let areas = AreaRule::new([vec![], vec![], names("JAKARTA SELATAN"), names("Té\"bet")]).unwrap();
    let limited =
        |name: &str| KeyEntry { key: ApiKey { areas: Some(areas.clone()), ..entry(name).key }, owner: None };
    let before = store.keys_revision().await.unwrap();
    store.create_key(limited("limited")).await.unwrap();
    store.create_key(entry("other")).await.unwrap();
    let found = all_keys(&*store).await;
    assert_eq!(
        found.iter().map(|key| key.entry.key.areas.as_ref()).collect::<Vec<_>>(),
        [Some(&areas), None]
    );
    assert!(found[0].entry.key.sha256 == KeyDigest::new("limited"));
    assert!(store.keys_revision().await.unwrap() > before);
    for (name, hash) in [("limited", "new"), ("new", "limited"), ("other", "new"), ("new", "other")] {
        for KeyEntry { key, owner } in [entry(name), limited(name)] {
            let key = ApiKey { sha256: KeyDigest::new(hash), ..key };
            let again = store.create_key(KeyEntry { key, owner }).await;
            assert!(matches!(again, Err(StoreError::Conflict { .. })), "{name} {hash}: {again:?}");
        }
    }
    clock.set(now().saturating_add(Duration::from_secs(5)));
    store.note_key_uses(&[("limited".to_owned(), now())]).await.unwrap();
    store.revoke_key("limited").await.unwrap();
    let revoked = &all_keys(&*store).await[0];
    assert_eq!((revoked.last_used, revoked.revoked_at), (Some(now()), Some(clock.now())));
    assert_eq!(revoked.entry.key.areas.as_ref(), Some(&areas));
}

pub async fn ended_logins_have_ascending_numbers_and_are_kept_for_a_day(fresh: &dyn FreshStore) {
    let (store, clock) = open(fresh).await;
    assert_eq!(store.ended_logins().await.unwrap(), []);
    let mut revision = store.keys_revision().await.unwrap();
    for (hour, subject) in [(0, "oidc:ana"), (1, "oidc:budi"), (1, "oidc:ana")] {
        clock.set(now().saturating_add(Duration::from_hours(hour)));
        store.end_logins(subject).await.unwrap();
        let next = store.keys_revision().await.unwrap();
        assert!(next > revision);
        revision = next;
    }
    let all = store.ended_logins().await.unwrap();
    assert!(all.windows(2).all(|pair| pair[0].number < pair[1].number), "{all:?}");
    let subjects: Vec<_> = all.iter().map(|ended| ended.subject.as_str()).collect();
    assert_eq!(subjects, ["oidc:ana", "oidc:budi", "oidc:ana"]);
    clock.set(now().saturating_add(Duration::from_hours(24) + Duration::from_millis(1)));
    assert_eq!(store.ended_logins().await.unwrap(), all[1..]);
    store.end_logins("oidc:citra").await.unwrap();
    let last = store.ended_logins().await.unwrap();
    assert_eq!(last.len(), 3);
    assert!(last[2].number > all[2].number);
}
