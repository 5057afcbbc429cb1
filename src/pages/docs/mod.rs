//! The documentation of the HTTP API: Swagger UI, built into the program.

mod files;

use minijinja::context;
use minijinja::value::Serde;
use rocket::http::Header;
use rocket::{Responder, State, get};

pub(crate) use self::files::Files;
use crate::archive::Archive;
use crate::config::Config;
use crate::guards::{Caller, Language};
use crate::http::error::Problem;
use crate::pages::layout::{Layout, PageContext, PageTemplate};
use crate::rendering::{ApiResponse, HTML};

const PAGE: PageTemplate = PageTemplate::new("docs.html", include_str!("page.html"));

#[derive(Responder)]
pub(super) struct Page {
    response: ApiResponse,
    policy: Header<'static>,
    vary: Header<'static>,
}

#[get("/docs")]
pub(super) async fn show(
    _caller: Caller,
    language: Language,
    archive: &State<Option<Archive>>,
    config: &State<Config>,
    layout: &State<Layout>,
) -> Result<Page, Problem> {
    let context = PageContext { page: "developers", path: "/docs", keep: &[] };
    let texts = language.translations();
    let values = context! {
        t => Serde(texts.group("front")),
        ogc => ogc_address(config),
        archive => has_files(archive.inner().as_ref()).await,
    };
    let page = layout.render(PAGE, texts, context, values).map_err(Problem::internal)?;
    // Only bundled scripts run. The page may send requests to the API, so that readers can try it.
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
         connect-src 'self' {}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        config.base_url.origin()
    );
    Ok(Page {
        response: ApiResponse::public(HTML, page.into_bytes()),
        policy: Header::new("Content-Security-Policy", policy),
        vary: Header::new("Vary", "Accept-Encoding, Accept-Language"),
    })
}

/// Returns the address of the data for GIS programs.
pub(super) fn ogc_address(config: &Config) -> String {
    format!("{}/ogc", config.base_url.path().trim_end_matches('/'))
}

/// Returns whether there is an archive, and it has files yet.
pub(super) async fn has_files(archive: Option<&Archive>) -> bool {
    match archive {
        Some(archive) => archive.areas().await.is_some(),
        None => false,
    }
}

#[get("/docs/<file>")]
pub(super) async fn find_file(
    _caller: Caller,
    file: &str,
    files: &State<Files>,
) -> Result<ApiResponse, Problem> {
    files.find(file).await?.map(ApiResponse::shared).ok_or_else(|| Problem::not_found("this file"))
}
