use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;

use super::{InvalidTemplate, Options, Template};
use crate::formats::{Container, EncodeContext, EncodeError, Format};
use crate::model::{Layer, LayerKind};

/// A template whose file can be reloaded while the service runs. Its settings stay unchanged.
#[derive(Debug)]
pub(crate) struct LiveTemplate {
    options: Options,
    first: Arc<Template>,
    current: ArcSwap<Template>,
}

impl LiveTemplate {
    pub(crate) fn read(
        name: &str,
        options: &Options,
        context: &EncodeContext,
    ) -> Result<Self, InvalidTemplate> {
        let template = Arc::new(Template::checked(name, options, context)?);
        Ok(Self { options: options.clone(), current: ArcSwap::new(Arc::clone(&template)), first: template })
    }

    /// Reloads the file, and returns whether the template has changed. After an error, the previous template stays in use.
    pub(crate) fn reload(&self, context: &EncodeContext) -> Result<bool, InvalidTemplate> {
        let template = Template::checked(self.first.name(), &self.options, context)?;
        let has_changed = template.version() != self.current.load().version();
        if has_changed {
            self.current.store(Arc::new(template));
        }
        Ok(has_changed)
    }
}

impl Format for LiveTemplate {
    fn name(&self) -> &str {
        self.first.name()
    }

    fn container(&self) -> Container {
        self.first.container()
    }

    fn media_type(&self) -> &str {
        self.first.media_type()
    }

    fn current(&self) -> Option<Arc<dyn Format>> {
        Some(self.current.load_full())
    }

    fn supports(&self, kind: LayerKind) -> bool {
        self.first.supports(kind)
    }

    fn time_step(&self) -> Option<Duration> {
        self.current.load().time_step()
    }

    fn encode(&self, layer: &Layer, context: &EncodeContext, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        self.current.load().encode(layer, context, out)
    }
}
