use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Debug, Display};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::{
    CardStore, Check, EndedLogin, EntryQuery, FeedStore, FloodLogQuery, FloodQuery, FloodStore, GaugeQuery,
    GaugeStore, HistoryQuery, ImageStore, KeyEntry, KeyStore, LogQuery, ModerationQuery, ModerationStore,
    NewPushRecord, Overview, PlaceStore, PushRecord, PushStore, PushUpdate, ReceiveOutcome, ReportQuery,
    ReportSeriesQuery, ReportStore, ReportSummary, Resource, Revision, ServiceState, ServiceStore,
    SetFloodState, SourceStore, Store, StoreError, StoredKey, TakenUpload, Versioned, WaitingQuery,
    WebhookState, WebhookStore,
};
use crate::auth::Secret;
use crate::model::alerts::LogEntry;
use crate::model::bodies::{GaugeReadings, PartnerReport};
use crate::model::{
    ArchiveRecord, AreaId, BatchOutcome, BatchRequest, Card, CardHolder, CardId, FloodChange, FloodLayer,
    FloodStateRecord, GaugeLayer, HiddenReports, HideWaiting, LoggedChange, Moderation, ModerationEntry,
    Mute, PhotoMove, Places, Report, ReportContent, ReportKey, ReportLayer, SeriesPoint, Timestamp, Upload,
    WaitingOrigin, WaitingReports,
};
use crate::telemetry::StoreOperation;

type StoreResult<T> = Result<T, StoreError>;

impl<T: Decorator> ServiceStore for T {
    fn service_state(&self) -> Option<&ServiceState> {
        self.inner().service_state()
    }
}

/// Defines the trait `Decorator`, whose methods call the inner store by default. Implements `Store` and all parts of it for every
/// type that implements `Decorator`.
macro_rules! decorator {
    ($($part:ident {
        $(async fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty;)+
    })+) => {
        /// A store that wraps another store and changes some of its methods.
        ///
        /// Every type that implements this trait is a [`Store`]. The trait has all methods of [`Store`] and its parts. Each
        /// method calls the [`inner`](Self::inner) store unless you override it, and so do methods that later versions of Siaga
        /// add: if your decorator hides or protects data, check for new methods before you upgrade.
        ///
        /// # Contract
        ///
        /// A decorator fulfils the contract of [`Store`]. It passes the same test suite, except for what it refuses or hides.
        /// What it adds to a result or leaves out must depend only on the inner store's data; if it depends on anything else,
        /// [`revision`](Self::revision) must also grow when that changes. A result keeps the revision and the validity of the
        /// inner store's result ([`Versioned::map`]).
        ///
        /// # Example
        ///
        /// ```
        /// use std::fmt;
        /// use std::sync::Arc;
        ///
        /// use async_trait::async_trait;
        /// use siaga::model::{FloodChange, BatchOutcome, BatchRequest};
        /// use siaga::stores::{Decorator, SetFloodState, Store, StoreError};
        ///
        /// /// Refuses to set flood states while the desk is closed.
        /// #[derive(Debug)]
        /// struct Closed(Arc<dyn Store>);
        ///
        /// impl fmt::Display for Closed {
        ///     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        ///         write!(f, "{}, closed", self.0)
        ///     }
        /// }
        ///
        /// #[async_trait]
        /// impl Decorator for Closed {
        ///     fn inner(&self) -> &dyn Store {
        ///         &*self.0
        ///     }
        ///
        ///     async fn set_flood_state(&self, _: SetFloodState) -> Result<FloodChange, StoreError> {
        ///         Err(StoreError::Conflict { what: "the desk is closed".to_owned() })
        ///     }
        ///
        ///     async fn change_floods(&self, _: BatchRequest) -> Result<BatchOutcome, StoreError> {
        ///         Err(StoreError::Conflict { what: "the desk is closed".to_owned() })
        ///     }
        /// }
        ///
        /// fn is_a_store(closed: Closed) -> Arc<dyn Store> {
        ///     Arc::new(closed)
        /// }
        /// ```
        #[async_trait]
        pub trait Decorator: Debug + Display + Send + Sync + 'static {
            /// Returns the inner store.
            fn inner(&self) -> &dyn Store;

            /// Starts to measure a call of `method` on the inner store, until the result is dropped. **Default: `None`**
            fn measure(&self, _method: &'static str) -> Option<StoreOperation<'_>> {
                None
            }

            $(
                $(
                    #[doc = concat!("[`", stringify!($part), "::", stringify!($name), "`]. **Default: the inner store's**")]
                    async fn $name(&self, $($argument: $type),*) -> $result {
                        let _measured = self.measure(stringify!($name));
                        self.inner().$name($($argument),*).await
                    }
                )+
            )+
        }

        $(
            // Checks that the list below is complete: for a missing method, the trait's default would run, not the inner store's.
            #[deny(clippy::missing_trait_methods)]
            #[async_trait]
            impl<T: Decorator> $part for T {
                $(
                    async fn $name(&self, $($argument: $type),*) -> $result {
                        Decorator::$name(self, $($argument),*).await
                    }
                )+
            }
        )+
    };
}

