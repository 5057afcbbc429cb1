//! Error pages for browsers, instead of JSON.

use minijinja::context;
use rocket::Request;
use rocket::http::Method;

use crate::config::Config;
use crate::guards::Language;
use crate::http::admission::Admission;
use crate::http::error::Problem;
use crate::pages::layout::{Layout, PageContext, PageTemplate};

const PAGE: PageTemplate = PageTemplate::new("error.html", include_str!("problem.html"));

/// Returns the error page in the reader's language; `None` for programs and for requests for data, which get errors as JSON.
/// Browsers have HTML in `Accept` when they open an address; scripts do not.
pub(crate) fn problem_page(problem: &Problem, request: &Request<'_>) -> Option<String> {
    let names_html = |line: &str| line.contains("text/html");
    if request.method() != Method::Get || !request.headers().get("Accept").any(names_html) {
        return None;
    }
    let config: &Config = request.rocket().state()?;
    let base = config.base_url.path().trim_end_matches('/');
    let path = Admission::path(request);
    if path
        .strip_prefix(base)
        .is_some_and(|rest| !base.is_empty() && (rest.is_empty() || rest.starts_with('/')))
    {
        return None;
    }
    let language = Language::for_request_or_default(request, config);
    let texts = language.translations();
    let group = &texts.group("shell")["problems"];
    let kind = match problem.status().code {
        404 => "unknown",
        403 => "refused",
        429 => "often",
        400..500 => "wrong",
        _ => "failed",
    };
    let values = context! {
        title => group["title"].as_str(),
        text => group[kind].as_str(),
        // The message helps people who have edited the address by hand.
        detail => (kind == "wrong").then_some(problem.message()),
        link => format!("/map?lang={}", language.code()),
        link_text => texts.text("front", "map"),
    };
    let layout: &Layout = request.rocket().state()?;
    let context = PageContext { page: "problem", path: "/map", keep: &[] };
    layout.render(PAGE, texts, context, values).ok()
}
