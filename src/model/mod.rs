//! The domain: plain types and the rules between them, without input or output.
//!
//! Everything else in the crate imports from here; nothing here imports from elsewhere in the crate.

mod area;
mod area_set;
mod clock;
mod flood;
mod geometry;
mod history;
mod layer;
mod period;
mod region;
mod selector;
mod timestamp;

pub use area::{Area, AreaId, InvalidAreaId};
pub use area_set::{AreaSet, DuplicateArea};
pub use clock::{Clock, ManualClock, SystemClock};
pub use flood::{Actor, FloodChange, FloodState, InvalidFloodState, Standing};
pub use geometry::Geometry;
pub use history::{ArchiveRecord, SeriesPoint, archive, series};
pub use layer::{
    Feature, FloodFeature, FloodLayer, FloodProperties, FloodStateRecord, Layer, LayerKind, Properties,
};
pub use period::{InvalidPeriod, Period};
pub use region::Region;
pub use selector::AreaSelector;
pub use timestamp::Timestamp;
