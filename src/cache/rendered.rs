use std::borrow::Cow;
use std::sync::Arc;

use super::Memory;
use crate::content::Content;

/// A response as it is sent.
#[derive(Clone, Debug)]
pub struct Rendered {
    /// Its media type, with its parameters.
    pub media_type: Cow<'static, str>,
    /// What is sent.
    pub content: Arc<Content>,
    /// Memory of the limit of renderings that it holds until its last byte is sent.
    pub memory: Option<Arc<Memory>>,
}

impl Rendered {
    /// A response that holds no memory of a limit.
    #[must_use]
    pub fn new(media_type: impl Into<Cow<'static, str>>, content: Content) -> Self {
        Self { media_type: media_type.into(), content: Arc::new(content), memory: None }
    }

    /// The same, holding memory.
    #[must_use]
    pub fn holding(self, memory: Memory) -> Self {
        Self { memory: Some(Arc::new(memory)), ..self }
    }
}
