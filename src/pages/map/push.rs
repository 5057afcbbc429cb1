//! Messages to phones: the page that lists and ends them, what the script of the map needs for them, and the installable page.

use minijinja::value::Serde;
use rocket::http::Header;
use rocket::{Responder, State, get};
use serde_json::json;

use crate::config::Config;
use crate::guards::{Caller, Language};
use crate::http::error::Problem;
use crate::pages::layout::{Layout, PageContext, PageTemplate};
use crate::push::PushService;
use crate::rendering::{ApiResponse, HTML, JSON};

const PAGE: PageTemplate = PageTemplate::new("notifications.html", include_str!("notifications.html"));
const MANIFEST: &str = "application/manifest+json";
/// The icons of the installed page: the name and the picture of each. The first is for Apple's home screen.
const ICONS: [(&str, &[u8]); 3] = [
    ("icon-180.png", include_bytes!("icons/180.png")),
    ("icon-192.png", include_bytes!("icons/192.png")),
    ("icon-512.png", include_bytes!("icons/512.png")),
];

#[derive(Responder)]
pub(in crate::pages) struct NotificationsPage {
    page: ApiResponse,
    security: Header<'static>,
    vary: Header<'static>,
}

/// Returns what the script needs: texts and addresses.
fn settings(config: &Config, language: &Language, push: &PushService) -> serde_json::Value {
    let base = config.base_url.path().trim_end_matches('/');
    json!({
        "base": base,
        "language": language.code(),
        "texts": language.translations().group("push"),
        "feed": format!("{base}/alerts?geoformat=cap"),
        "isActual": push.is_actual(),
    })
}

#[get("/map/notifications", rank = 1)]
pub(in crate::pages) fn show_notifications(
    _caller: Caller,
    push: PushService,
    language: Language,
    layout: &State<Layout>,
    config: &State<Config>,
) -> Result<NotificationsPage, Problem> {
    let settings = settings(config, &language, &push);
    let texts = language.translations();
    let values = minijinja::context! {
        t => Serde(texts.group("push")),
        feed => settings["feed"].as_str(),
        settings => settings.to_string(),
        map => texts.text("shell", "map"),
    };
    let context = PageContext { page: "notifications", path: "/map/notifications", keep: &[] };
    let page = layout.render(PAGE, texts, context, values).map_err(Problem::internal)?;
    let policy = "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self'; img-src 'self' data:; \
                  manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    Ok(NotificationsPage {
        page: ApiResponse::public(HTML, page.into_bytes()),
        security: Header::new("Content-Security-Policy", policy),
        vary: Header::new("Vary", "Accept-Encoding, Accept-Language"),
    })
}

#[get("/map/push", rank = 1)]
pub(in crate::pages) fn find_push_settings(
    _caller: Caller,
    push: PushService,
    language: Language,
    config: &State<Config>,
) -> ApiResponse {
    let settings = settings(config, &language, &push);
    ApiResponse::public(JSON, settings.to_string().into_bytes())
}

/// Describes the page as an app that people can install: on an iPhone, only an installed page gets messages.
#[get("/map/app.webmanifest", rank = 1)]
pub(in crate::pages) fn find_manifest(_caller: Caller, config: &State<Config>) -> ApiResponse {
    // An agency's icon has one size.
    let small = config.site.icon().is_none().then_some(("icon-192.png", "192x192"));
    let icons = small.into_iter().chain([("icon-512.png", "512x512")]);
    let icon = |(name, sizes)| json!({ "src": format!("/map/{name}"), "sizes": sizes, "type": "image/png" });
    let icons: Vec<_> = icons.map(icon).collect();
    let manifest = json!({
        "name": config.site.name,
        "short_name": config.site.name,
        "start_url": "/map",
        "scope": "/map",
        "display": "standalone",
        "background_color": "#ffffff",
        "theme_color": "#0b4a68",
        "icons": icons,
    });
    ApiResponse::public(MANIFEST, manifest.to_string().into_bytes())
}

/// Responds with an icon of the installed page.
pub(super) fn find_icon(name: &str, config: &Config) -> Option<ApiResponse> {
    let (_, picture) = ICONS.iter().find(|(icon, _)| *icon == name)?;
    Some(ApiResponse::public("image/png", config.site.icon().unwrap_or(picture).to_vec()))
}
