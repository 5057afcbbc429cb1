//! The suite that every [`Store`] must pass.
//!
//! Each function checks one behaviour: it opens a fresh store with [`fixture::dataset`] and a given clock, and panics if the
//! store behaves otherwise.

pub mod batches;
pub mod cards;
pub mod feeds;
pub mod floods;
pub mod gauges;
pub mod health;
pub mod images;
pub mod keys;
pub mod limits;
pub mod moderation;
pub mod overview;
pub mod places;
pub mod push;
pub mod reports;
pub mod sources;
pub mod uploads;
pub mod validity;
pub mod webhooks;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;

use super::fixture;
use siaga::model::{Clock, ManualClock, Timestamp};
use siaga::stores::Store;

/// Opens the stores under test.
#[async_trait]
pub trait FreshStore: Sync {
    /// Opens a new store with the data of [`fixture::dataset`] and the time of `clock`.
    async fn open(&self, clock: Arc<dyn Clock>) -> Arc<dyn Store>;
}

/// A clock that advances by a millisecond whenever it is read. Reveals a store that reads the time too early.
#[derive(Debug, Default)]
pub(super) struct TickingClock(AtomicU64);

impl Clock for TickingClock {
    fn now(&self) -> Timestamp {
        fixture::now().saturating_add(Duration::from_millis(self.0.fetch_add(1, Ordering::SeqCst)))
    }
}

/// Opens a fresh store with a clock at [`fixture::now`].
pub(super) async fn open(fresh: &dyn FreshStore) -> (Arc<dyn Store>, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::new(fixture::now()));
    (fresh.open(Arc::clone(&clock) as _).await, clock)
}

