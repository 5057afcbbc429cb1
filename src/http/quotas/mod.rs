//! Limits how many requests each client may send, and how many clients wait for changes. Uses only the client of a request.
//!
//! Each window is the GCRA of the `governor` crate: a client that has been idle may send a burst, and regains its requests one by
//! one at a steady pace. A rejected request does not count in the window that rejects it.

mod bounded_counters;
mod client;
mod guess_limiter;
mod hourly_limiter;
mod limiter;
mod review_policy;
mod stream_limiter;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use arc_swap::ArcSwap;
use governor::clock::{Clock, MonotonicClock};
use rocket::fairing::{AdHoc, Fairing};
use rocket::tokio::time;

pub use self::client::Client;
use self::guess_limiter::GuessLimiter;
pub(crate) use self::hourly_limiter::HourlyLimiter;
use self::limiter::Limiter;
pub(crate) use self::review_policy::ReviewPolicy;
pub(crate) use self::stream_limiter::StreamLimiter;
use crate::auth::OwnQuota;
use crate::config::{self, PositiveCount, Rate};
pub(crate) use crate::http::concurrency_limiter::ConcurrencyPermit;
use crate::runtime::run_in_background;

const SWEEP: Duration = Duration::from_secs(20);

/// The client's quota in the window in which it has the fewest requests left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuotaState {
    /// How many requests the window allows when nothing is used: the burst, or the quota of the day.
    pub limit: u32,
    /// How many of these requests are left.
    pub remaining: u32,
    /// Time until all requests are available again, if the client sends no further request.
    pub reset: Duration,
}

/// The error of a request that exceeds the quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMany {
    /// The client's quota.
    pub quota: QuotaState,
    /// Time until the client may send the next request.
    pub retry_after: Duration,
}

/// Counts the requests of each client, by a clock that never goes backwards.
///
/// A count takes little more memory than its key, and is dropped once the client has its whole quota again. Each window counts at
/// most 200,000 addresses; beyond that, new ones share the quota of their network.
pub struct Quotas<C: Clock = MonotonicClock> {
    clock: C,
    counts: ArcSwap<Counts<C>>,
}

struct Counts<C: Clock> {
    clock: C,
    settings: config::Quota,
    hard_limit: Option<Limiter<C>>,
    /// Limits the requests for unknown cards from each address without a credential.
    unknown_cards: Option<GuessLimiter<C>>,
    addresses: Windows<C>,
    credentials: Windows<C>,
    /// The windows of credentials with their own quotas, one entry per distinct quota.
    by_credential_quota: RwLock<HashMap<OwnQuota, Arc<Windows<C>>>>,
}

struct Windows<C: Clock> {
    second: Option<Limiter<C>>,
    day: Option<Limiter<C>>,
}

impl<C: Clock + Clone> Quotas<C> {
    /// Creates the counts for these settings. `clock` provides the time.
    #[must_use]
    pub fn new(settings: config::Quota, clock: C) -> Self {
        Self { counts: ArcSwap::from_pointee(Counts::new(settings, clock.clone())), clock }
    }

    pub(crate) fn update_settings(&self, settings: config::Quota) {
        if !self.counts.load().settings.has_same_limits(&settings) {
            self.counts.store(Arc::new(Counts::new(settings, self.clock.clone())));
        }
    }

    /// Counts a request against the hard limit of its address per second (`fuse_per_second`), which applies with and without a
    /// credential.
    ///
    /// # Errors
    ///
    /// [`TooMany`] if the request exceeds the hard limit.
    pub fn check_hard_limit(&self, address: IpAddr) -> Result<(), TooMany> {
        let counts = self.counts.load();
        counts.hard_limit.as_ref().map_or(Ok(()), |limiter| limiter.count(&address.into()).map(drop))
    }

    /// Checks that an address without a credential may request a card. Fails if the address has requested too many unknown cards.
    pub(crate) fn check_guess(&self, address: IpAddr) -> Result<(), TooMany> {
        self.counts.load().unknown_cards.as_ref().map_or(Ok(()), |guesses| guesses.check(&address.into()))
    }

    pub(crate) fn count_guess(&self, address: IpAddr) {
        if let Some(guesses) = &self.counts.load().unknown_cards {
            guesses.count(&address.into());
        }
    }

    /// Counts a request. Returns the client's quota afterwards, or `None` if no quota is set.
    ///
    /// # Errors
    ///
    /// [`TooMany`] if the request exceeds the quota.
    pub fn count(&self, client: &Client, quota: Option<OwnQuota>) -> Result<Option<QuotaState>, TooMany> {
        self.counts.load().with_windows(client, quota, |windows| windows.count(client))
    }

    /// Charges an expensive request as `requests` more requests, minus the `before` that were charged earlier. The total is at
    /// most half of the burst of each window. Returns the quota afterwards, or `None` if nothing is charged.
    pub(crate) fn charge(
        &self,
        client: &Client,
        quota: Option<OwnQuota>,
        before: u32,
        requests: u32,
    ) -> Result<Option<QuotaState>, TooMany> {
        self.counts.load().with_windows(client, quota, |windows| windows.charge(client, before, requests))
    }

    /// Refunds a request that was served from the cache: nine tenths in the window of a second, all of it in the window of a day.
    pub fn refund_cache_hit(&self, client: &Client, quota: Option<OwnQuota>) {
        self.counts.load().with_windows(client, quota, |windows| windows.refund_cache_hit(client));
    }

