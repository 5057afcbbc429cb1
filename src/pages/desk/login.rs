//! Login at the identity provider of the office: to the provider, and back with its response.
//!
//! The provider's response arrives from another site, without the session cookie, which is `Strict`. So the callback does not
//! redirect: its page goes on to the desk by itself, which counts as a request of this site.

use std::sync::Arc;
use std::time::Duration;

use rocket::http::{CookieJar, Header, SameSite, Status};
use rocket::response::Redirect;
use rocket::{Request, Responder, State, get};
use serde::{Deserialize, Serialize};

use super::desk_request::{DeskPage, DeskRequest};
use super::session::{Desk, LoginAddress, cookie, cookie_name, remove_cookie};
use crate::auth::oidc::{LoginRequest, OidcError};
use crate::config::Config;
use crate::guards::{FormSite, Query, guard};
use crate::http::content::CacheControl;
use crate::http::error::Problem;
use crate::model::Clock;

/// The beginning of the names of cookies with a [`PendingLogin`]. The `state` follows.
const PENDING: &str = "siaga-login-";
/// How long a person may take at the provider.
const LIFETIME: Duration = Duration::from_mins(10);
/// The maximum number of pending logins of a browser. A further login removes the oldest.
const MAX_PENDING: usize = 3;

/// The cookie of a browser in which a person has logged in, or may not use the desk. The provider then asks for the password again:
/// the next person at a shared browser may be somebody else, also after the session has ended by itself.
const AGAIN: &str = "siaga-ask-again";
const AGAIN_LIFETIME: Duration = Duration::from_hours(24);

/// A login that has begun. Kept in an encrypted cookie, which is bound to its name and thus to the `state`.
#[derive(Debug, Serialize, Deserialize)]
struct PendingLogin {
    request: LoginRequest,
    /// The [number](crate::auth::KeyRing::last_ended) when the login began.
    number: u64,
    /// In milliseconds since 1970.
    until: i64,
}

/// The parameters of the provider's response (RFC 6749 §4.1.2, RFC 9207).
#[derive(Debug)]
pub(super) struct AuthorizationResponse {
    state: Option<String>,
    code: Option<String>,
    iss: Option<String>,
    has_error: bool,
}

guard!(AuthorizationResponse, |request| Self::for_request(request));

impl AuthorizationResponse {
    fn for_request(request: &Request<'_>) -> Result<Self, Problem> {
        let query = Query::for_request(request);
        let get = |name| query.get(name).map(|value| value.map(String::from));
        let (state, code, iss) = (get("state")?, get("code")?, get("iss")?);
        Ok(Self { state, code, iss, has_error: get("error")?.is_some() })
    }
}

#[derive(Responder)]
pub(super) struct ToProvider {
    redirect: Redirect,
    cache_control: Header<'static>,
}

/// Redirects to the provider. Another site cannot start a login.
#[get("/desk/login/start")]
pub(super) async fn start(
    site: FormSite,
    view: DeskRequest<'_>,
    desk: &State<Desk>,
    config: &State<Config>,
    cookies: &CookieJar<'_>,
) -> Result<Result<ToProvider, DeskPage>, Problem> {
    if site == FormSite::Foreign {
        return Err(Problem::forbidden("a login from another site", None));
    }
    let party = view.authenticator.relying_party().ok_or_else(|| Problem::not_found("the login"))?;
    let request = LoginRequest::new().map_err(Problem::internal)?;
    let is_fresh = cookies.get(&cookie_name(config, AGAIN)).is_some();
    let url = match party.authorization_url(&request, &config.redirect_uri(), is_fresh).await {
        Ok(url) => url,
        Err(error) => return view.login_failure(&error).await.map(Err),
    };
    let name = format!("{PENDING}{}", request.state);
    let number = view.authenticator.ring().last_ended();
    let pending = PendingLogin { request, number, until: desk.until(LIFETIME) };
    let pending = serde_json::to_string(&pending).map_err(Problem::internal)?;
    remove_oldest(config, cookies);
    cookies.add_private(cookie(config, &name, pending, SameSite::Lax, LIFETIME));
    let redirect = Redirect::to(String::from(url));
    Ok(Ok(ToProvider { redirect, cache_control: Header::new("Cache-Control", CacheControl::NO_STORE) }))
}

