//! The description of the interface for people: Swagger UI, whose files are part of the program.

mod files;

use minijinja::context;
use rocket::http::Header;
use rocket::{Responder, State, get};

pub(crate) use self::files::Files;
use crate::config::Config;
use crate::guards::{Caller, Language};
use crate::http::error::Problem;
use crate::pages::layout::{Layout, PageContext, PageTemplate};
use crate::rendering::{ApiResponse, HTML};

const PAGE: PageTemplate = PageTemplate::new("docs.html", include_str!("page.html"));

/// The page, with its own content security policy.
#[derive(Responder)]
pub(super) struct Page {
    answer: ApiResponse,
    policy: Header<'static>,
    vary: Header<'static>,
}

/// `GET /docs`: responds with the page.
#[get("/docs")]
pub(super) fn show(
    _caller: Caller,
    language: Language,
    config: &State<Config>,
    shell: &State<Layout>,
) -> Result<Page, Problem> {
    let here = PageContext { page: "developers", path: "/docs", keep: &[] };
    let page = shell.render(PAGE, language.translations(), here, context! {}).map_err(Problem::internal)?;
    // Only scripts that come with the page run; the page may send requests to the interface, so that people can try it.
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
         connect-src 'self' {}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        config.base_url.origin()
    );
    Ok(Page {
        answer: ApiResponse::public(HTML, page.into_bytes()),
        policy: Header::new("Content-Security-Policy", policy),
        vary: Header::new("Vary", "Accept-Encoding, Accept-Language"),
    })
}

/// `GET /docs/:file`: responds with a file that the page loads.
#[get("/docs/<file>")]
pub(super) async fn find_file(
    _caller: Caller,
    file: &str,
    files: &State<Files>,
) -> Result<ApiResponse, Problem> {
    files.find(file).await?.map(ApiResponse::shared).ok_or_else(|| Problem::not_found("this file"))
}
