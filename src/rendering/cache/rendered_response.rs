use std::borrow::Cow;
use std::sync::Arc;

use crate::http::content::Content;
use crate::rendering::Memory;

/// A rendered response, with its body in all encodings.
#[derive(Clone, Debug)]
pub struct RenderedResponse {
    pub(crate) media_type: Cow<'static, str>,
    pub(crate) content: Arc<Content>,
    /// Memory of the permit pool, held until the last byte is sent.
    pub(crate) memory: Option<Arc<Memory>>,
    /// Whether the oldest items of the list are missing, because a list has a limit.
    pub(crate) is_truncated: bool,
}

impl RenderedResponse {
    /// Returns a response without memory reserved in a permit pool.
    #[must_use]
    pub fn new(media_type: impl Into<Cow<'static, str>>, content: Content) -> Self {
        Self { media_type: media_type.into(), content: Arc::new(content), memory: None, is_truncated: false }
    }

    #[must_use]
    pub(crate) fn with_memory(self, memory: Memory) -> Self {
        Self { memory: Some(Arc::new(memory)), ..self }
    }
}
