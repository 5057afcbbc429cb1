//! A store that implements the required methods and nothing else, as an agency's may, passes the whole suite.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use figment::Figment;
use figment::providers::Serialized;
use siaga::Siaga;
use siaga::model::bodies::{GaugeReadings, PartnerReport};
use siaga::model::{
    ArchiveRecord, AreaId, Card, CardHolder, CardId, Clock, FloodChange, FloodLayer, GaugeLayer, Places,
    Report, ReportContent, ReportKey, ReportLayer, SeriesPoint,
};
use siaga::stores::memory::MemoryStore;
use siaga::stores::{
    CallStore, CardStore, FeedStore, FloodQuery, FloodStore, GaugeQuery, GaugeStore, HistoryQuery,
    ImageStore, KeyStore, ModerationStore, OpenError, OpenStore, OpenedStore, PlaceStore, Received,
    ReportQuery, ReportStore, Resource, Revision, ServiceState, ServiceStore, SetFloodState, SourceStore,
    Store, StoreError, StoreSettings, Versioned,
};
use siaga_conformance::store_suite;
use siaga_conformance::stores::FreshStore;
use siaga_conformance::{block_on, fixture};

type Answer<T> = Result<T, StoreError>;

/// Its data is that of a store in memory; the service's state is its own.
#[derive(Debug)]
struct Agency {
    data: MemoryStore,
    state: ServiceState,
}

impl fmt::Display for Agency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an agency's store")
    }
}

#[async_trait]
impl FloodStore for Agency {
    async fn floods(&self, query: &FloodQuery) -> Answer<Versioned<FloodLayer>> {
        self.data.floods(query).await
    }

    async fn flood_archive(&self, query: &HistoryQuery) -> Answer<Versioned<Vec<ArchiveRecord>>> {
        self.data.flood_archive(query).await
    }

    async fn flood_series(&self, query: &HistoryQuery) -> Answer<Versioned<Vec<SeriesPoint>>> {
        self.data.flood_series(query).await
    }

    async fn flood_log(&self, area: AreaId) -> Answer<Vec<FloodChange>> {
        self.data.flood_log(area).await
    }

    async fn set_flood_state(&self, order: SetFloodState) -> Answer<FloodChange> {
        self.data.set_flood_state(order).await
    }
}

#[async_trait]
impl ReportStore for Agency {
    async fn reports(&self, query: &ReportQuery) -> Answer<Versioned<ReportLayer>> {
        self.data.reports(query).await
    }

    async fn report(&self, key: ReportKey) -> Answer<Versioned<Arc<Report>>> {
        self.data.report(key).await
    }
}

#[async_trait]
impl CardStore for Agency {
    async fn create_card(&self, holder: CardHolder) -> Answer<Arc<Card>> {
        self.data.create_card(holder).await
    }

    async fn card(&self, id: &CardId) -> Answer<Arc<Card>> {
        self.data.card(id).await
    }

    async fn receive_card_report(&self, id: &CardId, content: ReportContent) -> Answer<Arc<Report>> {
        self.data.receive_card_report(id, content).await
    }

    async fn show_card_image(&self, id: &CardId, image: &str) -> Answer<bool> {
        self.data.show_card_image(id, image).await
    }
}

#[async_trait]
impl FeedStore for Agency {
    async fn receive_partner_report(&self, report: PartnerReport) -> Answer<Received> {
        self.data.receive_partner_report(report).await
    }
}

#[async_trait]
impl GaugeStore for Agency {
    async fn gauges(&self, query: &GaugeQuery) -> Answer<Versioned<GaugeLayer>> {
        self.data.gauges(query).await
    }

    async fn store_gauge(&self, readings: GaugeReadings) -> Answer<usize> {
        self.data.store_gauge(readings).await
    }
}

#[async_trait]
impl PlaceStore for Agency {
    async fn places(&self) -> Answer<Versioned<Arc<Places>>> {
        self.data.places().await
    }
}

impl ServiceStore for Agency {
    fn service_state(&self) -> Option<&ServiceState> {
        Some(&self.state)
    }
}

impl ModerationStore for Agency {}

impl ImageStore for Agency {}

impl KeyStore for Agency {}

impl SourceStore for Agency {}

impl CallStore for Agency {}

#[async_trait]
impl Store for Agency {
    async fn revision(&self, resource: Resource) -> Answer<Revision> {
        self.data.revision(resource).await
    }
}

struct Fresh;

#[async_trait]
impl FreshStore for Fresh {
    async fn open(&self, clock: Arc<dyn Clock>) -> Arc<dyn Store> {
        let data = MemoryStore::new(fixture::dataset(), Arc::clone(&clock));
        Arc::new(Agency { data, state: ServiceState::new(clock) })
    }
}

