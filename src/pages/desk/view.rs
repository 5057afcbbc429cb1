//! The page of the desk: the form to log in, or the areas that need attention and the newest changes.

use std::sync::Arc;

use chrono::Utc;
use minijinja::context;
use minijinja::value::Serde;
use rocket::http::{Header, Status as Http};
use rocket::request::{FromRequest, Outcome};
use rocket::{Request, Responder};
use serde_json::{Value, json};

use super::session::Officer;
use crate::config::Config;
use crate::country::Texts;
use crate::error::Problem;
use crate::guards::{Language, managed};
use crate::model::alerts::Status;
use crate::model::{
    AreaId, AreaSelector, AreaSet, BatchNumber, FloodChange, FloodState, LoggedChange, Reason, Timestamp,
};
use crate::rendering::Answer;
use crate::shell::{Here, PageTemplate, Shell};
use crate::stores::{AttentionList, FloodLogQuery, Listed, Store};

const PAGE: PageTemplate = PageTemplate::new("desk.html", include_str!("page.html"));
/// How many areas and changes the page shows at most without its script.
const MOST_LISTED: usize = 50;
const MOST_LOGGED: u32 = 30;

/// A page, which no cache keeps.
#[derive(Responder)]
pub(super) struct Page {
    answer: (Http, Answer),
    policy: Header<'static>,
    language: Header<'static>,
}

/// A request for a page, and what its response needs of the service.
pub(super) struct View<'r> {
    language: Language,
    pub(super) config: &'r Config,
    shell: &'r Shell,
    list: &'r AttentionList,
    pub(super) store: &'r dyn Store,
    /// Who asks; nobody, if there is no valid login.
    officer: Option<Officer>,
}

#[rocket::async_trait]
impl<'r> FromRequest<'r> for View<'r> {
    type Error = Problem;

    async fn from_request(request: &'r Request<'_>) -> Outcome<Self, Problem> {
        Problem::outcome(request, Self::of(request))
    }
}

impl<'r> View<'r> {
    fn of(request: &'r Request<'_>) -> Result<Self, Problem> {
        Ok(Self {
            language: Language::of(request)?,
            config: managed(request)?,
            shell: managed(request)?,
            list: managed::<Arc<AttentionList>>(request)?,
            store: &**managed::<Arc<dyn Store>>(request)?,
            officer: Officer::of(request).ok(),
        })
    }
}

