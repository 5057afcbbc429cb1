//! The description of the interface for people: Swagger UI, whose files are part of the program.

use std::sync::Arc;

use rocket::http::Header;
use rocket::{Responder, State, get};
use utoipa_swagger_ui::Config as Ui;

use super::Answer;
use crate::config::Config;
use crate::error::Problem;
use crate::guards::Caller;

const PAGE: &str = include_str!("page.html");
const START: &str = include_str!("start.js");

/// The page with its own policy: nothing but what comes with it runs, and the interface may be tried out.
#[derive(Responder)]
pub(super) struct Page {
    answer: Answer,
    policy: Header<'static>,
}

/// `GET /docs`: the page.
#[get("/docs")]
pub(super) fn show(_caller: Caller, config: &State<Config>) -> Page {
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
         connect-src 'self' {}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        config.base_url.origin()
    );
    Page {
        answer: Answer::public("text/html; charset=utf-8", PAGE.into()),
        policy: Header::new("Content-Security-Policy", policy),
    }
}

/// `GET /docs/:file`: what the page consists of.
#[get("/docs/<file>")]
pub(super) fn find_file(_caller: Caller, file: &str) -> Result<Answer, Problem> {
    if file == "start.js" {
        return Ok(Answer::public("text/javascript; charset=utf-8", START.into()));
    }
    let found = match file {
        "swagger-ui.css" | "swagger-ui-bundle.js" => utoipa_swagger_ui::serve(file, Arc::new(Ui::default())),
        _ => Ok(None),
    };
    let found = found.map_err(|error| Problem::internal(error.to_string()))?;
    let file = found.ok_or_else(|| Problem::not_found("this file"))?;
    Ok(Answer::public(file.content_type, file.bytes.into_owned()))
}
