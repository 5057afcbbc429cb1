use std::borrow::Cow;
use std::sync::Arc;

use crate::http::content::Content;
use crate::rendering::Memory;

/// A response with its body in all forms.
#[derive(Clone, Debug)]
pub struct Rendered {
    /// Its media type, with its parameters.
    pub(crate) media_type: Cow<'static, str>,
    /// Its body.
    pub(crate) content: Arc<Content>,
    /// The memory within the limit of renderings that it holds until its last byte is sent.
    pub(crate) memory: Option<Arc<Memory>>,
    /// Whether it is a list that lacks its oldest items, because there are too many.
    pub(crate) is_truncated: bool,
}

impl Rendered {
    /// Makes a response that holds no such memory.
    #[must_use]
    pub fn new(media_type: impl Into<Cow<'static, str>>, content: Content) -> Self {
        Self { media_type: media_type.into(), content: Arc::new(content), memory: None, is_truncated: false }
    }

    /// Returns the same response, holding this memory.
    #[must_use]
    pub(crate) fn holding(self, memory: Memory) -> Self {
        Self { memory: Some(Arc::new(memory)), ..self }
    }
}
