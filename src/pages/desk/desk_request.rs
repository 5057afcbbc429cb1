//! The page of the desk: the form to log in, or what the script of the desk needs to start.

use std::sync::Arc;

use chrono::Utc;
use minijinja::context;
use minijinja::value::Serde;
use rocket::http::{Header, Status as Http};
use rocket::{Request, Responder};
use serde_json::{Value, json};

use super::session::Officer;
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

/// A page, which no cache keeps.
#[derive(Responder)]
pub(super) struct Page {
    answer: (Http, ApiResponse),
    policy: Header<'static>,
    language: Header<'static>,
}

/// A request for a page, and what its response needs of the service.
pub(super) struct DeskRequest<'r> {
    language: Language,
    pub(super) config: &'r Config,
    shell: &'r Layout,
    pub(super) store: &'r dyn Store,
}

guard!(DeskRequest<'r>, |request| Self::read(request));

impl<'r> DeskRequest<'r> {
    fn read(request: &'r Request<'_>) -> Result<Self, Problem> {
        Ok(Self {
            language: Language::for_request(request)?,
            config: managed(request)?,
            shell: managed(request)?,
            store: &**managed::<Arc<dyn Store>>(request)?,
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

    pub(super) fn moment(&self, at: Timestamp) -> String {
        self.texts().moment(at, self.config.time_zone)
    }

    /// Returns how the page names a state.
    pub(super) fn state(&self, state: Option<FloodState>) -> &str {
        match state {
            None => self.text("dry"),
            Some(state) => self.texts().text("depths", &state.code().to_string()),
        }
    }

    /// Returns the form to log in. `said` is the key of a text.
    pub(super) async fn login(&self, status: Http, said: &str) -> Result<Page, Problem> {
        let said = Some(said).filter(|said| !said.is_empty()).map(|said| self.text(said));
        self.page(status, context! { said, officer => () }).await
    }

    /// Returns the desk, which the script of the page draws.
    pub(super) async fn desk(&self, officer: &Officer) -> Result<Page, Problem> {
        let places = self.store.places().await?.value;
        let around = places.areas().around(&AreaSelector::default());
        let around = around.map(|of| [of.min().x, of.min().y, of.max().x, of.max().y]);
        let officer = json!({
            "settings": self.settings(officer, around).to_string(),
            "name": officer.name(),
            "subject": officer.credential.subject,
            "token": officer.token,
            "may_write": officer.may_write(),
        });
        self.page(Http::Ok, context! { officer => Serde(officer) }).await
    }

    /// Returns what the script of the page needs to begin.
    fn settings(&self, officer: &Officer, around: Option<[f64; 4]>) -> Value {
        let (config, texts) = (self.config, self.texts());
        let zone = config.time_zone;
        json!({
            "base": config.base_url.path().trim_end_matches('/'),
            "language": texts.code(),
            "timeZone": zone.name(),
            "zone": Utc::now().with_timezone(&zone).format("%Z").to_string(),
            "texts": self.words()["script"],
            "depths": texts.group("depths"),
            "photos": config.photos_url(),
            "box": around,
            "token": officer.token,
            "subject": officer.credential.subject,
            "mayWrite": officer.may_write(),
            "mayModerate": officer.may_moderate(),
            "exercise": self.is_exercise(),
        })
    }

    /// Returns whether nobody outside should act on what the desk decides.
    fn is_exercise(&self) -> bool {
        self.config.issuer().status != Status::Actual
    }

    /// Returns the texts of the desk, with the word for what the alerts are if nobody outside should act on them.
    fn words(&self) -> Value {
        let texts = self.texts();
        let mut words = texts.group("desk").clone();
        let status = self.config.issuer().status.name();
        let word = texts.group("alerts")["statuses"][status].as_str().unwrap_or_default().to_uppercase();
        words["script"]["exercise"] = word.clone().into();
        words["exercise"] = word.into();
        words
    }

    async fn page(&self, status: Http, values: minijinja::Value) -> Result<Page, Problem> {
        self.render(PAGE, "/desk", status, values).await
    }

    /// Renders a page of the desk from its template.
    pub(super) async fn render(
        &self,
        template: PageTemplate,
        path: &str,
        status: Http,
        values: minijinja::Value,
    ) -> Result<Page, Problem> {
        let texts = self.texts();
        let shared = context! {
            t => Serde(self.words()),
            depths => Serde(texts.group("depths")),
            exercise => self.is_exercise(),
            situation => format!("/desk/situation?lang={}", texts.code()),
            table => format!("/desk/situation.csv?lang={}", texts.code()),
            ..values
        };
        let here = PageContext { page: "desk", path, keep: &[] };
        let html = self.shell.render(template, texts, here, shared).map_err(Problem::internal)?;
        Ok(Page {
            // Other sites cannot make a browser send the cookie, so the length tells them nothing.
            answer: (status, ApiResponse::private_page(html).compressed().await?),
            policy: Header::new("Content-Security-Policy", policy(self.config)),
            language: Header::new("Content-Language", self.language.code().to_owned()),
        })
    }
}

/// Only files of this service run, and no text becomes a script or a part of the page's structure.
fn policy(config: &Config) -> String {
    let photos = url::Url::parse(&config.photos_url()).map(|url| url.origin().ascii_serialization());
    format!(
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; \
         img-src 'self' data: {}; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'",
        photos.unwrap_or_default()
    )
}
