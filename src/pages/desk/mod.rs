//! The desk: which areas need attention, and the setting of states, for officers who log in with their API key. The script of the page
//! draws it. Without that, officers can log in and out, and read the situation report.

mod desk_request;
mod news;
mod sending;
mod session;
mod situation;

use rocket::form::{Form, FromForm};
use rocket::http::{CookieJar, Status};
use rocket::response::Redirect;
use rocket::{Route, State, get, post, routes};

use self::desk_request::{DeskRequest, Page};
pub(crate) use self::session::Desk;
use self::session::{LoginAddress, LoginRefused, Officer, log_out};
use crate::auth::Authenticator;
use crate::config::Config;
use crate::guards::{Caller, FormSite};
use crate::http::error::Problem;
use crate::pages::files::Files;
use crate::rendering::ApiResponse;

/// Returns the routes of the desk.
pub(super) fn routes() -> Vec<Route> {
    routes![
        show,
        log_in,
        end,
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

/// `GET /desk`: responds with the desk, or with a form to log in.
#[get("/desk")]
async fn show(
    officer: Option<Officer>,
    view: DeskRequest<'_>,
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
    view.desk(officer).await
}

/// `GET /desk/:file`: responds with a file that the page loads.
#[get("/desk/<file>", rank = 2)]
async fn find_file(_caller: Caller, file: &str, files: &State<Files>) -> Result<ApiResponse, Problem> {
    files.find("/desk/", file).await
}

#[derive(FromForm)]
struct Login<'r> {
    name: &'r str,
    key: &'r str,
}

/// `POST /desk/login`: sets the cookie if the key is accepted, else responds with a page that says why not.
#[post("/desk/login", data = "<form>")]
async fn log_in(
    from: LoginAddress,
    site: FormSite,
    form: Form<Login<'_>>,
    view: DeskRequest<'_>,
    desk: &State<Desk>,
    config: &State<Config>,
    authenticator: &State<Authenticator>,
    cookies: &CookieJar<'_>,
) -> Result<Result<Redirect, Page>, Problem> {
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
