//! The desk: which areas need attention, and the setting of states, for officers who log in with their API key. This page needs
//! no script.

mod session;

use std::sync::Arc;

use minijinja::context;
use minijinja::value::Serde;
use rocket::form::{Form, FromForm};
use rocket::http::{CookieJar, Header, Status};
use rocket::response::Redirect;
use rocket::{Responder, Route, State, get, post, routes};
use serde_json::{Value, json};

pub(crate) use self::session::Desk;
use self::session::{From, LoginRefused, Officer, Origin, log_out};
use crate::auth::Authenticator;
use crate::config::Config;
use crate::country::Texts;
use crate::error::Problem;
use crate::guards::Language;
use crate::model::bodies::LONGEST_NOTE;
use crate::model::{
    AreaId, AreaOrder, AreaSet, BatchNumber, Condition, FloodChange, FloodOrder, FloodState, LoggedChange,
    OrderOutcome, Ordered, Reason, Timestamp,
};
use crate::rendering::Answer;
use crate::routes::{AttentionList, Listed};
use crate::shell::{Here, Shell};
use crate::sources::Sources;
use crate::stores::{FloodLogQuery, Store};
use crate::telemetry::Metrics;

const PAGE: &str = include_str!("page.html");
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; form-action 'self'; \
    frame-ancestors 'none'";
/// How many areas and changes the page shows at most.
const MOST_LISTED: usize = 200;
const MOST_LOGGED: u32 = 30;

/// Returns the routes of the desk.
pub(super) fn routes() -> Vec<Route> {
    routes![show, log_in, end, set, undo]
}

/// A page, which no cache keeps.
#[derive(Responder)]
struct Page {
    answer: (Status, Answer),
    policy: Header<'static>,
    language: Header<'static>,
}

/// Where to go next, or a page that says why not.
type Reply = Result<Result<Redirect, Page>, Problem>;

/// What every page needs.
struct View<'v> {
    language: &'v Language,
    config: &'v Config,
    shell: &'v Shell,
    officer: Option<&'v Officer>,
}

/// `GET /desk`: responds with the areas that need attention and the newest changes, or with a form to log in.
#[get("/desk?<batch>")]
async fn show(
    officer: Option<Officer>,
    batch: Option<u64>,
    language: Language,
    config: &State<Config>,
    shell: &State<Shell>,
    list: &State<AttentionList>,
    store: &State<Arc<dyn Store>>,
    cookies: &CookieJar<'_>,
) -> Result<Page, Problem> {
    let view = View { language: &language, config, shell, officer: officer.as_ref() };
    let Some(officer) = &officer else {
        let ended = session::has_cookie(config, cookies);
        if ended {
            log_out(config, cookies);
        }
        return view.login(Status::Ok, if ended { "ended" } else { "" });
    };
    let said = batch.map(|batch| view.text("done").replace("{batch}", &batch.to_string()));
    view.list(Status::Ok, said, batch.filter(|_| officer.may_write()), list, &***store).await
}

#[derive(FromForm)]
struct Login<'r> {
    name: &'r str,
    key: &'r str,
}

/// `POST /desk/login`: sets the cookie if the key is accepted.
#[post("/desk/login", data = "<form>")]
#[expect(clippy::too_many_arguments, reason = "each is a guard")]
fn log_in(
    from: From,
    origin: Origin,
    form: Form<Login<'_>>,
    language: Language,
    desk: &State<Desk>,
    config: &State<Config>,
    shell: &State<Shell>,
    authenticator: &State<Authenticator>,
    cookies: &CookieJar<'_>,
) -> Reply {
    let view = View { language: &language, config, shell, officer: None };
    if origin == Origin::Elsewhere {
        return Err(Problem::forbidden("a form from another site", None));
    }
    match desk.log_in(from.0, (form.name, form.key), authenticator, config, cookies) {
        Ok(()) => Ok(Ok(Redirect::to("/desk"))),
        Err(LoginRefused::Wrong) => view.login(Status::Forbidden, "wrong").map(Err),
        Err(LoginRefused::TooMany) => view.login(Status::TooManyRequests, "too_many").map(Err),
    }
}

#[derive(FromForm)]
struct Token<'r> {
    token: &'r str,
}