impl View<'_> {
    fn texts(&self) -> &Texts {
        self.language.texts()
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

    pub(super) fn conflict(&self, area: AreaId, newest: Option<&FloodChange>) -> String {
        let by = newest.map(|newest| newest.by.name());
        let at = newest.map(|newest| self.moment(newest.at)).unwrap_or_default();
        self.text("conflict")
            .replace("{area}", &area.to_string())
            .replace("{state}", self.state(newest.and_then(|newest| newest.state)))
            .replace("{at}", &at)
            .replace("{by}", by.unwrap_or("–"))
    }

    /// Returns the form to log in. `said` is the key of a text.
    pub(super) async fn login(&self, status: Http, said: &str) -> Result<Page, Problem> {
        let said = Some(said).filter(|said| !said.is_empty()).map(|said| self.text(said));
        self.page(status, context! { said, officer => () }).await
    }

    /// Returns the areas that need attention, and the newest changes. `batch` can be undone.
    pub(super) async fn list(
        &self,
        status: Http,
        said: Option<String>,
        batch: Option<u64>,
    ) -> Result<Page, Problem> {
        let listed = self.list.get().await?;
        let rows: Vec<_> = listed.iter().take(MOST_LISTED).map(|listed| self.row(listed)).collect();
        let query = FloodLogQuery { most: MOST_LOGGED, ..FloodLogQuery::default() };
        let log = self.store.all_flood_changes(&query).await?;
        let places = self.store.places().await?.value;
        let log: Vec<_> =
            log.iter().take(MOST_LOGGED as usize).map(|entry| self.logged(entry, places.areas())).collect();
        let areas = places.areas().around(&AreaSelector::default());
        let officer = self.officer.as_ref().map(|officer| {
            json!({
                "settings": self.settings(officer, areas.map(|of| [of.min().x, of.min().y, of.max().x, of.max().y])).to_string(),
                "name": officer.name(),
                "subject": officer.credential.subject,
                "token": officer.token,
                "may_write": officer.may_write(),
            })
        });
        let values = context! {
            said,
            batch,
            officer => Serde(officer),
            rows => Serde(rows),
            more => listed.len().saturating_sub(MOST_LISTED),
            log => Serde(log),
        };
        self.page(status, values).await
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

    fn row(&self, listed: &Listed) -> Value {
        let suggested = listed.attention.suggested.as_ref().map(|suggested| {
            let evidence = &suggested.evidence;
            let told =
                self.reports(evidence.report_ids.len(), evidence.first, evidence.last, &evidence.depths);
            let told: Vec<_> = [told].into_iter().chain(evidence.gauges.iter().cloned()).collect();
            json!({
                "state": suggested.state.code().to_string(),
                "depth": self.state(Some(suggested.state)),
                "evidence": told.join("; "),
            })
        });
        json!({
            "id": listed.attention.area_id,
            "name": listed.area_name,
            "parent": listed.parent_name,
            "city": listed.city_name,
            "state": listed.state,
            "depth": self.state(listed.state),
            "since": listed.last_updated.map(|at| self.moment(at)),
            "after": listed.last_updated.map_or_else(|| "dry".to_owned(), |at| at.to_string()),
            "reasons": listed.attention.reasons.iter().map(|reason| self.reason(reason)).collect::<Vec<_>>(),
            "suggested": suggested,
        })
    }

    fn reason(&self, reason: &Reason) -> String {
        match reason {
            Reason::Reports { at, first, report_ids, waiting_ids, depths } => {
                let told = self.reports(report_ids.len(), *first, *at, depths);
                let waiting = self.text("reason_waiting").replace("{count}", &waiting_ids.len().to_string());
                if waiting_ids.is_empty() { told } else { told + " (" + &waiting + ")" }
            }
            Reason::Unconfirmed { since, lapses, .. } => self
                .text("reason_unconfirmed")
                .replace("{since}", &self.moment(*since))
                .replace("{lapses}", &self.moment(*lapses)),
            Reason::Gauge { at, gaugenameid, label, .. } => self
                .text("reason_gauge")
                .replace("{since}", &self.moment(*at))
                .replace("{label}", label)
                .replace("{gauge}", gaugenameid),
        }
    }

    fn reports(&self, count: usize, first: Timestamp, last: Timestamp, depths: &[f64]) -> String {
        let depths: Vec<_> = depths.iter().map(|depth| format!("{depth:.0}")).collect();
        let depths = if depths.is_empty() { String::new() } else { format!(": {} cm", depths.join(", ")) };
        self.text("reason_reports")
            .replace("{count}", &count.to_string())
            .replace("{first}", &self.moment(first))
            .replace("{last}", &self.moment(last))
            + &depths
    }

    pub(super) fn logged(
        &self,
        LoggedChange { change, batch, note }: &LoggedChange,
        areas: &AreaSet,
    ) -> Value {
        let area = areas.position(change.area).map(|position| &areas[position]);
        json!({
            "at": self.moment(change.at),
            "area": area.map(|area| &area.name),
            "parent": area.map(|area| &area.parent_name),
            "id": change.area,
            "depth": self.state(change.state),
            "by": change.by.name(),
            "batch": batch.map(BatchNumber::get),
            "note": note,
        })
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
        let here = Here { page: "desk", path, keep: &[] };
        let html = self.shell.render(template, texts, here, shared).map_err(Problem::internal)?;
        Ok(Page {
            // Other sites cannot make a browser send the cookie, so the length tells them nothing.
            answer: (status, Answer::private_page(html).compressed().await?),
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