/// Logs a person in with the provider's response, and goes on to the desk.
#[get("/desk/login/callback")]
pub(super) async fn callback(
    from: LoginAddress,
    response: AuthorizationResponse,
    view: DeskRequest<'_>,
    desk: &State<Desk>,
    clock: &State<Arc<dyn Clock>>,
    config: &State<Config>,
    cookies: &CookieJar<'_>,
) -> Result<DeskPage, Problem> {
    if desk.check_failures(&from.0).is_err() {
        return view.failure(Status::TooManyRequests, "too_many", "").await;
    }
    let party = view.authenticator.relying_party().ok_or_else(|| Problem::not_found("the login"))?;
    let pending = response.state.and_then(|state| take_pending(&state, config, cookies, desk));
    // Any page can send a browser here, so a response to no login does not count as a wrong login.
    let has_begun = pending.is_some();
    let login = async {
        let pending = pending.ok_or(OidcError::Refused("response to an unknown, old or finished login"))?;
        let code = response.code.filter(|_| !response.has_error).ok_or(OidcError::Denied)?;
        let (response, uri) = ((&*code, response.iss.as_deref()), config.redirect_uri());
        let person = party.log_in(response, &pending.request, &uri, &***clock).await?;
        if view.authenticator.ring().has_ended(&person.subject, pending.number) {
            return Err(OidcError::Refused("login ended by siaga logins end"));
        }
        Ok((person, pending.number))
    };
    match login.await {
        Ok(login) => {
            desk.log_in_person(login, party.session(), config, cookies)?;
            ask_again(config, cookies);
            view.forward("logged_in", "/desk", "open").await
        }
        Err(error) => {
            match error {
                OidcError::Refused(_) if has_begun => desk.count_failure(from.0),
                OidcError::NoAccess(_) | OidcError::TooManyGroups(_) => ask_again(config, cookies),
                OidcError::Refused(_) | OidcError::Denied | OidcError::Unavailable(_) => {}
            }
            view.login_failure(&error).await
        }
    }
}

impl DeskRequest<'_> {
    async fn login_failure(&self, error: &OidcError) -> Result<DeskPage, Problem> {
        let (status, message, person) = match error {
            OidcError::Unavailable(_) => (Status::ServiceUnavailable, "issuer_away", None),
            OidcError::Refused(_) => (Status::Forbidden, "login_old", None),
            OidcError::Denied => (Status::Forbidden, "login_denied", None),
            OidcError::NoAccess(person) => (Status::Forbidden, "no_access", Some(person)),
            OidcError::TooManyGroups(person) => (Status::Forbidden, "too_many_groups", Some(person)),
        };
        tracing::warn!(
            subject = person.map(|person| &*person.subject),
            "a login at the desk failed: {error}"
        );
        self.failure(status, message, person.map_or("", |person| &person.name)).await
    }
}

pub(super) fn ask_again(config: &Config, cookies: &CookieJar<'_>) {
    cookies.add(cookie(config, AGAIN, "1".to_owned(), SameSite::Lax, AGAIN_LIFETIME));
}

/// Returns the pending login of a `state`, and removes its cookie; `None` if it is missing, forged or too old.
fn take_pending(state: &str, config: &Config, cookies: &CookieJar<'_>, desk: &Desk) -> Option<PendingLogin> {
    let name = cookie_name(config, &format!("{PENDING}{state}"));
    let pending = read_pending(cookies.get_private(&name)?.value());
    remove_cookie(config, cookies, name);
    pending.filter(|pending| pending.request.state == state && pending.until > desk.until(Duration::ZERO))
}

fn read_pending(json: &str) -> Option<PendingLogin> {
    serde_json::from_str(json).ok()
}

/// Removes cookies of pending logins, unreadable and old ones first, to make room for another.
fn remove_oldest(config: &Config, cookies: &CookieJar<'_>) {
    let prefix = cookie_name(config, PENDING);
    let names = cookies.iter().map(|cookie| cookie.name().to_owned());
    let with_end = names.filter(|name| name.starts_with(&prefix)).map(|name| {
        let pending = cookies.get_private(&name).and_then(|cookie| read_pending(cookie.value()));
        (pending.map(|pending| pending.until), name)
    });
    let mut pending: Vec<_> = with_end.collect();
    pending.sort();
    let excess = (pending.len() + 1).saturating_sub(MAX_PENDING);
    for (_, name) in pending.into_iter().take(excess) {
        remove_cookie(config, cookies, name);
    }
}