    /// Drops the counts of clients that have their whole quota again, and releases the memory.
    pub fn sweep(&self) {
        let counts = self.counts.load();
        counts.hard_limit.iter().for_each(Limiter::sweep);
        counts.unknown_cards.iter().for_each(GuessLimiter::sweep);
        counts.addresses.sweep();
        counts.credentials.sweep();
        let mut by_quota = counts.by_credential_quota.write().unwrap_or_else(PoisonError::into_inner);
        by_quota.retain(|_, windows| {
            windows.sweep();
            windows.client_count() > 0
        });
    }

    /// Returns the number of counted clients, in the window that counts the most.
    #[must_use]
    pub fn client_count(&self) -> usize {
        let counts = self.counts.load();
        let fuse = counts.hard_limit.as_ref().map_or(0, Limiter::client_count);
        fuse.max(counts.addresses.client_count()).max(counts.credentials.client_count())
    }
}

impl<C: Clock + Clone> Counts<C> {
    fn new(settings: config::Quota, clock: C) -> Self {
        let fuse = settings.fuse_per_second.get();
        let windows = |second: Rate, burst: PositiveCount| Windows {
            second: second.get().map(|rate| Limiter::per_second(rate, burst.get(), &clock)),
            day: settings.per_day.get().map(|rate| Limiter::per_day(rate, &clock)),
        };
        let credential = settings.credential;
        Self {
            hard_limit: fuse.map(|rate| Limiter::per_second(rate, rate, &clock)),
            unknown_cards: settings.unknown_cards.get().map(|limit| GuessLimiter::new(limit, clock.clone())),
            addresses: windows(settings.per_second, settings.burst),
            credentials: windows(credential.per_second, credential.burst),
            by_credential_quota: RwLock::default(),
            settings,
            clock,
        }
    }

    /// Calls `act` with the windows of the credential's own quota, or else with those for all credentials or all addresses.
    fn with_windows<R>(
        &self,
        client: &Client,
        quota: Option<OwnQuota>,
        act: impl FnOnce(&Windows<C>) -> R,
    ) -> R {
        match (client, quota) {
            (_, Some(quota)) => act(&self.windows(quota)),
            (Client::Credential(..), None) => act(&self.credentials),
            (_, None) => act(&self.addresses),
        }
    }

    fn windows(&self, quota: OwnQuota) -> Arc<Windows<C>> {
        let existing =
            self.by_credential_quota.read().unwrap_or_else(PoisonError::into_inner).get(&quota).cloned();
        existing.unwrap_or_else(|| {
            let mut by_quota = self.by_credential_quota.write().unwrap_or_else(PoisonError::into_inner);
            let create = || {
                let second = quota.per_second.or(self.settings.credential.per_second.get());
                let day = quota.per_day.or(self.settings.per_day.get());
                Arc::new(Windows {
                    second: second.map(|rate| Limiter::per_second(rate, self.burst(rate), &self.clock)),
                    day: day.map(|rate| Limiter::per_day(rate, &self.clock)),
                })
            };
            Arc::clone(by_quota.entry(quota).or_insert_with(create))
        })
    }

    /// Returns the burst for a rate, in the same proportion as the configured burst to the configured rate.
    fn burst(&self, rate: NonZeroU32) -> NonZeroU32 {
        let credential = self.settings.credential;
        let burst = u64::from(credential.burst.get().get());
        let configured = credential.per_second.get().unwrap_or(credential.burst.get());
        let share = (u64::from(rate.get()) * burst).div_ceil(u64::from(configured.get()));
        NonZeroU32::new(share.try_into().unwrap_or(u32::MAX)).unwrap_or(rate)
    }
}

impl<C: Clock + Clone> Windows<C> {
    fn count(&self, client: &Client) -> Result<Option<QuotaState>, TooMany> {
        self.apply(|window| window.count(client).map(Some))
    }

    fn charge(&self, client: &Client, before: u32, requests: u32) -> Result<Option<QuotaState>, TooMany> {
        self.apply(|window| window.charge(client, before, requests))
    }

    /// Refunds nine tenths of a request for the second, and all of it for the day.
    fn refund_cache_hit(&self, client: &Client) {
        for (window, tenths) in [(&self.second, 9), (&self.day, 10)] {
            if let Some(window) = window {
                window.refund(client, tenths);
            }
        }
    }

    fn apply(
        &self,
        act: impl Fn(&Limiter<C>) -> Result<Option<QuotaState>, TooMany>,
    ) -> Result<Option<QuotaState>, TooMany> {
        // The shorter window comes first, so that a request that this window rejects does not count against the day.
        let mut quotas = Vec::with_capacity(2);
        for window in self.second.iter().chain(&self.day) {
            quotas.extend(act(window)?);
        }
        Ok(quotas.into_iter().min_by_key(|quota| quota.remaining))
    }

    fn sweep(&self) {
        self.second.iter().chain(&self.day).for_each(Limiter::sweep);
    }

    fn client_count(&self) -> usize {
        self.second.iter().chain(&self.day).map(Limiter::client_count).max().unwrap_or(0)
    }
}

impl Quotas {
    /// Returns a fairing that removes expired counters periodically.
    #[must_use]
    pub(crate) fn sweeper(self: Arc<Self>) -> impl Fairing {
        let task = async move {
            loop {
                time::sleep(SWEEP).await;
                self.sweep();
            }
        };
        AdHoc::on_liftoff("Quotas", |rocket| Box::pin(async move { run_in_background(rocket, task) }))
    }
}

impl<C: Clock> fmt::Debug for Quotas<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Quotas").field("settings", &self.counts.load().settings).finish_non_exhaustive()
    }
}
