//! The description of the interface for people: Swagger UI, whose files are part of the program.

mod files;

use rocket::http::Header;
use rocket::{Responder, State, get};

pub(crate) use self::files::Files;
use crate::config::Config;
use crate::error::Problem;
use crate::guards::Caller;
use crate::rendering::{Answer, HTML};

const PAGE: &str = include_str!("page.html");

/// The page, with its own content security policy.
#[derive(Responder)]
pub(super) struct Page {
    answer: Answer,
    policy: Header<'static>,
}

/// `GET /docs`: responds with the page.
#[get("/docs")]
pub(super) fn show(_caller: Caller, config: &State<Config>) -> Page {
    // Only scripts that come with the page run; the page may send requests to the interface, so that people can try it.
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
         connect-src 'self' {}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        config.base_url.origin()
    );
    Page { answer: Answer::public(HTML, PAGE.into()), policy: Header::new("Content-Security-Policy", policy) }
}

/// `GET /docs/:file`: responds with a file that the page loads.
#[get("/docs/<file>")]
pub(super) async fn find_file(_caller: Caller, file: &str, files: &State<Files>) -> Result<Answer, Problem> {
    files.find(file).await?.map(Answer::shared).ok_or_else(|| Problem::not_found("this file"))
}
