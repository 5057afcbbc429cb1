//! The desk: which areas need attention, and the setting of states, for officers who log in with their API key. The page works
//! without its script: that adds the map, selections of many areas, and news of other officers.

mod news;
mod sending;
mod session;
mod situation;
mod view;

use rocket::form::{Form, FromForm};
use rocket::http::{CookieJar, Status};
use rocket::response::Redirect;
use rocket::{Route, State, get, post, routes};

pub(crate) use self::session::Desk;
use self::session::{From, LoginRefused, Officer, log_out};
use self::view::{Page, View};
use crate::auth::Authenticator;
use crate::config::Config;
use crate::error::Problem;
use crate::guards::{Caller, FormSite};
use crate::model::bodies::LONGEST_NOTE;
use crate::model::{AreaOrder, BatchNumber, Condition, FloodOrder, OrderOutcome, Ordered, Timestamp};
use crate::pages::files::Files;
use crate::rendering::Answer;
use crate::sources::Sources;
use crate::telemetry::Metrics;

/// Returns the routes of the desk.
pub(super) fn routes() -> Vec<Route> {
    routes![
        show,
        log_in,
        end,
        set,
        undo,
        news::tell,
        sending::change,
        sending::undo,
        sending::moderate,
        sending::hide_waiting,
        sending::hear,
        situation::show,
        situation::table,
        find_file,
    ]
}

/// Where to go next, or a page that says why not.
type Reply = Result<Result<Redirect, Page>, Problem>;

/// `GET /desk`: responds with the areas that need attention and the newest changes, or with a form to log in.
#[get("/desk?<batch>")]
async fn show(
    officer: Option<Officer>,
    batch: Option<u64>,
    view: View<'_>,
    config: &State<Config>,
    cookies: &CookieJar<'_>,
) -> Result<Page, Problem> {
    let Some(officer) = &officer else {
        let ended = session::has_cookie(config, cookies);
        if ended {
            log_out(config, cookies);
        }
        return view.login(Status::Ok, if ended { "ended" } else { "" }).await;
    };
    let said = batch.map(|batch| view.text("done").replace("{batch}", &batch.to_string()));
    view.list(Status::Ok, said, batch.filter(|_| officer.may_write())).await
}

/// `GET /desk/:file`: responds with a file that the page loads.
#[get("/desk/<file>", rank = 2)]
async fn find_file(_caller: Caller, file: &str, files: &State<Files>) -> Result<Answer, Problem> {
    files.find("/desk/", file).await
}

#[derive(FromForm)]
struct Login<'r> {
    name: &'r str,
    key: &'r str,
}

/// `POST /desk/login`: sets the cookie if the key is accepted.
#[post("/desk/login", data = "<form>")]
async fn log_in(
    from: From,
    site: FormSite,
    form: Form<Login<'_>>,
    view: View<'_>,
    desk: &State<Desk>,
    config: &State<Config>,
    authenticator: &State<Authenticator>,
    cookies: &CookieJar<'_>,
) -> Reply {
    if site == FormSite::Foreign {
        return Err(Problem::forbidden("a form from another site", None));
    }
    match desk.log_in(from.0, (form.name, form.key), authenticator, config, cookies) {
        Ok(()) => Ok(Ok(Redirect::to("/desk"))),
        Err(LoginRefused::Wrong) => view.login(Status::Forbidden, "wrong").await.map(Err),
        Err(LoginRefused::TooMany) => view.login(Status::TooManyRequests, "too_many").await.map(Err),
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
    site: FormSite,
    form: Form<Token<'_>>,
    config: &State<Config>,
    cookies: &CookieJar<'_>,
) -> Result<Redirect, Problem> {
    officer.check(site, form.token)?;
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
async fn set(
    officer: Officer,
    site: FormSite,
    form: Form<Change<'_>>,
    view: View<'_>,
    sources: &State<Sources>,
    metrics: &State<Metrics>,
) -> Reply {
    officer.check(site, form.token)?;
    let Some(order) = form.order() else {
        let said = view.text("wrong_change").to_owned();
        return view.list(Status::BadRequest, Some(said), None).await.map(Err);
    };
    let note = Some(form.note.trim()).filter(|note| !note.is_empty()).map(str::to_owned);
    let order = officer.order(Ordered::Set(vec![order]), note)?;
    view.carry_out(order, sources, metrics).await
}

#[derive(FromForm)]
struct Undo<'r> {
    token: &'r str,
    batch: &'r str,
}

/// `POST /desk/undo`: sets the states before a batch.
#[post("/desk/undo", data = "<form>")]
async fn undo(
    officer: Officer,
    site: FormSite,
    form: Form<Undo<'_>>,
    view: View<'_>,
    sources: &State<Sources>,
    metrics: &State<Metrics>,
) -> Reply {
    officer.check(site, form.token)?;
    let batch: BatchNumber = form.batch.parse().map_err(|_| Problem::not_found("this batch"))?;
    let order = officer.order(Ordered::Undo(batch), None)?;
    view.carry_out(order, sources, metrics).await
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
        self.must_write()?;
        Ok(FloodOrder { changes, by: self.actor(), note, request: None, preview: false })
    }
}

impl View<'_> {
    /// Carries out an order, and says what became of it.
    async fn carry_out(&self, order: FloodOrder, sources: &Sources, metrics: &Metrics) -> Reply {
        let subject = order.by.subject.clone();
        let said = match self.store.change_floods(order).await? {
            OrderOutcome::Done { batch, .. } => {
                batch.changes.iter().for_each(|_| metrics.flood_changed());
                sources.hear_subject(&subject);
                return Ok(Ok(Redirect::to(format!("/desk?batch={}", batch.number))));
            }
            OrderOutcome::Conflicts(conflicts) => {
                let told = conflicts.iter().map(|(area, newest)| self.conflict(*area, newest.as_ref()));
                return self.list(Status::Conflict, Some(told.collect()), None).await.map(Err);
            }
            OrderOutcome::NoSuchAreas(_) => "unknown",
            OrderOutcome::NoSuchBatch | OrderOutcome::TooOld | OrderOutcome::OtherRequest => "too_old",
        };
        let said = Some(self.text(said).to_owned());
        self.list(Status::NotFound, said, None).await.map(Err)
    }
}
