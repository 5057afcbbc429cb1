//! The suite that every [`Store`] must pass.
//!
//! Each function checks one behaviour: it opens a fresh store that holds [`fixture::dataset`] and takes its time from a
//! given clock, and panics if the store behaves otherwise.

pub mod cards;
pub mod feeds;
pub mod floods;
pub mod gauges;
pub mod images;
pub mod keys;
pub mod life;
pub mod moderation;
pub mod orders;
pub mod overview;
pub mod places;
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
    /// Opens a new store that holds [`fixture::dataset`] and takes its time from `clock`.
    async fn open(&self, clock: Arc<dyn Clock>) -> Arc<dyn Store>;
}

/// A clock that moves on by a millisecond each time it is read. It reveals a time that was read too early.
#[derive(Debug, Default)]
pub(super) struct TickingClock(AtomicU64);

impl Clock for TickingClock {
    fn now(&self) -> Timestamp {
        fixture::now().after(Duration::from_millis(self.0.fetch_add(1, Ordering::SeqCst)))
    }
}

/// Opens a fresh store and returns it with its clock, which stands at [`fixture::now`].
pub(super) async fn open(fresh: &dyn FreshStore) -> (Arc<dyn Store>, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::new(fixture::now()));
    (fresh.open(Arc::clone(&clock) as _).await, clock)
}