/// `POST /desk/logout`: deletes the cookie.
#[post("/desk/logout", data = "<form>")]
fn end(
    officer: Officer,
    origin: Origin,
    form: Form<Token<'_>>,
    config: &State<Config>,
    cookies: &CookieJar<'_>,
) -> Result<Redirect, Problem> {
    origin.check(&officer, form.token)?;
    log_out(config, cookies);
    Ok(Redirect::to("/desk"))
}

#[derive(FromForm)]
struct Change<'r> {
    token: &'r str,
    area_id: &'r str,
    state: &'r str,
    /// The state that the officer saw: the time at which it was set, `dry`, or `any`.
    after: &'r str,
    note: &'r str,
}

/// `POST /desk/set`: sets one area.
#[post("/desk/set", data = "<form>")]
#[expect(clippy::too_many_arguments, reason = "each is a guard")]
async fn set(
    officer: Officer,
    origin: Origin,
    form: Form<Change<'_>>,
    language: Language,
    config: &State<Config>,
    shell: &State<Shell>,
    list: &State<AttentionList>,
    store: &State<Arc<dyn Store>>,
    sources: &State<Sources>,
    metrics: &State<Metrics>,
) -> Reply {
    origin.check(&officer, form.token)?;
    let view = View { language: &language, config, shell, officer: Some(&officer) };
    let Some(order) = form.order() else {
        let said = view.text("wrong_change").to_owned();
        return view.list(Status::BadRequest, Some(said), None, list, &***store).await.map(Err);
    };
    let note = Some(form.note.trim()).filter(|note| !note.is_empty()).map(str::to_owned);
    let order = officer.order(Ordered::Set(vec![order]), note)?;
    view.carry_out(order, list, store, sources, metrics).await
}

#[derive(FromForm)]
struct Undo<'r> {
    token: &'r str,
    batch: &'r str,
}

/// `POST /desk/undo`: sets the states before a batch.
#[post("/desk/undo", data = "<form>")]
#[expect(clippy::too_many_arguments, reason = "each is a guard")]
async fn undo(
    officer: Officer,
    origin: Origin,
    form: Form<Undo<'_>>,
    language: Language,
    config: &State<Config>,
    shell: &State<Shell>,
    list: &State<AttentionList>,
    store: &State<Arc<dyn Store>>,
    sources: &State<Sources>,
    metrics: &State<Metrics>,
) -> Reply {
    origin.check(&officer, form.token)?;
    let view = View { language: &language, config, shell, officer: Some(&officer) };
    let batch: BatchNumber = form.batch.parse().map_err(|_| Problem::not_found("this batch"))?;
    let order = officer.order(Ordered::Undo(batch), None)?;
    view.carry_out(order, list, store, sources, metrics).await
}

impl Change<'_> {
    /// Returns what the form orders; `None` if it is wrong.
    fn order(&self) -> Option<AreaOrder> {
        let state = match self.state {
            "none" => None,
            code => Some(code.parse().ok()?),
        };
        let after = match self.after {
            "any" => Condition::Any,
            "dry" => Condition::Dry,
            at => Condition::SetAt(Timestamp::parse(at).ok()?),
        };
        let is_note = self.note.chars().count() <= LONGEST_NOTE && !self.note.contains(char::is_control);
        is_note.then_some(())?;
        Some(AreaOrder { area: self.area_id.trim().parse().ok()?, state, after })
    }
}

impl Officer {
    /// Returns an order of the officer, who may set states.
    fn order(&self, changes: Ordered, note: Option<String>) -> Result<FloodOrder, Problem> {
        if !self.may_write() {
            return Err(Problem::forbidden(
                "missing scope: needs floods:write",
                Some(&self.credential.subject),
            ));
        }
        Ok(FloodOrder { changes, by: self.actor(), note, request: None, preview: false })
    }
}

