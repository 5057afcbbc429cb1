use std::borrow::Cow;
use std::sync::Arc;

use rocket::tokio::task::spawn_blocking;

use crate::cache::Rendered;
use crate::content::Content;

/// What is the same until the program ends, with its tag now, and its shorter forms a while later.
pub(super) fn at_hand(media_type: impl Into<Cow<'static, str>>, bytes: Vec<u8>) -> Rendered {
    let rendered = Rendered::new(media_type, Content::tagged(bytes));
    let waiting = Arc::clone(&rendered.content);
    spawn_blocking(move || waiting.code(usize::MAX));
    rendered
}
