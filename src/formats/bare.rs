use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::{Container, EncodeContext, EncodeError, Format};
use crate::model::{Layer, LayerKind};

/// Returns a format that writes the same documents without the JSON envelope. Returns formats in other containers unchanged.
pub(crate) fn bare(format: Arc<dyn Format>) -> Arc<dyn Format> {
    match format.without_envelope() {
        Some(bare) => bare,
        None if format.container() == Container::JSON => Arc::new(WithoutEnvelope(format)),
        None => format,
    }
}

/// Wraps a format in [`Container::JSON`] to omit the envelope. Clients cannot select it with `Accept`.
#[derive(Debug)]
struct WithoutEnvelope(Arc<dyn Format>);

impl Format for WithoutEnvelope {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn container(&self) -> Container {
        Container("bare")
    }

    fn media_type(&self) -> &str {
        self.0.media_type()
    }

    fn version(&self) -> u64 {
        self.0.version()
    }

    fn supports(&self, kind: LayerKind) -> bool {
        self.0.supports(kind)
    }

    fn time_step(&self) -> Option<Duration> {
        self.0.time_step()
    }

    fn expires_after(&self) -> Option<Duration> {
        self.0.expires_after()
    }

    fn schema(&self, kind: LayerKind) -> Value {
        self.0.schema(kind)
    }

    fn encode(&self, layer: &Layer, context: &EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        self.0.encode(layer, context, out)
    }
}
