use std::borrow::Cow;
use std::sync::Arc;

use crate::content::Content;

/// An answer as it is sent.
#[derive(Clone, Debug)]
pub struct Rendered {
    /// Its media type, with its parameters.
    pub media_type: Cow<'static, str>,
    /// What is sent.
    pub content: Arc<Content>,
}
