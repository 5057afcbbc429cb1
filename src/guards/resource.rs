use crate::config::{Areas, Selectable};
use crate::model::LayerKind;

/// A resource as its guards know it: what it can be selected by, and what its layers are.
///
/// Guards that validate differently by resource are generic over it: `Select<Floods>`.
pub trait Resource: Send + Sync + 'static {
    /// The kind of its layers.
    const LAYER: LayerKind;

    /// What it can be selected by.
    fn selectable(areas: &Areas) -> &Selectable;
}

/// `/floods` and what lies under it.
#[derive(Clone, Copy, Debug)]
pub struct Floods;

impl Resource for Floods {
    const LAYER: LayerKind = LayerKind::Floods;

    fn selectable(areas: &Areas) -> &Selectable {
        &areas.supported.floods
    }
}