/// Makes a test for each behaviour of the suite, for the stores that a [`FreshStore`] expression opens.
///
/// Name behaviours that a decorator removes:
/// `store_suite!(Fresh, except floods::a_cleared_area_stays_on_the_map_without_a_state)`, or whole parts before them:
/// `store_suite!(Fresh, without orders, moderation)`. The suite sets states with the subject `agency` and the user name
/// `duty officer`: each from 1 to 4, and none.
#[macro_export]
macro_rules! store_suite {
    ($fresh:expr) => {
        $crate::store_suite!($fresh, except);
    };
    ($fresh:expr, without $($whole:ident),+ $(; except $($of:ident::$excepted:ident),* $(,)?)?) => {
        $crate::store_suite!($fresh, except $($($of::$excepted),*)?; without $($whole),+);
    };
    ($fresh:expr, except $($of:ident::$excepted:ident),* $(,)? $(; without $($whole:ident),+)?) => {
        // A name that is not a behaviour or a part does not compile.
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
            setting_the_state_an_area_has_is_a_change_too,
            the_newest_changes_of_an_area_come_first_in_pages,
            each_entry_of_the_log_has_the_beginning_of_its_run,
            a_cleared_area_stays_on_the_map_without_a_state,
            clearing_an_area_without_a_state_is_logged,
            an_unknown_area_is_not_found_and_nothing_changes,
            a_revision_grows_with_every_change_and_nothing_else,
            the_log_of_an_area_ascends_though_the_clock_steps_back,
            changes_of_an_area_at_one_time_have_a_moment_each,
            the_newest_of_concurrent_changes_is_the_current_state,
            a_state_that_is_seen_is_in_the_log,
            the_archive_gives_the_highest_state_in_effect,
            the_archive_counts_a_change_just_made,
            the_series_counts_flooded_areas_at_each_hour,
        }
        $crate::store_suite! { @ unless_excepted $fresh, orders =>
            an_order_changes_all_its_areas_at_one_time,
            batches_and_changes_of_other_areas_at_one_time_are_told_apart,
            a_clock_that_was_ahead_delays_no_other_area,
            a_flood_begins_once_and_is_confirmed_by_each_setting,
            an_undo_restores_since_when_an_area_was_flooded_and_confirmed,
            an_order_is_one_change_of_the_revision,
            an_order_with_unknown_areas_names_all_of_them_and_changes_nothing,
            an_order_whose_conditions_do_not_hold_names_the_conflicts_and_changes_nothing,
            a_cleared_area_is_dry_whenever_it_was_cleared,
            a_repeated_request_changes_nothing_for_a_day,
            of_concurrent_requests_with_one_number_one_is_carried_out,
            of_concurrent_orders_after_one_state_one_is_carried_out,
            an_undo_sets_the_states_before,
            an_undo_leaves_alone_what_has_changed_since,
            an_unknown_or_old_batch_is_not_undone,
            a_preview_changes_nothing,
            the_log_of_all_areas_is_read_newest_first_in_pages,
        }
        $crate::store_suite! { @ unless_excepted $fresh, reports =>
            the_last_hours_reports_are_listed_newest_first,
            a_disaster_and_a_selector_leave_out_the_others,
            a_period_lists_its_reports_with_both_ends,
            a_report_of_the_future_shows_when_its_time_has_come,
            a_list_is_counted_as_it_is_listed_up_to_a_bound,
            one_report_is_found_by_its_key,
            a_report_of_a_training_is_listed_and_counted_only_where_asked_for,
            the_series_counts_the_reports_of_whole_hours,
            the_summary_counts_by_source_and_by_disaster,
        }
        $crate::store_suite! { @ unless_excepted $fresh, moderation =>
            a_hidden_report_is_in_no_list_and_no_count_until_it_is_shown_again,
            a_waiting_report_is_hidden_until_a_moderator_shows_it,
            a_waiting_report_that_is_hidden_or_erased_no_longer_waits,
            no_sender_keeps_waiting_reports_of_others_off_the_list,
            the_senders_of_waiting_reports_are_forgotten,
            an_order_that_changes_nothing_is_not_logged,
            an_unknown_report_is_not_found,
            a_report_of_another_time_is_another_one,
            the_log_says_who_did_what_and_why,
            the_log_is_read_newest_first_and_in_parts,
            of_concurrent_orders_exactly_one_hides_a_report,
            an_erased_report_is_only_counted,
            an_erased_report_that_was_hidden_is_not_counted,
            the_card_of_an_erased_report_is_gone_and_its_post_is_not_stored_again,
            the_key_of_an_erased_report_is_not_used_again,
            old_reports_are_erased_oldest_first,
            the_photo_of_a_report_follows_its_report,
            a_photo_is_moved_by_one_server_at_a_time,
            photos_to_be_deleted_are_moved_last_and_the_oldest_order_first,
            the_photo_of_one_report_is_moved_before_all_others,
            the_photo_of_a_hidden_report_is_published_out_of_sight,
            an_upload_for_an_erased_report_is_not_published,
        }
        $crate::store_suite! { @ unless_excepted $fresh, cards =>
            a_new_card_has_an_identifier_of_its_own_and_no_report,
            a_card_with_a_chosen_identifier_is_made_once,
            an_unknown_card_is_not_found,
            a_card_report_is_published_with_its_tags_and_marks_the_card,
            a_second_report_for_a_card_is_a_conflict_and_not_stored,
            of_concurrent_reports_for_a_card_exactly_one_is_stored,
            of_concurrent_images_for_a_report_exactly_one_is_shown,
            unused_cards_are_erased_by_when_they_were_made_and_used_ones_stay,
        }
        $crate::store_suite! { @ unless_excepted $fresh, images =>
            an_unknown_card_is_not_found,
            an_image_is_expected_only_after_the_report,
            an_early_upload_waits_for_the_report_of_its_card,
            an_early_upload_is_gone_with_its_card,
            the_first_signing_key_is_that_of_all,
            no_image_is_expected_for_a_report_that_came_with_one,
            asked_again_the_same_upload_is_named_and_expected_for_longer,
            uploads_are_expected_until_the_last_of_them,
            while_an_upload_is_received_no_image_is_expected,
            a_published_image_shows_in_the_report_once_and_is_a_change_of_reports,
            after_publication_no_image_is_expected_and_nothing_is_received,
            however_calls_race_exactly_one_image_is_published,
        }
        $crate::store_suite! { @ unless_excepted $fresh, uploads =>
            of_concurrent_receptions_exactly_one_is_told_so,
            a_reception_can_be_repeated,
            an_upload_of_another_turn_is_not_received,
            received_uploads_are_taken_in_the_order_they_came_each_by_one,
            a_lease_that_ends_lets_another_take_the_upload,
            a_postponed_upload_waits,
            a_refused_upload_makes_the_next_turn_expected,
            of_concurrent_takers_each_upload_is_taken_once,
        }
        $crate::store_suite! { @ unless_excepted $fresh, feeds =>
            a_post_is_published_once,
            a_post_of_the_data_set_is_not_stored_again,
            of_concurrent_posts_with_one_id_exactly_one_is_stored,
        }
        $crate::store_suite! { @ unless_excepted $fresh, keys =>
            a_key_is_kept_as_it_was_given,
            a_name_is_given_once_for_good_and_so_is_a_hash,
            a_revoked_key_stays_listed_with_when_it_was_revoked_first,
            the_latest_use_is_kept_and_is_no_change,
            of_concurrent_keys_of_one_name_exactly_one_is_kept,
        }
        $crate::store_suite! { @ unless_excepted $fresh, sources =>
            each_source_is_kept_with_when_it_was_last_heard,
            a_source_is_never_heard_earlier_than_it_was,
            of_concurrent_times_the_latest_is_kept,
        }
        $crate::store_suite! { @ unless_excepted $fresh, webhooks =>
            a_webhook_state_is_replaced_only_with_its_version,
            exactly_one_concurrent_replacement_succeeds,
            reports_are_read_in_pages_by_key,
            no_write_is_open_while_nothing_is_written,
        }
        $crate::store_suite! { @ unless_excepted $fresh, gauges =>
            gauges_are_listed_by_identifier_with_the_readings_of_the_window,
            a_selector_leaves_out_gauges_of_other_provinces,
            readings_are_counted_as_they_are_listed_up_to_a_bound,
            every_gauge_is_listed_without_readings,
            readings_are_replaced_by_their_time_and_kept_otherwise,
            a_new_gauge_belongs_to_the_province_it_lies_in,
        }
        $crate::store_suite! { @ unless_excepted $fresh, validity =>
            an_answer_of_the_last_hour_lasts_until_its_oldest_report_leaves,
            an_answer_of_the_last_hour_lasts_until_the_next_report_comes,
            an_answer_about_a_period_under_way_lasts_until_the_next_report_comes,
            an_answer_to_which_no_report_comes_lasts_on,
            an_answer_of_which_nothing_is_found_lasts_until_something_comes,
            answers_of_gauges_last_until_a_reading_leaves_or_comes,
            an_answer_about_the_past_lasts,
        }
        $crate::store_suite! { @ unless_excepted $fresh, places =>
            infrastructure_is_listed_by_kind_then_name,
            infrastructure_has_the_identifier_of_its_file_or_one_of_its_own,
            infrastructure_is_selected_by_kind_and_province,
            boundaries_are_listed_by_code_or_alone,
        }
        $crate::store_suite! { @ unless_excepted $fresh, overview =>
            it_counts_the_areas_of_each_state_and_names_the_newest_of_each_kind,
            what_has_come_is_in_it_and_what_is_dated_ahead_is_not,
        }
        $crate::store_suite! { @ unless_excepted $fresh, life =>
            a_store_that_answers_is_ready,
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