decorator! {
    FloodStore {
        async fn floods(query: &FloodQuery) -> StoreResult<Versioned<FloodLayer>>;
        async fn flood_states(query: &FloodQuery) -> StoreResult<Versioned<Vec<FloodStateRecord>>>;
        async fn flood_archive(query: &HistoryQuery) -> StoreResult<Versioned<Vec<ArchiveRecord>>>;
        async fn flood_series(query: &HistoryQuery) -> StoreResult<Versioned<Vec<SeriesPoint>>>;
        async fn flood_log(area: AreaId) -> StoreResult<Vec<FloodChange>>;
        async fn latest_flood_changes(query: &LogQuery) -> StoreResult<Vec<FloodChange>>;
        async fn flood_entries(query: &EntryQuery) -> StoreResult<Versioned<Vec<(AreaId, Vec<LogEntry>)>>>;
        async fn count_flood_entries(query: &EntryQuery, most: u64) -> StoreResult<u64>;
        async fn set_flood_state(change: SetFloodState) -> StoreResult<FloodChange>;
        async fn change_floods(request: BatchRequest) -> StoreResult<BatchOutcome>;
        async fn all_flood_changes(query: &FloodLogQuery) -> StoreResult<Vec<LoggedChange>>;
    }
    ReportStore {
        async fn reports(query: &ReportQuery) -> StoreResult<Versioned<ReportLayer>>;
        async fn count_reports(query: &ReportQuery, most: u64) -> StoreResult<u64>;
        async fn report(key: ReportKey) -> StoreResult<Versioned<Arc<Report>>>;
        async fn reports_from(first: Option<ReportKey>, most: u32) -> StoreResult<Vec<Arc<Report>>>;
        async fn report_series(query: &ReportSeriesQuery) -> StoreResult<Versioned<Vec<SeriesPoint>>>;
        async fn report_summary(query: &ReportQuery) -> StoreResult<Versioned<ReportSummary>>;
    }
    ModerationStore {
        async fn moderate(moderation: &Moderation) -> StoreResult<bool>;
        async fn moderation_log(query: ModerationQuery) -> StoreResult<Versioned<Vec<ModerationEntry>>>;
        async fn waiting_reports(query: WaitingQuery) -> StoreResult<WaitingReports>;
        async fn hide_waiting(request: &HideWaiting) -> StoreResult<HiddenReports>;
        async fn forget_senders(until: Timestamp) -> StoreResult<()>;
        async fn erase_reports(before: Timestamp, most: u32) -> StoreResult<u64>;
        async fn take_photo_move(lease: Duration) -> StoreResult<Option<PhotoMove>>;
        async fn take_photo_move_of(report: ReportKey, lease: Duration) -> StoreResult<Option<PhotoMove>>;
        async fn end_photo_move(completed: &PhotoMove) -> StoreResult<()>;
    }
    CardStore {
        async fn create_card(holder: CardHolder) -> StoreResult<Arc<Card>>;
        async fn create_card_as(id: &CardId, holder: CardHolder) -> StoreResult<Arc<Card>>;
        async fn card(id: &CardId) -> StoreResult<Arc<Card>>;
        async fn receive_card_report(id: &CardId, content: ReportContent) -> StoreResult<Arc<Report>>;
        async fn receive_waiting_report(id: &CardId, content: ReportContent, origin: WaitingOrigin) -> StoreResult<Arc<Report>>;
        async fn show_card_image(id: &CardId, image: &str) -> StoreResult<bool>;
        async fn erase_unused_cards(created: Range<Timestamp>, most: u32) -> StoreResult<u64>;
    }
    ImageStore {
        async fn signing_key(new: &Secret) -> StoreResult<Secret>;
        async fn expect_image(card: &CardId, until: Timestamp) -> StoreResult<Upload>;
        async fn expect_early_image(card: &CardId, until: Timestamp) -> StoreResult<Upload>;
        async fn has_upload(card: &CardId) -> StoreResult<bool>;
        async fn expected_upload(card: &CardId) -> StoreResult<Option<Upload>>;
        async fn receive_upload(upload: &Upload, object: &str) -> StoreResult<bool>;
        async fn uploads_expected_until() -> StoreResult<Option<Timestamp>>;
        async fn uploads_waiting() -> StoreResult<u64>;
        async fn take_upload(lease: Duration) -> StoreResult<Option<TakenUpload>>;
        async fn postpone_upload(upload: &Upload, delay: Duration) -> StoreResult<()>;
        async fn refuse_upload(upload: &Upload) -> StoreResult<()>;
        async fn publish_image(upload: &Upload, url: &str) -> StoreResult<bool>;
    }
    FeedStore {
        async fn receive_partner_report(report: PartnerReport) -> StoreResult<ReceiveOutcome>;
    }
    GaugeStore {
        async fn gauges(query: &GaugeQuery) -> StoreResult<Versioned<GaugeLayer>>;
        async fn all_gauges() -> StoreResult<Versioned<GaugeLayer>>;
        async fn count_readings(query: &GaugeQuery, most: u64) -> StoreResult<u64>;
        async fn recent_readings(since: Timestamp) -> StoreResult<Versioned<GaugeLayer>>;
        async fn store_gauge(readings: GaugeReadings) -> StoreResult<usize>;
        async fn erase_readings(before: Timestamp) -> StoreResult<()>;
        async fn mute_gauge(id: &str, entry: Mute) -> StoreResult<()>;
        async fn gauge_log(id: &str) -> StoreResult<Vec<Mute>>;
    }
    PlaceStore {
        async fn places() -> StoreResult<Versioned<Arc<Places>>>;
    }
    KeyStore {
        async fn create_key(key: KeyEntry) -> StoreResult<()>;
        async fn keys() -> StoreResult<Versioned<Vec<StoredKey>>>;
        async fn keys_revision() -> StoreResult<Revision>;
        async fn revoke_key(name: &str) -> StoreResult<()>;
        async fn end_logins(subject: &str) -> StoreResult<()>;
        async fn ended_logins() -> StoreResult<Vec<EndedLogin>>;
        async fn note_key_uses(uses: &[(String, Timestamp)]) -> StoreResult<()>;
    }
    SourceStore {
        async fn heard(source: &str, at: Timestamp) -> StoreResult<()>;
        async fn last_heard() -> StoreResult<BTreeMap<String, Timestamp>>;
    }
    WebhookStore {
        async fn webhook_states() -> StoreResult<BTreeMap<String, WebhookState>>;
        async fn put_webhook_state(name: &str, version: u64, text: &str) -> StoreResult<bool>;
        async fn open_writes() -> StoreResult<BTreeSet<String>>;
    }
    PushStore {
        async fn put_push_record(record: NewPushRecord, max: u64) -> StoreResult<Option<u64>>;
        async fn push_record(id: u64) -> StoreResult<Option<PushRecord>>;
        async fn push_records(after: u64, most: u32) -> StoreResult<Vec<PushRecord>>;
        async fn due_push_records(service: &str, until: Timestamp, most: u32) -> StoreResult<Vec<PushRecord>>;
        async fn update_push_records(updates: Vec<PushUpdate>) -> StoreResult<Vec<u64>>;
        async fn count_push_records() -> StoreResult<u64>;
    }
    Store {
        async fn revision(resource: Resource) -> StoreResult<Revision>;
        async fn epoch() -> StoreResult<Option<u64>>;
        async fn readiness() -> Vec<Check>;
        async fn overview() -> StoreResult<Option<Overview>>;
        async fn enforces_limits() -> bool;
        async fn close() -> ();
    }
}
