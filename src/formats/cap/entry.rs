use std::io;
use std::time::Duration;

use super::{Cap, feed};
use crate::formats::{Container, EncodeContext, EncodeError, Format};
use crate::model::{Layer, LayerKind};

/// Writes one flooded area as one alert, without a feed around it.
#[derive(Clone, Debug)]
pub(super) struct Entry(pub(super) Cap);

impl Format for Entry {
    fn name(&self) -> &'static str {
        "capalert"
    }

    fn container(&self) -> Container {
        Container::XML
    }

    fn media_type(&self) -> &'static str {
        "application/cap+xml"
    }

    fn carries(&self, kind: LayerKind) -> bool {
        self.0.carries(kind)
    }

    fn time_step(&self) -> Option<Duration> {
        self.0.time_step()
    }

    fn expires_after(&self) -> Option<Duration> {
        self.0.expires_after()
    }

    fn encode(&self, layer: &Layer, context: &EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let Self(Cap { options, .. }) = self;
        let written: io::Result<()> = self
            .0
            .prepared(layer)
            .and_then(|(floods, polygons)| feed::write_alert(floods, &polygons, options, context, out));
        written.map_err(|error| EncodeError::new(self.name(), error))
    }
}
