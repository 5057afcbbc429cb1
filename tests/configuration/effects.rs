//! What the keys do is tested, each by the tests that are named here.

use std::collections::BTreeSet;

use crate::keys::expanded;
use crate::named_tests::named_tests;
use crate::page;

/// Keys, as the page writes them, and the tests that would fail if they had no effect.
const EFFECTS: &[(&str, &[&str])] = &[
    ("store", &["a_start_that_fails_ends_with_1_and_one_line_whatever_the_log"]),
    (
        "dataset",
        &[
            "the_service_has_the_data_set_the_name_and_the_address_it_is_configured_with",
            "a_broken_data_file_stops_the_start_with_its_line",
        ],
    ),
    ("base_url", &["the_path_of_the_base_address_is_the_mount_point"]),
    ("also_at", &["also_at_mounts_the_interface_a_second_time"]),
    ("time_zone", &["alerts_and_their_feed_say_what_is_configured", "dates_are_written_in_a_zone"]),
    ("areas.{cities,provinces}", &["each_resource_is_asked_for_by_its_configured_codes"]),
    (
        "areas.supported.{floods,reports,gauges,infrastructure}.city",
        &["each_resource_is_asked_for_by_its_configured_codes"],
    ),
    (
        "areas.supported.boundaries.city",
        &["a_wrong_key_of_areas_formats_or_feeds_stops_with_its_path_and_what_is_allowed"],
    ),
    ("areas.supported.<resource>.admin", &["each_resource_is_asked_for_by_its_configured_codes"]),
    ("formats.enabled", &["formats_selectors_and_their_defaults_are_configured"]),
    ("formats.default", &["a_request_that_names_no_format_gets_the_configured_default"]),
    ("formats.resources.<resource>", &["a_resource_is_on_offer_in_the_formats_it_is_narrowed_to"]),
    (
        "formats.topojson.quantization",
        &["the_grid_has_as_many_lines_as_configured", "without_quantization_positions_are_absolute"],
    ),
    (
        "formats.cap.{sender,sender_name,web,author,title,headline,status,expires_after}",
        &["alerts_and_their_feed_say_what_is_configured", "the_agency_is_configured"],
    ),
    (
        "formats.cap.agencies.<city>.{sender,sender_name}",
        &["alerts_and_their_feed_say_what_is_configured", "a_city_can_have_an_agency_of_its_own"],
    ),
    ("formats.template.<name>.file", &["a_template_stands_where_its_configuration_does_and_is_read_once"]),
    (
        "formats.template.<name>.media_type",
        &["a_template_is_chosen_like_the_services_own_formats", "a_template_of_json_stands_in_the_envelope"],
    ),
    (
        "formats.template.<name>.container",
        &["a_template_is_chosen_by_the_container_it_is_given_else_by_that_of_its_media_type"],
    ),
    ("formats.template.<name>.layers", &["a_template_is_chosen_like_the_services_own_formats"]),
    (
        "formats.template.<name>.max_bytes",
        &["what_is_too_long_is_an_error_and_what_is_as_long_as_allowed_is_not"],
    ),
    ("formats.template.<name>.max_time", &["no_template_goes_on_forever"]),
    ("cards.prep_types", &["the_types_of_preparedness_are_configured"]),
    ("cards.max_id_length", &["cards_of_an_installation_that_is_taken_over_may_have_longer_identifiers"]),
    ("disasters.also", &["disasters_that_only_the_installation_knows_are_reported_and_asked_for"]),
    (
        "feeds.partner.{cities,disaster_types}",
        &[
            "the_cities_and_disasters_of_partners_are_configured",
            "the_feeds_are_listed_for_those_who_may_send",
        ],
    ),
    (
        "auth.api_keys",
        &[
            "sighup_puts_other_keys_and_another_log_into_effect",
            "without_configured_credentials_nobody_may_write",
        ],
    ),
    ("auth.api_keys.<n>.name", &["the_log_says_whose_credential_it_was_and_who_the_caller_says_it_is"]),
    (
        "auth.api_keys.<n>.{sha256,scopes}",
        &[
            "a_key_or_a_token_that_allows_it_is_accepted_in_either_header",
            "whatever_is_wrong_with_a_credential_is_the_same_403",
        ],
    ),
    ("auth.api_keys.<n>.expires", &["a_key_is_accepted_until_it_expires"]),
    ("auth.api_keys.<n>.{per_second,per_day}", &["a_key_can_have_quotas_of_its_own"]),
    (
        "auth.jwt.{algorithm,public_key}",
        &[
            "a_token_is_accepted_by_the_public_key_of_each_algorithm",
            "what_a_token_says_of_its_algorithm_does_not_count",
            "a_public_key_can_be_in_a_file",
        ],
    ),
    ("auth.jwt.secret", &["whatever_is_wrong_with_a_credential_is_the_same_403"]),
    (
        "auth.jwt.jwks",
        &[
            "the_kid_chooses_the_key_and_only_one_that_is_in_the_set",
            "keys_are_rotated_while_the_service_runs_and_a_broken_file_changes_nothing",
        ],
    ),
    ("auth.jwt.{issuer,audience}", &["issuer_and_audience_count_once_they_are_configured"]),
    ("auth.jwt.leeway", &["the_leeway_is_configured"]),
    (
        "images.url",
        &[
            "images_are_beside_the_data_set_unless_another_place_is_given",
            "a_storage_of_images_that_cannot_be_written_to_degrades_the_service_which_stays_ready",
            "the_program_takes_the_credentials_of_its_storage_from_the_environment",
        ],
    ),
    (
        "images.options",
        &[
            "a_photo_sent_to_the_storage_is_shown_by_the_report_and_served",
            "a_wrong_key_of_images_stops_with_its_path_and_what_is_allowed",
        ],
    ),
    (
        "images.public_url",
        &[
            "the_public_address_is_where_the_configuration_says",
            "the_report_shows_the_public_address_of_the_storage_where_it_has_one",
        ],
    ),
    (
        "images.signing_key",
        &[
            "an_address_that_is_altered_expired_or_foreign_is_403",
            "the_address_of_the_database_in_the_environment_wins_and_its_store_needs_a_key_for_uploads",
        ],
    ),
    ("images.max_bytes", &["an_upload_that_is_too_large_is_413_and_the_address_can_be_used_again"]),
    ("images.max_uploads", &["uploads_beyond_those_a_server_receives_at_once_are_503_until_one_ends"]),
    ("images.max_side", &["the_longest_side_of_a_photo_is_configured"]),
    ("cache.size", &["without_room_for_any_every_answer_is_made"]),
    ("licence.terms", &["the_page_and_the_description_name_the_configured_terms"]),
    ("licence.url", &["every_answer_names_a_configured_licence"]),
    ("limits.max_period", &["the_longest_period_is_configured"]),
    ("limits.body", &["a_body_beyond_the_limit_is_413"]),
    (
        "limits.timeout",
        &[
            "a_body_that_does_not_come_is_408_and_one_announced_too_large_413",
            "a_storage_that_does_not_answer_is_waited_for_no_longer_than_configured",
            "a_stalled_link_is_503_within_the_limit_and_comes_back_within_two_seconds",
        ],
    ),
    (
        "limits.features",
        &[
            "a_list_of_too_many_reports_is_400_naming_what_narrows_it",
            "a_list_of_too_many_readings_is_400_naming_what_narrows_it",
        ],
    ),
    ("limits.stale", &["a_response_is_returned_for_no_longer_than_configured_after_it_was_current"]),
    ("limits.rendering", &["distinct_archives_asked_for_at_once_take_no_more_memory_than_their_limit"]),
    ("limits.chunk", &["an_answer_is_copied_in_chunks_of_the_configured_size"]),
    (
        "quota.{per_second,burst}",
        &[
            "every_counted_answer_says_where_its_client_stands_in_the_tighter_window",
            "a_client_over_its_quota_is_refused_until_it_has_waited",
            "a_trial_on_the_machine_itself_is_not_counted_and_a_public_address_is",
        ],
    ),
    (
        "quota.credential.{per_second,burst}",
        &["a_key_without_numbers_of_its_own_may_send_300_requests_at_once_and_100_a_second"],
    ),
    ("quota.per_day", &["a_request_too_many_is_429_with_the_time_to_wait"]),
    ("quota.fuse_per_second", &["the_fuse_comes_before_any_credential"]),
    (
        "quota.trusted_proxies",
        &["only_a_trusted_proxy_says_whom_a_request_is_from", "nobody_is_trusted_unless_configured"],
    ),
    ("https.redirect_from", &["by_https_everything_is_answered_and_browsers_are_told_to_stay"]),
    (
        "https.hsts",
        &[
            "browsers_are_told_to_stay_with_https_when_they_use_it",
            "without_hsts_configured_none_is_sent_by_https",
        ],
    ),
    (
        "log.{format,access}",
        &[
            "a_request_is_one_line_of_json_with_what_is_known_of_it_and_no_secret",
            "without_being_asked_the_program_logs_no_request",
        ],
    ),
    ("log.level", &["the_level_decides_what_is_logged"]),
    ("metrics.enabled", &["metrics_are_not_there_unless_they_are_enabled"]),
    ("metrics.token", &["metrics_with_a_token_are_for_who_knows_it"]),
    ("shutdown.delay", &["a_second_signal_ends_it_at_once_and_says_so"]),
    ("shutdown.grace", &["a_request_that_does_not_end_is_cut_after_the_grace"]),
    ("postgres.migrate", &["a_start_that_may_not_migrate_refuses_an_old_schema"]),
    (
        "postgres.wait",
        &[
            "a_start_that_waits_for_its_database_answers_503_until_that_is_there",
            "a_start_that_has_waited_long_enough_ends_the_service",
            "a_start_without_its_database_fails_at_once_and_names_it_without_the_password",
        ],
    ),
    (
        "databases.siaga.url",
        &[
            "the_address_of_the_database_in_the_environment_wins_and_its_store_needs_a_key_for_uploads",
            "a_start_finds_the_host_that_accepts_writes_wherever_it_is_named",
        ],
    ),
    (
        "databases.siaga_read.url",
        &["reads_go_to_a_replica_that_has_what_the_server_wrote_and_else_to_the_primary"],
    ),
    (
        "databases.{siaga,siaga_read}.max_connections",
        &["a_server_has_as_many_connections_as_it_may_and_no_more", "a_database_has_its_documented_defaults"],
    ),
    (
        "databases.{siaga,siaga_read}.{min_connections,idle_timeout}",
        &[
            "connections_are_made_that_nobody_needs",
            "connections_that_nobody_needed_for_a_while_are_closed",
            "a_database_has_its_documented_defaults",
        ],
    ),
    (
        "databases.{siaga,siaga_read}.connect_timeout",
        &["a_connection_is_waited_for_as_long_as_configured", "a_database_has_its_documented_defaults"],
    ),
    ("ident", &["the_service_has_the_data_set_the_name_and_the_address_it_is_configured_with"]),
    ("ip_header", &["nobody_is_trusted_unless_configured"]),
];

