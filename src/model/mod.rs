//! The domain: plain types and rules without I/O. All other modules may import from this module; it imports nothing from them.

pub mod alerts;
mod area;
mod area_limit;
mod area_set;
mod attention;
mod attributes;
mod basemap;
pub mod bodies;
mod bounding_box;
mod cancel_flag;
mod card;
mod city;
mod clock;
mod data_state;
mod disaster;
pub(crate) mod duration;
mod flood;
mod flood_batch;
mod gauge;
mod gauge_activity;
mod gauge_quality;
pub(crate) mod geojson;
mod geometry;
mod hazards;
mod history;
mod image_url;
mod infrastructure;
mod layer;
pub(crate) mod lists;
mod locator;
mod members;
mod moderation;
pub(crate) mod numbers;
mod outline;
mod period;
mod place;
mod places;
mod regions;
mod report;
mod selector;
mod source;
mod text;
mod timestamp;
pub mod topology;
mod validity;
mod waiting;

pub use area::{Area, AreaId, InvalidAreaId, Region};
pub use area_limit::{AreaLimit, AreaRule, InvalidAreaRule, PlaceNames};
pub use area_set::{AreaSet, DuplicateArea};
pub(crate) use attention::{Attention, AttentionInput, AttentionRules, Reason, attention, flood_depth};
pub(crate) use attributes::district_id;
pub use attributes::{Attributes, InvalidAttributes, InvalidDistrict};
pub(crate) use basemap::{BasemapFeature, BasemapKind, BasemapShape, BasemapShapeType};
pub use bounding_box::BoundingBox;
pub(crate) use cancel_flag::CancelFlag;
pub use cancel_flag::Cancelled;
pub use card::{Card, CardHolder, CardId, InvalidCardId, Upload};
pub use city::City;
pub use clock::{Clock, ManualClock, SystemClock};
pub(crate) use data_state::DataState;
pub use disaster::{DisasterType, Disasters, InvalidDisasterType, OtherDisaster};
pub use flood::{Actor, CurrentState, FloodChange, FloodState, FloodStatus, InvalidFloodState, StateChange};
pub(crate) use flood_batch::UndoneChanges;
pub(crate) use flood_batch::{BatchContext, BatchDecision};
pub use flood_batch::{
    BatchItem, BatchNumber, BatchOperation, BatchOutcome, BatchRequest, Condition, FloodBatch,
    InvalidBatchNumber, LoggedChange, REPEATABLE, RequestKey, UNDOABLE,
};
pub(crate) use gauge::Centimetres;
pub use gauge::{
    AlertLevel, Gauge, GaugeSettings, InvalidAlertLevel, InvalidThresholds, Mute, Observation, ReportedAlert,
    Thresholds,
};
pub use gauge_activity::{GaugeActivity, GaugeStatus, Trend};
pub(crate) use gauge_quality::GaugeRules;
pub use gauge_quality::{Doubt, Quality};
pub use geometry::Geometry;
pub(crate) use geometry::union_rect;
pub use hazards::Hazards;
pub(crate) use hazards::{Attribute, Hazard, ReportType};
pub use history::{ArchiveRecord, SeriesPoint, archive, series};
pub(crate) use image_url::{ImageUrl, LONGEST_WEB_ADDRESS, PHOTO, card_part, shown_photo};
pub use image_url::{WEB_ADDRESS, is_photo_name, is_web_address, photo_name};
pub use infrastructure::{
    Course, Infrastructure, InfrastructureKind, InfrastructureShape, UnknownInfrastructureKind,
};
pub use layer::{
    AlertFeature, AlertLayer, AlertProperties, AreaLayer, AreaOutline, AreaProperties, BoundaryLayer,
    BoundaryProperties, Feature, FeatureId, FloodFeature, FloodLayer, FloodProperties, FloodStateRecord,
    GaugeLayer, GaugeProperties, InfrastructureLayer, InfrastructureProperties, Layer, LayerKind, MapLayer,
    ObservedGauge, Properties, ReportLayer, ReportProperties,
};
pub(crate) use layer::{FloodCondition, FloodIdentity, for_each_map_resource};
pub use locator::Locator;
pub(crate) use members::Members;
pub use moderation::{
    ErasedReport, InvalidReportDigest, Moderation, ModerationAction, ModerationEntry, PhotoMove, PhotoPlace,
    ReportDigest, UnknownModerationAction, UnknownPhotoPlace,
};
pub(crate) use outline::label;
pub use outline::{AreaLevel, Outline};
pub use period::{InvalidPeriod, Period};
pub use place::{Position, Tags};
pub use places::Places;
pub use regions::Regions;
pub use report::{CARD_SOURCE, InvalidReportKey, PartnerPost, Report, ReportContent, ReportKey};
pub use selector::AreaSelector;
pub use source::{CoveredData, SourceStatus};
pub(crate) use text::{
    EXACT, Number, TEXT_OR_WHOLE, place_name, readable, unknown_key, with_parameter, without_zero_fraction,
};
pub use text::{NAME, digits, is_name, whole_number};
pub use timestamp::{InvalidTimestamp, Timestamp};
pub use validity::Validity;
pub(crate) use waiting::Waiting;
pub use waiting::{
    HiddenReports, HideWaiting, InvalidSenderHash, SenderHash, WaitingOrigin, WaitingReport, WaitingReports,
};
