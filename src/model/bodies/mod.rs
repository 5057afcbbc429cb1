//! Parses request bodies: each kind becomes a valid value, or a list of all its faults.

mod attributes;
mod batch;
mod card;
mod card_report;
mod fields;
mod flood_state;
mod gauge;
mod partner_report;
mod push;
mod storable;
mod time_window;
mod times;
mod visibility;

pub(crate) use self::attributes::{
    Accepts, all_report_type_names, disasters_of, report_type_names, shown_card_data,
};
pub(crate) use self::batch::{AreaName, BatchItemBody, MAX_AREAS, MAX_NOTE, read_flood_order};
pub(crate) use self::card::read_card_holder;
pub(crate) use self::card_report::{CardReport, check_card_data, is_required, read_card_report};
pub use self::card_report::{CardRules, InvalidMaxIdLength, MaxIdLength};
pub(crate) use self::fields::ORIGIN;
pub use self::fields::{Fault, Object};
pub(crate) use self::flood_state::read_flood_state;
pub use self::gauge::{GaugeReadings, MissingAlert, SentReading, SettingsUpdate, Update};
pub(crate) use self::gauge::{read_gauge, read_mute};
pub(crate) use self::partner_report::read_partner_report;
pub use self::partner_report::{PartnerReport, PartnerRules};
pub(crate) use self::push::{MAX_PUSH_AREAS, PushAreas, PushBody, read_push_subscription};
pub use self::storable::check_storable;
pub(crate) use self::time_window::TimeWindow;
pub(crate) use self::times::effective_time;
pub(crate) use self::visibility::{Visibility, read_reason, read_visibility};