/// Defines a test for each behaviour of the suite, for the stores that a [`FreshStore`] expression opens.
///
/// Exclude behaviours that a decorator removes: `store_suite!(Fresh, except
/// floods::a_cleared_area_stays_on_the_map_without_a_state)`. Exclude whole parts first: `store_suite!(Fresh, without batches,
/// moderation)`. The suite sets all states from 1 to 4, and clears them, as subject `agency` with the user name `duty officer`.
#[macro_export]
macro_rules! store_suite {
    ($fresh:expr) => {
        $crate::store_suite!($fresh, except);
    };
    ($fresh:expr, without $($whole:ident),+ $(; except $($of:ident::$excepted:ident),* $(,)?)?) => {
        $crate::store_suite!($fresh, except $($($of::$excepted),*)?; without $($whole),+);
    };
    ($fresh:expr, except $($of:ident::$excepted:ident),* $(,)? $(; without $($whole:ident),+)?) => {
        // An unknown name does not compile.
        const _: () = {
            $(let _ = $crate::stores::$of::$excepted;)*
            $($(#[allow(unused_imports)] use $crate::stores::$whole;)+)?
        };

        macro_rules! unless_excepted {
            $(($of $excepted $test:item) => {};)*
            $($(($whole $behaviour:ident $test:item) => {};)+)?
            ($part:ident $behaviour:ident $test:item) => { $test };
        }

        $crate::store_suite! { @ unless_excepted $fresh, floods =>
            every_area_is_listed_by_number_with_its_current_state,
            a_minimum_state_leaves_out_lower_states_and_areas_without_one,
            a_selector_leaves_out_other_cities_and_provinces,
            only_areas_with_a_state_are_listed_as_states,
            a_set_state_is_current_and_logged_with_who_set_it,
            setting_the_same_state_again_is_a_change,
            the_newest_changes_of_an_area_come_first_in_pages,
            each_log_entry_has_the_start_of_its_flood,
            a_cleared_area_stays_on_the_map_without_a_state,
            clearing_an_area_without_a_state_is_logged,
            an_unknown_area_is_not_found_and_nothing_changes,
            a_revision_grows_with_every_change_and_nothing_else,
            the_log_of_an_area_ascends_though_the_clock_steps_back,
            simultaneous_changes_of_an_area_get_distinct_times,
            the_newest_of_concurrent_changes_is_the_current_state,
            a_visible_state_is_in_the_log,
            the_archive_returns_the_highest_state_in_effect,
            the_archive_includes_a_change_just_made,
            the_series_counts_flooded_areas_at_each_hour,
        }
        $crate::store_suite! { @ unless_excepted $fresh, batches =>
            a_batch_changes_all_its_areas_at_one_time,
            a_batch_is_distinguished_from_other_changes_at_the_same_time,
            a_clock_that_was_ahead_delays_no_other_area,
            a_flood_begins_once_and_is_confirmed_by_each_setting,
            an_undo_restores_the_times_of_flooding_and_confirmation,
            a_batch_bumps_the_revision_once,
            a_batch_with_unknown_areas_lists_them_and_changes_nothing,
            a_batch_with_failed_preconditions_lists_the_conflicts_and_changes_nothing,
            a_cleared_area_is_dry_whenever_it_was_cleared,
            a_repeated_request_changes_nothing_for_a_day,
            exactly_one_concurrent_request_with_a_key_is_executed,
            exactly_one_concurrent_batch_with_the_same_precondition_succeeds,
            an_undo_restores_the_previous_states,
            an_undo_skips_areas_that_have_changed_since,
            an_unknown_or_old_batch_is_not_undone,
            a_preview_changes_nothing,
            the_log_of_all_areas_is_read_newest_first_in_pages,
        }
        $crate::store_suite! { @ unless_excepted $fresh, limits =>
            a_state_outside_of_the_limit_is_refused_and_nothing_changes,
            an_unknown_area_is_reported_before_the_limit,
            no_area_outside_of_the_limit_changes_in_any_batch,
            the_limit_is_checked_before_a_repeat_and_a_conflict,
            an_undo_needs_every_area_of_its_batch,
            a_report_outside_of_the_limit_is_not_moderated,
            hiding_the_reports_of_a_sender_leaves_those_outside_of_the_limit,
        }
        $crate::store_suite! { @ unless_excepted $fresh, reports =>
            the_last_hours_reports_are_listed_newest_first,
            a_disaster_and_a_selector_leave_out_the_others,
            a_period_includes_both_ends,
            a_future_report_appears_at_its_time,
            counting_reports_matches_the_list_up_to_a_limit,
            one_report_is_found_by_its_key,
            training_reports_are_listed_and_counted_only_on_request,
            the_series_counts_the_reports_of_whole_hours,
            the_summary_counts_by_source_and_by_disaster,
        }
        $crate::store_suite! { @ unless_excepted $fresh, moderation =>
            a_hidden_report_is_in_no_list_and_no_count_until_it_is_shown_again,
            a_waiting_report_is_hidden_until_a_moderator_shows_it,
            a_waiting_report_that_is_hidden_or_erased_no_longer_waits,
            one_sender_cannot_fill_the_review_list,
            the_senders_of_waiting_reports_are_erased,
            a_batch_without_changes_is_not_logged,
            an_unknown_report_is_not_found,
            moderating_a_report_of_another_time_is_a_conflict,
            the_log_records_actor_action_and_reason,
            the_moderation_log_is_read_newest_first_in_pages,
            exactly_one_concurrent_call_hides_a_report,
            an_erased_report_is_only_counted,
            an_erased_report_that_was_hidden_is_not_counted,
            the_card_of_an_erased_report_is_gone_and_its_post_is_not_stored_again,
            the_key_of_an_erased_report_is_not_used_again,
            old_reports_are_erased_oldest_first,
            hiding_and_showing_a_report_moves_its_photo,
            a_photo_is_moved_by_one_server_at_a_time,
            photos_to_be_deleted_are_moved_last_and_the_oldest_order_first,
            the_photo_of_a_given_report_can_be_taken_first,
            the_photo_of_a_hidden_report_goes_to_the_private_storage,
            an_upload_for_an_erased_report_is_not_published,
        }
        $crate::store_suite! { @ unless_excepted $fresh, cards =>
            a_new_card_has_an_identifier_of_its_own_and_no_report,
            a_chosen_card_identifier_is_used_once,
            an_unknown_card_is_not_found,
            a_card_report_is_published_with_its_tags_and_marks_the_card,
            a_second_report_for_a_card_is_a_conflict_and_not_stored,
            exactly_one_concurrent_report_for_a_card_is_stored,
            exactly_one_concurrent_image_of_a_report_is_published,
            unused_cards_are_erased_by_creation_time,
        }
        $crate::store_suite! { @ unless_excepted $fresh, images =>
            an_unknown_card_is_not_found,
            an_image_is_expected_only_after_the_report,
            an_early_upload_waits_for_the_report_of_its_card,
            an_early_upload_is_erased_with_its_card,
            all_servers_use_the_first_signing_key,
            no_image_is_expected_for_a_report_with_an_image,
            expecting_an_image_again_returns_the_same_upload_and_extends_it,
            uploads_expected_until_returns_the_latest_deadline,
            while_an_upload_is_received_no_image_is_expected,
            a_published_image_shows_in_the_report_once_and_is_a_change_of_reports,
            after_publication_no_image_is_expected_and_nothing_is_received,
            exactly_one_of_racing_images_is_published,
        }
        $crate::store_suite! { @ unless_excepted $fresh, uploads =>
            exactly_one_concurrent_reception_succeeds,
            recording_a_received_upload_is_idempotent,
            an_upload_of_another_turn_is_not_received,
            received_uploads_are_taken_once_in_order_of_arrival,
            an_upload_can_be_taken_again_after_its_lease,
            a_postponed_upload_waits,
            after_a_refused_upload_the_next_turn_is_expected,
            concurrent_servers_take_each_upload_once,
        }
        $crate::store_suite! { @ unless_excepted $fresh, feeds =>
            a_post_is_published_once,
            a_post_of_the_data_set_is_not_stored_again,
            exactly_one_concurrent_post_with_an_id_is_stored,
        }
        $crate::store_suite! { @ unless_excepted $fresh, keys =>
            a_key_is_stored_unchanged,
            names_and_hashes_of_keys_are_never_reused,
            a_revoked_key_stays_listed_with_its_first_revocation_time,
            the_latest_use_of_a_key_is_stored_without_bumping_the_revision,
            exactly_one_concurrent_key_of_a_name_is_stored,
            the_areas_of_a_key_are_stored,
            ended_logins_have_ascending_numbers_and_are_kept_for_a_day,
        }
        $crate::store_suite! { @ unless_excepted $fresh, sources =>
            the_last_time_of_each_source_is_stored,
            a_source_is_never_heard_earlier_than_it_was,
            the_latest_of_concurrent_times_is_stored,
        }
        $crate::store_suite! { @ unless_excepted $fresh, webhooks =>
            a_webhook_state_is_replaced_only_with_its_version,
            exactly_one_concurrent_replacement_succeeds,
            reports_are_read_by_key_in_pages,
            without_writes_there_are_no_open_transactions,
        }
        $crate::store_suite! { @ unless_excepted $fresh, push =>
            a_push_record_is_stored_unchanged_and_listed_in_pages,
            an_endpoint_has_one_push_record_and_the_maximum_counts_others,
            due_push_records_are_those_of_the_service_the_longest_due_first,
            push_records_are_changed_and_removed_only_at_the_version_that_was_read,
            exactly_one_concurrent_change_of_a_push_record_succeeds,
        }
        $crate::store_suite! { @ unless_excepted $fresh, gauges =>
            gauges_are_listed_by_identifier_with_the_readings_of_the_window,
            a_selector_leaves_out_gauges_of_other_provinces,
            counting_readings_matches_the_list_up_to_a_limit,
            every_gauge_is_listed_without_readings,
            readings_of_many_days_are_listed_and_replaced,
            erased_readings_are_gone_and_later_ones_stay,
            recent_readings_are_those_since_a_time_and_at_least_21,
            a_muted_gauge_stays_muted_over_readings_and_its_log_is_newest_first,
            readings_are_replaced_by_time,
            settings_of_a_gauge_stay_until_they_are_changed,
            what_was_reported_is_kept_beside_a_worse_level,
            a_new_gauge_belongs_to_the_province_it_lies_in,
        }
        $crate::store_suite! { @ unless_excepted $fresh, validity =>
            a_result_of_the_last_hour_is_valid_until_its_oldest_report_leaves,
            a_result_of_the_last_hour_is_valid_until_the_next_report,
            a_result_about_a_current_period_is_valid_until_the_next_report,
            a_result_stays_valid_without_new_reports,
            an_empty_result_is_valid_until_a_report_appears,
            a_gauge_result_is_valid_until_a_reading_leaves_or_appears,
            a_result_about_the_past_stays_valid,
        }
        $crate::store_suite! { @ unless_excepted $fresh, places =>
            infrastructure_is_listed_by_kind_then_name,
            infrastructure_without_an_identifier_gets_one,
            infrastructure_is_selected_by_kind_and_province,
            all_boundaries_are_listed_in_code_order_or_only_the_one_with_a_code,
        }
        $crate::store_suite! { @ unless_excepted $fresh, overview =>
            the_overview_counts_areas_by_state_and_has_the_newest_times,
            the_overview_excludes_future_dates,
        }
        $crate::store_suite! { @ unless_excepted $fresh, health =>
            a_responsive_store_is_ready,
        }
    };
    ($fresh:expr, $part:ident => $($behaviour:ident),+ $(,)?) => {
        mod $part {
            use super::*;

            $(
                #[test]
                fn $behaviour() {
                    $crate::block_on($crate::stores::$part::$behaviour(&$fresh));
                }
            )+
        }
    };
    (@ $unless_excepted:ident $fresh:expr, $part:ident => $($behaviour:ident,)+) => {
        mod $part {
            #[allow(unused_imports, reason = "all behaviours of the part may be excepted")]
            use super::*;

            $(
                $unless_excepted! {
                    $part $behaviour
                    #[test]
                    fn $behaviour() {
                        $crate::block_on($crate::stores::$part::$behaviour(&$fresh));
                    }
                }
            )+
        }
    };
}
