//! The desk: officers see which areas need attention, and set states. They log in at their identity provider, or with an API key.
//! Without the script, officers can log in and out, and read the situation report.

mod actions;
mod card;
mod desk_request;
mod login;
mod news;
mod own_areas;
mod session;
mod situation;

use rocket::form::{Form, FromForm};
use rocket::http::{CookieJar, Status};
use rocket::response::Redirect;
use rocket::{Route, State, get, post, routes};

use self::desk_request::{DeskPage, DeskRequest};
use self::login::ask_again;
pub(crate) use self::session::Desk;
use self::session::{LoginAddress, LoginError, Officer, log_out};
use crate::auth::Authenticator;
use crate::config::Config;
use crate::guards::{Caller, FormSite};
use crate::http::error::Problem;
use crate::pages::assets::Assets;
use crate::rendering::ApiResponse;

pub(super) fn routes() -> Vec<Route> {
    routes![
        show,
        log_in,
        login::start,
        login::callback,
        end,
        news::get_news,
        own_areas::list_own_areas,
        actions::change,
        actions::undo,
        actions::moderate,
        actions::hide_waiting,
        actions::mute,
        actions::unmute,
        actions::heartbeat,
        card::show,
        situation::show,
        situation::table,
        find_file,
    ]
}

/// Shows the desk, or the login if nobody is logged in. Removes the cookie of a login that has ended.
#[get("/desk")]
async fn show(
    officer: Option<Officer>,
    view: DeskRequest<'_>,
    config: &State<Config>,
    cookies: &CookieJar<'_>,
) -> Result<DeskPage, Problem> {
    let Some(officer) = &officer else {
        let ended = session::has_cookie(config, cookies);
        if ended {
            log_out(config, cookies);
        }
        return view.login(Status::Ok, if ended { "ended" } else { "" }).await;
    };
    view.desk(officer).await
}

#[get("/desk/<file>", rank = 2)]
async fn find_file(_caller: Caller, file: &str, files: &State<Assets>) -> Result<ApiResponse, Problem> {
    files.find("/desk/", file).await
}

#[derive(FromForm)]
struct Login<'r> {
    name: &'r str,
    key: &'r str,
}

/// Logs an officer in and redirects to the desk, or shows the form again. Rejects forms from other sites.
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
) -> Result<Result<Redirect, DeskPage>, Problem> {
    if site == FormSite::Foreign {
        return Err(Problem::forbidden("a form from another site", None));
    }
    if !config.desk.keys {
        return Err(Problem::forbidden("login with a key", None));
    }
    match desk.log_in(from.0, (form.name, form.key), authenticator, config, cookies) {
        Ok(()) => Ok(Ok(Redirect::to("/desk"))),
        Err(LoginError::Wrong) => view.login(Status::Forbidden, "wrong").await.map(Err),
        Err(LoginError::TooMany) => view.login(Status::TooManyRequests, "too_many").await.map(Err),
    }
}

#[derive(FromForm)]
struct Token<'r> {
    token: &'r str,
}

/// Ends the login. The desk's policy forbids to redirect a form to the identity provider, so a page goes on by itself.
#[post("/desk/logout", data = "<form>")]
async fn end(
    officer: Officer,
    site: FormSite,
    form: Form<Token<'_>>,
    view: DeskRequest<'_>,
    config: &State<Config>,
    cookies: &CookieJar<'_>,
) -> Result<Result<Redirect, DeskPage>, Problem> {
    officer.check_origin(site, form.token)?;
    log_out(config, cookies);
    if officer.is_person() {
        ask_again(config, cookies);
        if let Some(party) = view.authenticator.relying_party()
            && let Some(url) = party.end_session_url(&config.desk_url()).await
        {
            return view.forward("logged_out", url.as_str(), "go_on").await.map(Err);
        }
    }
    Ok(Ok(Redirect::to("/desk")))
}
