//! The suite every [`Store`] must pass.
//!
//! A behaviour takes a fresh store that holds [`fixture::dataset`] and takes its time from the
//! clock given, and panics when the store behaves otherwise.

pub mod floods;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;

use super::fixture;
use crate::model::{Clock, ManualClock, Timestamp};
use crate::stores::Store;

/// Opens the stores under test.
#[async_trait]
pub trait FreshStore: Sync {
    /// A store of its own that holds [`fixture::dataset`] and takes its time from `clock`.
    async fn open(&self, clock: Arc<dyn Clock>) -> Arc<dyn Store>;
}

/// A clock that moves a millisecond on each time it is read, so that a time read too early shows.
#[derive(Debug, Default)]
pub(super) struct TickingClock(AtomicU64);

impl Clock for TickingClock {
    fn now(&self) -> Timestamp {
        fixture::now().after(Duration::from_millis(self.0.fetch_add(1, Ordering::SeqCst)))
    }
}

/// A fresh store and its clock, which stands at [`fixture::now`].
pub(super) async fn open(fresh: &dyn FreshStore) -> (Arc<dyn Store>, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::new(fixture::now()));
    (fresh.open(Arc::clone(&clock) as _).await, clock)
}

/// Makes a test of each behaviour of the suite, for the store that an expression of a
/// [`FreshStore`] opens.
#[macro_export]
macro_rules! store_suite {
    ($fresh:expr) => {
        $crate::store_suite! { $fresh =>
            every_area_is_listed_by_number_with_its_current_state,
            a_minimum_state_leaves_out_lower_states_and_areas_without_one,
            a_selector_leaves_out_other_cities_and_provinces,
            only_areas_with_a_state_are_listed_as_states,
            a_set_state_is_current_and_logged_with_who_set_it,
            setting_the_state_an_area_has_is_a_change_too,
            a_cleared_area_stays_on_the_map_without_a_state,
            clearing_an_area_without_a_state_is_logged,
            an_unknown_area_is_not_found_and_nothing_changes,
            a_revision_grows_with_every_change_and_nothing_else,
            the_log_ascends_though_the_clock_steps_back,
            the_newest_of_concurrent_changes_is_the_current_state,
            a_state_that_is_seen_is_in_the_log,
            the_archive_gives_the_highest_state_in_effect,
            the_archive_counts_a_change_just_made,
            the_series_counts_flooded_areas_at_each_hour,
        }
    };
    ($fresh:expr => $($behaviour:ident,)+) => {
        $(
            #[test]
            fn $behaviour() {
                $crate::conformance::block_on($crate::conformance::stores::floods::$behaviour(&$fresh));
            }
        )+
    };
}
