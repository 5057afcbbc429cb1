//! The desk page: the login form, or the settings for its script.

use std::sync::Arc;

use chrono::Utc;
use minijinja::context;
use minijinja::value::Serde;
use rocket::http::{Header, Status as Http};
use rocket::{Request, Responder};
use serde_json::{Value, json};

use super::session::Officer;
use crate::actions::may_mute;
use crate::auth::Authenticator;
use crate::config::Config;
use crate::data::country::Translations;
use crate::guards::{Language, guard, managed};
use crate::http::error::Problem;
use crate::model::alerts::Status;
use crate::model::{AreaSelector, FloodState, Timestamp};
use crate::pages::layout::{Layout, PageContext, PageTemplate};
use crate::rendering::ApiResponse;
use crate::stores::Store;

const PAGE: PageTemplate = PageTemplate::new("desk.html", include_str!("page.html"));
const MESSAGE: PageTemplate = PageTemplate::new("desk_message.html", include_str!("message.html"));

#[derive(Responder)]
pub(super) struct DeskPage {
    response: (Http, ApiResponse),
    policy: Header<'static>,
    language: Header<'static>,
}

pub(super) struct DeskRequest<'r> {
    language: Language,
    pub(super) config: &'r Config,
    layout: &'r Layout,
    pub(super) store: &'r dyn Store,
    pub(super) authenticator: &'r Authenticator,
}

guard!(DeskRequest<'r>, |request| Self::from_request(request));

impl<'r> DeskRequest<'r> {
    fn from_request(request: &'r Request<'_>) -> Result<Self, Problem> {
        Ok(Self {
            language: Language::for_request(request)?,
            config: managed(request)?,
            layout: managed(request)?,
            store: &**managed::<Arc<dyn Store>>(request)?,
            authenticator: managed(request)?,
        })
    }
}

impl DeskRequest<'_> {
    fn texts(&self) -> &Translations {
        self.language.translations()
    }

    pub(super) fn text(&self, key: &str) -> &str {
        self.texts().text("desk", key)
    }

    /// Returns a text of the script.
    pub(super) fn script_text(&self, key: &str) -> String {
        self.texts().group("desk")["script"][key].as_str().unwrap_or_default().to_owned()
    }

    pub(super) fn moment(&self, at: Timestamp) -> String {
        self.texts().moment(at, self.config.time_zone)
    }

    pub(super) fn state_name(&self, state: Option<FloodState>) -> &str {
        match state {
            None => self.text("dry"),
            Some(state) => self.texts().text("depths", &state.code().to_string()),
        }
    }

    /// Returns the login form. `message` is the key of a text, or empty.
    pub(super) async fn login(&self, status: Http, message: &str) -> Result<DeskPage, Problem> {
        let message = Some(message).filter(|key| !key.is_empty()).map(|key| self.text(key));
        let office = self.authenticator.relying_party().is_some();
        self.page(status, context! { message, office, keys => self.config.desk.keys, officer => () }).await
    }

    /// Returns a page that goes on to an address by itself, and has a link to it.
    pub(super) async fn forward(&self, message: &str, next: &str, link: &str) -> Result<DeskPage, Problem> {
        let links = Serde([(next, self.text(link))]);
        let values = context! { message => self.text(message), next, links };
        self.render(MESSAGE, "/desk", Http::Ok, values).await
    }

    /// Returns a page about a login that failed. `name` is the person's, if known.
    pub(super) async fn failure(&self, status: Http, message: &str, name: &str) -> Result<DeskPage, Problem> {
        let mut message = self.text(message).replace("{name}", name);
        let mut links = vec![("/desk/login/start", self.text("again"))];
        if status == Http::ServiceUnavailable && self.config.desk.keys {
            message = format!("{message} {}", self.text("key_works"));
            links.push(("/desk", self.text("login_key")));
        }
        self.render(MESSAGE, "/desk", status, context! { message, links => Serde(links) }).await
    }

    pub(super) async fn desk(&self, officer: &Officer) -> Result<DeskPage, Problem> {
        let places = self.store.places().await?.value;
        let bounds = places.areas().around(&AreaSelector::default());
        let bounds = bounds.map(|bbox| [bbox.min().x, bbox.min().y, bbox.max().x, bbox.max().y]);
        let officer = json!({
            "settings": self.settings(officer, bounds).to_string(),
            "name": officer.name(),
            "subject": officer.credential.subject,
            "is_person": officer.is_person(),
            "token": officer.token,
            "may_write": officer.may_write(),
            "limited": officer.is_limited(),
        });
        self.page(Http::Ok, context! { officer => Serde(officer) }).await
    }

    fn settings(&self, officer: &Officer, bounds: Option<[f64; 4]>) -> Value {
        let (config, texts) = (self.config, self.texts());
        let zone = config.time_zone;
        json!({
            "base": config.base_url.path().trim_end_matches('/'),
            "language": texts.code(),
            "timeZone": zone.name(),
            "zone": Utc::now().with_timezone(&zone).format("%Z").to_string(),
            "texts": self.desk_texts()["script"],
            "depths": texts.group("depths"),
            "short": config.country.data().abbreviations(),
            "photos": config.photos_url(),
            "box": bounds,
            "token": officer.token,
            "subject": officer.credential.subject,
            "mayWrite": officer.may_write(),
            "mayModerate": officer.may_moderate(),
            "mayMute": may_mute(&officer.credential),
            "limited": officer.is_limited(),
            "exercise": self.is_exercise(),
        })
    }

    fn is_exercise(&self) -> bool {
        self.config.issuer().status != Status::Actual
    }

    /// Returns the texts of the desk, with the name of the alert status unless it is `Actual`.
    pub(super) fn desk_texts(&self) -> Value {
        let texts = self.texts();
        let mut words = texts.group("desk").clone();
        let status = self.config.issuer().status.name();
        let word = texts.group("alerts")["statuses"][status].as_str().unwrap_or_default().to_uppercase();
        words["script"]["exercise"] = word.clone().into();
        words["exercise"] = word.into();
        words
    }

    async fn page(&self, status: Http, values: minijinja::Value) -> Result<DeskPage, Problem> {
        self.render(PAGE, "/desk", status, values).await
    }

    pub(super) async fn render(
        &self,
        template: PageTemplate,
        path: &str,
        status: Http,
        values: minijinja::Value,
    ) -> Result<DeskPage, Problem> {
        let texts = self.texts();
        let shared = context! {
            t => Serde(self.desk_texts()),
            depths => Serde(texts.group("depths")),
            exercise => self.is_exercise(),
            situation => format!("/desk/situation?lang={}", texts.code()),
            shift => format!("/desk/card?lang={}", texts.code()),
            table => format!("/desk/situation.csv?lang={}", texts.code()),
            ..values
        };
        let context = PageContext { page: "desk", path, keep: &[] };
        let html = self.layout.render(template, texts, context, shared).map_err(Problem::internal)?;
        Ok(DeskPage {
            // Compression is safe from BREACH here: other sites cannot make a browser send the cookie (`SameSite=Strict`).
            response: (status, ApiResponse::private_page(html).compressed().await?),
            policy: Header::new("Content-Security-Policy", policy(self.config)),
            language: Header::new("Content-Language", self.language.code().to_owned()),
        })
    }
}

/// Returns the policy: only scripts of this service run. Trusted types forbid turning text into script or HTML.
fn policy(config: &Config) -> String {
    let photos = url::Url::parse(&config.photos_url()).map(|url| url.origin().ascii_serialization());
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; \
         img-src 'self' data: {}; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'",
        photos.unwrap_or_default()
    )
}