impl View<'_> {
    fn texts(&self) -> &Texts {
        self.language.texts()
    }

    fn text(&self, key: &str) -> &str {
        self.texts().text("desk", key)
    }

    fn moment(&self, at: Timestamp) -> String {
        self.texts().moment(at, self.config.time_zone)
    }

    /// Returns how the page names a state.
    fn state(&self, state: Option<FloodState>) -> &str {
        match state {
            None => self.text("dry"),
            Some(state) => self.texts().text("depths", &state.code().to_string()),
        }
    }

    /// Carries out an order, and says what became of it.
    async fn carry_out(
        &self,
        order: FloodOrder,
        list: &AttentionList,
        store: &Arc<dyn Store>,
        sources: &Sources,
        metrics: &Metrics,
    ) -> Reply {
        let subject = order.by.subject.clone();
        let said = match store.change_floods(order).await? {
            OrderOutcome::Done { batch, .. } => {
                batch.changes.iter().for_each(|_| metrics.flood_changed());
                sources.hear_subject(&subject);
                return Ok(Ok(Redirect::to(format!("/desk?batch={}", batch.number))));
            }
            OrderOutcome::Conflicts(conflicts) => {
                let told = conflicts.iter().map(|(area, newest)| self.conflict(*area, newest.as_ref()));
                return self
                    .list(Status::Conflict, Some(told.collect()), None, list, &**store)
                    .await
                    .map(Err);
            }
            OrderOutcome::NoSuchAreas(_) => "unknown",
            OrderOutcome::NoSuchBatch | OrderOutcome::TooOld | OrderOutcome::OtherRequest => "too_old",
        };
        let said = Some(self.text(said).to_owned());
        self.list(Status::NotFound, said, None, list, &**store).await.map(Err)
    }

    fn conflict(&self, area: AreaId, newest: Option<&FloodChange>) -> String {
        let by = newest.map(|newest| newest.by.username.as_ref().unwrap_or(&newest.by.subject).as_str());
        let at = newest.map(|newest| self.moment(newest.at)).unwrap_or_default();
        self.text("conflict")
            .replace("{area}", &area.to_string())
            .replace("{state}", self.state(newest.and_then(|newest| newest.state)))
            .replace("{at}", &at)
            .replace("{by}", by.unwrap_or("–"))
    }

    /// Returns the form to log in. `said` is the key of a text.
    fn login(&self, status: Status, said: &str) -> Result<Page, Problem> {
        let said = Some(said).filter(|said| !said.is_empty()).map(|said| self.text(said));
        self.page(status, context! { said, officer => () })
    }

    /// Returns the areas that need attention, and the newest changes. `batch` can be undone.
    async fn list(
        &self,
        status: Status,
        said: Option<String>,
        batch: Option<u64>,
        list: &AttentionList,
        store: &dyn Store,
    ) -> Result<Page, Problem> {
        let listed = list.get(self.config).await?;
        let rows: Vec<_> = listed.iter().take(MOST_LISTED).map(|listed| self.row(listed)).collect();
        let query = FloodLogQuery { most: MOST_LOGGED, ..FloodLogQuery::default() };
        let log = store.all_flood_changes(&query).await?;
        let places = store.places().await?.value;
        let log: Vec<_> =
            log.iter().take(MOST_LOGGED as usize).map(|entry| self.logged(entry, places.areas())).collect();
        let officer = self.officer.map(|officer| {
            json!({
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
        self.page(status, values)
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
            Reason::Reports { at, first, report_ids, depths } => {
                self.reports(report_ids.len(), *first, *at, depths)
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

    fn logged(&self, LoggedChange { change, batch, note }: &LoggedChange, areas: &AreaSet) -> Value {
        let area = areas.position(change.area).map(|position| &areas[position]);
        json!({
            "at": self.moment(change.at),
            "area": area.map(|area| &area.name),
            "parent": area.map(|area| &area.parent_name),
            "id": change.area,
            "depth": self.state(change.state),
            "by": change.by.username.as_ref().unwrap_or(&change.by.subject),
            "batch": batch.map(BatchNumber::get),
            "note": note,
        })
    }

    fn page(&self, status: Status, values: minijinja::Value) -> Result<Page, Problem> {
        let texts = self.texts();
        let shared = context! {
            t => Serde(texts.group("desk")),
            depths => Serde(texts.group("depths")),
            ..values
        };
        let here = Here { page: "desk", path: "/desk", keep: &[] };
        let html = self.shell.render(PAGE, texts, here, shared).map_err(Problem::internal)?;
        Ok(Page {
            answer: (status, Answer::private_page(html)),
            policy: Header::new("Content-Security-Policy", POLICY),
            language: Header::new("Content-Language", self.language.code().to_owned()),
        })
    }
}
