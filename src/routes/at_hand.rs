use std::borrow::Cow;

use crate::cache::Rendered;
use crate::content::Content;
use crate::error::Problem;
use crate::off_thread::off_thread;

/// What is the same until the program ends, with its tag and compressed at the best level, off the threads that serve requests.
///
/// # Errors
///
/// 500 if a bug ends that.
pub(super) async fn at_hand(
    media_type: impl Into<Cow<'static, str>>,
    bytes: Vec<u8>,
) -> Result<Rendered, Problem> {
    let compressing = off_thread(move |_| {
        let content = Content::tagged(bytes);
        content.code(usize::MAX);
        content
    });
    Ok(Rendered::new(media_type, compressing.await.map_err(Problem::internal)?))
}
