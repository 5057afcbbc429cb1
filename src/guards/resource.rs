use crate::config::{Selectable, Supported};
use crate::model::LayerKind;

/// A resource with a place on the map, as its guards know it: what it can be selected by, and what its layers are.
///
/// Guards that validate differently by resource are generic over it: `Select<Floods>`.
pub trait OnMap: Send + Sync + 'static {
    /// The kind of its layers.
    const LAYER: LayerKind;

    /// What it can be selected by.
    fn selectable(supported: &Supported) -> &Selectable;
}

/// `/floods` and what lies under it.
#[derive(Clone, Copy, Debug)]
pub struct Floods;

/// `/reports` and what lies under it.
#[derive(Clone, Copy, Debug)]
pub struct Reports;

/// `/floodgauges`.
#[derive(Clone, Copy, Debug)]
pub struct Gauges;

/// `/infrastructure` and what lies under it.
#[derive(Clone, Copy, Debug)]
pub struct Infrastructure;

/// `/admin`.
#[derive(Clone, Copy, Debug)]
pub struct Boundaries;

impl OnMap for Floods {
    const LAYER: LayerKind = LayerKind::Floods;

    fn selectable(supported: &Supported) -> &Selectable {
        &supported.floods
    }
}

impl OnMap for Reports {
    const LAYER: LayerKind = LayerKind::Reports;

    fn selectable(supported: &Supported) -> &Selectable {
        &supported.reports
    }
}

impl OnMap for Gauges {
    const LAYER: LayerKind = LayerKind::Gauges;

    fn selectable(supported: &Supported) -> &Selectable {
        &supported.gauges
    }
}

impl OnMap for Infrastructure {
    const LAYER: LayerKind = LayerKind::Infrastructure;

    fn selectable(supported: &Supported) -> &Selectable {
        &supported.infrastructure
    }
}

impl OnMap for Boundaries {
    const LAYER: LayerKind = LayerKind::Boundaries;

    fn selectable(supported: &Supported) -> &Selectable {
        &supported.boundaries
    }
}