// The overview is of the metrics, which leave it out for a store without. Such a store takes no orders for many areas, cannot
// hide reports, makes no cards with a chosen identifier, and does not erase unused cards.
store_suite!(
    Fresh,
    except
        orders::an_order_changes_all_its_areas_at_one_time,
        orders::batches_and_changes_of_other_areas_at_one_time_are_told_apart,
        orders::a_clock_that_was_ahead_delays_no_other_area,
        orders::a_flood_begins_once_and_is_confirmed_by_each_setting,
        orders::an_undo_restores_since_when_an_area_was_flooded_and_confirmed,
        orders::an_order_is_one_change_of_the_revision,
        orders::an_order_with_unknown_areas_names_all_of_them_and_changes_nothing,
        orders::an_order_whose_conditions_do_not_hold_names_the_conflicts_and_changes_nothing,
        orders::a_cleared_area_is_dry_whenever_it_was_cleared,
        orders::a_repeated_request_changes_nothing_for_a_day,
        orders::of_concurrent_requests_with_one_number_one_is_carried_out,
        orders::of_concurrent_orders_after_one_state_one_is_carried_out,
        orders::an_undo_sets_the_states_before,
        orders::an_undo_leaves_alone_what_has_changed_since,
        orders::an_unknown_or_old_batch_is_not_undone,
        orders::a_preview_changes_nothing,
        orders::the_log_of_all_areas_is_read_newest_first_in_pages,
        moderation::a_hidden_report_is_in_no_list_and_no_count_until_it_is_shown_again,
        moderation::an_order_that_changes_nothing_is_not_logged,
        moderation::an_unknown_report_is_not_found,
        moderation::a_report_of_another_time_is_another_one,
        moderation::the_log_says_who_did_what_and_why,
        moderation::the_log_is_read_newest_first_and_in_parts,
        moderation::of_concurrent_orders_exactly_one_hides_a_report,
        moderation::an_erased_report_is_only_counted,
        moderation::an_erased_report_that_was_hidden_is_not_counted,
        moderation::the_card_of_an_erased_report_is_gone_and_its_post_is_not_stored_again,
        moderation::the_key_of_an_erased_report_is_not_used_again,
        moderation::old_reports_are_erased_oldest_first,
        moderation::the_photo_of_a_report_follows_its_report,
        moderation::a_photo_is_moved_by_one_server_at_a_time,
        moderation::photos_to_be_deleted_are_moved_last_and_the_oldest_order_first,
        moderation::the_photo_of_one_report_is_moved_before_all_others,
        moderation::the_photo_of_a_hidden_report_is_published_out_of_sight,
        moderation::an_upload_for_an_erased_report_is_not_published,
        moderation::a_waiting_report_is_hidden_until_a_moderator_shows_it,
        moderation::a_waiting_report_that_is_hidden_or_erased_no_longer_waits,
        moderation::no_sender_keeps_waiting_reports_of_others_off_the_list,
        moderation::the_senders_of_waiting_reports_are_forgotten,
        images::an_early_upload_is_gone_with_its_card,
        cards::a_card_with_a_chosen_identifier_is_made_once,
        cards::unused_cards_are_erased_by_when_they_were_made_and_used_ones_stay,
        overview::it_counts_the_areas_of_each_state_and_names_the_newest_of_each_kind,
        overview::what_has_come_is_in_it_and_what_is_dated_ahead_is_not,
);

#[derive(Debug)]
struct OpenAgency;

#[async_trait]
impl OpenStore for OpenAgency {
    fn name(&self) -> &'static str {
        "agency"
    }

    fn keeps_data(&self) -> bool {
        true
    }

    async fn open(&self, settings: &StoreSettings) -> Result<OpenedStore, OpenError> {
        Ok(OpenedStore::new(Fresh.open(Arc::clone(&settings.clock)).await))
    }
}

#[test]
fn no_key_is_made_in_a_store_that_would_forget_it() {
    let figment = Figment::from(rocket::Config::debug_default())
        .merge(Serialized::default("siaga.store", "agency"))
        .merge(Serialized::default("siaga.images.url", "memory:///"))
        .merge(Serialized::default("siaga.images.signing_key", "a secret of thirty-two bytes or more"));
    let builder = Siaga::builder().figment(figment).store(Arc::new(OpenAgency));
    let refused = block_on(builder.open_kept_store()).unwrap_err().to_string();
    assert_eq!(
        refused,
        r#"siaga.store is "agency", which keeps no API keys: list them under siaga.auth.api_keys"#
    );
}

#[test]
fn the_page_lists_the_required_methods() {
    let source = include_str!("required_methods.rs").split("struct Fresh;").next().unwrap();
    let written = source.lines().filter_map(|line| {
        let (name, _) = line.trim().trim_start_matches("async ").strip_prefix("fn ")?.split_once("(&self")?;
        (name != "fmt").then_some(name)
    });
    let rows = include_str!("../../../docs/adding-a-store.md").lines().filter(|line| line.starts_with("| `"));
    let listed = rows.flat_map(|row| row.split('|').nth(3).unwrap().split('`').skip(1).step_by(2));
    let (written, listed): (Vec<_>, Vec<_>) = (written.collect(), listed.collect());
    assert_eq!(written, listed);
    assert_eq!(listed.len(), 17);
}
