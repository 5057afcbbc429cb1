//! A text format of one resource, as an agency adds it.

use std::fmt;
use std::time::Duration;

use siaga::formats::{Container, EncodeContext, EncodeError, Format};
use siaga::model::{Layer, LayerKind};

pub(crate) struct TextFormat<W> {
    pub(crate) name: &'static str,
    pub(crate) kind: LayerKind,
    pub(crate) write: W,
}

impl<W> fmt::Debug for TextFormat<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl<W> Format for TextFormat<W>
where
    W: Fn(&Layer, &EncodeContext) -> Result<String, EncodeError> + Send + Sync + 'static,
{
    fn name(&self) -> &'static str {
        self.name
    }

    fn container(&self) -> Container {
        Container("text")
    }

    fn media_type(&self) -> &'static str {
        "text/csv; charset=utf-8"
    }

    fn supports(&self, kind: LayerKind) -> bool {
        kind == self.kind
    }

    fn time_step(&self) -> Option<Duration> {
        None
    }

    fn encode(&self, layer: &Layer, context: &EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        out.extend((self.write)(layer, context)?.bytes());
        Ok(())
    }
}
