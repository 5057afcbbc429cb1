use serde::Serialize;

use super::AreaId;

/// Where something lies, in the terms of the map: each is null outside all areas.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tags {
    /// The province (ISO 3166-2).
    pub instance_region_code: Option<Box<str>>,
    /// The local area.
    pub local_area_id: Option<AreaId>,
    /// The city with a boundary of its own that the place lies in. Responses do not show it.
    #[serde(skip)]
    pub city: Option<Box<str>>,
}
