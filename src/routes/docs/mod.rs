//! The description of the interface for people: Swagger UI, whose files are part of the program.

mod files;

use rocket::http::Header;
use rocket::{Responder, State, get};

pub(crate) use self::files::Files;
use super::Answer;
use super::answer::HTML;
use crate::config::Config;
use crate::error::Problem;
use crate::guards::Caller;

const PAGE: &str = include_str!("page.html");

/// The page, with a policy of its own.
#[derive(Responder)]
pub(super) struct Page {
    answer: Answer,
    policy: Header<'static>,
}

/// `GET /docs`: the page.
#[get("/docs")]
pub(super) fn show(_caller: Caller, config: &State<Config>) -> Page {
    // Nothing but what comes with the page runs, and the interface may be tried out.
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
         connect-src 'self' {}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        config.base_url.origin()
    );
    Page { answer: Answer::public(HTML, PAGE.into()), policy: Header::new("Content-Security-Policy", policy) }
}

/// `GET /docs/:file`: what the page consists of.
#[get("/docs/<file>")]
pub(super) async fn find_file(_caller: Caller, file: &str, files: &State<Files>) -> Result<Answer, Problem> {
    files.find(file).await?.map(Answer::shared).ok_or_else(|| Problem::not_found("this file"))
}
