use std::borrow::Cow;
use std::sync::Arc;

use rocket::Responder;
use rocket::http::Header;
use rocket::tokio::task::spawn_blocking;

use super::Answer;
use crate::cache::Rendered;
use crate::content::Content;

/// A page for people, with its own policy of what may run and be loaded.
#[derive(Responder)]
pub(super) struct Page {
    answer: Answer,
    policy: Header<'static>,
}

impl Page {
    pub(super) fn new(html: String, policy: impl Into<Cow<'static, str>>) -> Self {
        let answer = Answer::public("text/html; charset=utf-8", html.into_bytes());
        Self { answer, policy: Header::new("Content-Security-Policy", policy) }
    }
}

/// What is the same until the program ends, with its tag now, and its shorter forms a while later.
pub(super) fn at_hand(media_type: impl Into<Cow<'static, str>>, bytes: Vec<u8>) -> Rendered {
    let content = Arc::new(Content::tagged(bytes));
    let waiting = Arc::clone(&content);
    spawn_blocking(move || waiting.code(usize::MAX));
    Rendered { media_type: media_type.into(), content }
}
