use std::sync::Arc;

use super::Reload;
use crate::config::Config;
use crate::formats::template::{self, InvalidTemplate, LiveTemplate};
use crate::formats::{EncodeContext, Format};
use crate::model::Clock;

/// The configured templates. A reload reads their files again.
#[derive(Clone, Debug)]
pub(super) struct Templates {
    templates: Vec<Arc<LiveTemplate>>,
    clock: Arc<dyn Clock>,
}

impl Templates {
    pub(super) fn read(config: &Config, clock: Arc<dyn Clock>) -> Result<Self, InvalidTemplate> {
        let templates = template::read(&config.formats.template, &encode_context(config, &*clock))?;
        Ok(Self { templates, clock })
    }

    pub(super) fn formats(&self) -> Vec<Arc<dyn Format>> {
        self.templates.iter().map(|template| Arc::clone(template) as _).collect()
    }
}

impl Reload for Templates {
    fn keys(&self) -> &[&str] {
        // No keys, because only the files are read again, not the settings of the templates.
        &[]
    }

    fn reload(&self, config: &Config) {
        let context = encode_context(config, &*self.clock);
        for template in &self.templates {
            match template.reload(&context) {
                Ok(true) => tracing::info!(format = template.name(), "the template was read again"),
                Ok(false) => {}
                Err(error) => tracing::error!("the template stays as it was: {error}"),
            }
        }
    }
}

fn encode_context(config: &Config, clock: &dyn Clock) -> EncodeContext {
    EncodeContext::new(clock.now(), config.time_zone, config.base_url.as_str())
}