#[test]
fn every_key_has_tests_that_show_its_effect() {
    let mut shown = BTreeSet::new();
    for key in EFFECTS.iter().flat_map(|(pattern, _)| expanded(pattern)) {
        assert!(!shown.contains(&key), "{key} stands here twice");
        shown.insert(key);
    }
    let documented: BTreeSet<String> =
        page::of_the_service().into_iter().chain(page::of_rocket()).map(|row| row.key).collect();
    let without: Vec<_> = documented.difference(&shown).collect();
    let unknown: Vec<_> = shown.difference(&documented).collect();
    assert!(without.is_empty() && unknown.is_empty(), "without a test: {without:?}; unknown: {unknown:?}");
}

#[test]
fn every_test_that_a_key_names_is_there_and_its_file_mentions_the_key() {
    let there = named_tests();
    for (pattern, tests) in EFFECTS {
        assert!(!tests.is_empty(), "{pattern}");
        for test in *tests {
            assert!(there.iter().any(|(name, _)| name == test), "{test} of {pattern}");
        }
        for key in expanded(pattern) {
            let last = key.rsplit('.').next().unwrap();
            let files: Vec<String> = there
                .iter()
                .filter(|(name, _)| tests.contains(&name.as_str()))
                .map(|(_, text)| text.to_ascii_lowercase())
                .collect();
            assert!(files.iter().any(|text| text.contains(last)), "{key} is in no file of {tests:?}");
        }
    }
}
