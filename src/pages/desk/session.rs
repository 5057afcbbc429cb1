use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lru::LruCache;
use rocket::Request;
use rocket::http::{Cookie, CookieJar, SameSite};
use rocket::request::{FromRequest, Outcome};
use rocket::time;

use super::news::{self, News};
use crate::auth::{Authenticator, Credential, CredentialError, CredentialKind, Scope};
use crate::config::Config;
use crate::guards::{FormSite, guard, managed};
use crate::http::error::Problem;
use crate::http::fairings::{RequestInfo, Subject};
use crate::http::quotas::Client;
use crate::model::{Actor, Clock, Timestamp, is_name};

/// How long a login lasts.
const LIFETIME: Duration = Duration::from_hours(12);
/// The longest key that fits into a cookie, in bytes. Keys of Siaga have 64.
const LONGEST_KEY: usize = 512;
/// How many wrong keys an address may send within a minute.
const WRONG_KEYS: u32 = 5;
const MINUTE: Duration = Duration::from_mins(1);
/// How many addresses are remembered; the least recent ones are forgotten first.
const ADDRESSES: NonZeroUsize = NonZeroUsize::new(10_000).unwrap();

/// The state of the desk: who has sent wrong keys lately, and the news.
#[derive(Debug)]
pub(crate) struct Desk {
    clock: Arc<dyn Clock>,
    pub(super) news: News,
    wrong: Mutex<LruCache<Client, (Timestamp, u32)>>,
}

/// An officer who is logged in. The cookie holds the officer's API key, sealed, and each request looks the key up: so a revoked
/// key ends the login, and there is no table of sessions.
#[derive(Clone, Debug)]
pub(super) struct Officer {
    pub(super) credential: Credential,
    /// The name that the officer gave; nothing verifies it.
    name: String,
    /// What forms of this login must contain if the browser does not say where they come from.
    pub(super) token: String,
}

/// Why a login was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoginRefused {
    /// The key is not accepted, or the name is not a name.
    Wrong,
    /// The address has sent too many wrong keys within a minute.
    TooMany,
}

impl Desk {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        let news = news::throttle(Arc::clone(&clock));
        Self { clock, news, wrong: Mutex::new(LruCache::new(ADDRESSES)) }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Checks the key of a login, and sets the cookie.
    pub(super) fn log_in(
        &self,
        from: Client,
        (name, key): (&str, &str),
        authenticator: &Authenticator,
        config: &Config,
        cookies: &CookieJar<'_>,
    ) -> Result<(), LoginRefused> {
        let now = self.clock.now();
        let mut wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, count) =
            wrong.get(&from).copied().filter(|(since, _)| now.since(*since) < MINUTE).unwrap_or((now, 0));
        if count >= WRONG_KEYS {
            return Err(LoginRefused::TooMany);
        }
        let (name, key) = (name.trim(), key.trim());
        if !is_name(name) || key.is_empty() || accepted(key, authenticator).is_err() {
            wrong.put(from, (since, count + 1));
            return Err(LoginRefused::Wrong);
        }
        let until = now.after(LIFETIME).to_utc().timestamp_millis();
        let cookie = Cookie::build((cookie_name(config), format!("{until}\n{name}\n{key}")))
            .path("/")
            .http_only(true)
            .secure(!config.base_url.is_local())
            .same_site(SameSite::Strict)
            .expires(None)
            .max_age(time::Duration::try_from(LIFETIME).unwrap_or_default());
        cookies.add_private(cookie);
        Ok(())
    }
}

/// Ends a login.
pub(super) fn log_out(config: &Config, cookies: &CookieJar<'_>) {
    let cookie = Cookie::build(cookie_name(config)).path("/").secure(!config.base_url.is_local());
    cookies.remove(cookie);
}

/// Returns whether a request has the cookie, valid or not.
pub(super) fn has_cookie(config: &Config, cookies: &CookieJar<'_>) -> bool {
    cookies.get(cookie_name(config)).is_some()
}

/// Browsers accept a cookie with the prefix only by HTTPS and for the whole host. On a loopback address there is no HTTPS.
fn cookie_name(config: &Config) -> &'static str {
    if config.base_url.is_local() { "siaga-desk" } else { "__Host-siaga-desk" }
}

/// Returns what the holder of an API key may do. Tokens are not accepted: they are for services.
fn accepted(key: &str, authenticator: &Authenticator) -> Result<Credential, CredentialError> {
    let credential = authenticator.verify_key_or_token(key)?;
    if credential.kind == CredentialKind::ApiKey && key.len() <= LONGEST_KEY {
        Ok(credential)
    } else {
        Err(CredentialError {
            reason: crate::auth::CredentialErrorKind::UnknownKey,
            credential: credential.subject,
        })
    }
}

impl Officer {
    /// Returns who sent a request, if its cookie is valid and the key in it is accepted.
    pub(super) fn for_request(request: &Request<'_>) -> Result<Self, Problem> {
        let (config, authenticator) = (managed::<Config>(request)?, managed::<Authenticator>(request)?);
        let now = managed::<Desk>(request)?.now();
        let refused = |reason: &str| Problem::unauthorized(reason, None);
        let cookie = request.cookies().get_private(cookie_name(config)).ok_or_else(|| refused("no login"))?;
        let mut parts = cookie.value().splitn(3, '\n');
        let (Some(until), Some(name), Some(key)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(refused("malformed login"));
        };
        let until = until.parse().ok().and_then(Timestamp::from_millis);
        if until.is_none_or(|until| until <= now) {
            return Err(refused("expired login"));
        }
        let wrong = |CredentialError { reason, credential }| Problem::unauthorized(reason, Some(&credential));
        let credential = accepted(key, authenticator).map_err(wrong)?;
        Subject::note(request, &credential.subject);
        let token = blake3::derive_key("siaga desk 2026 token of forms", key.as_bytes());
        Ok(Self { credential, name: name.to_owned(), token: hex::encode(token) })
    }

    /// Returns whether the officer may set states.
    pub(super) fn may_write(&self) -> bool {
        self.credential.allows(Scope::FloodsWrite)
    }

    /// Returns whether the officer may hide reports.
    pub(super) fn may_moderate(&self) -> bool {
        self.credential.allows(Scope::ReportsModerate)
    }

    /// Fails with 403 if the officer may not set states.
    pub(super) fn must_write(&self) -> Result<(), Problem> {
        self.must(Scope::FloodsWrite)
    }

    /// Fails with 403 if the officer may not hide reports.
    pub(super) fn must_moderate(&self) -> Result<(), Problem> {
        self.must(Scope::ReportsModerate)
    }

    fn must(&self, scope: Scope) -> Result<(), Problem> {
        let lacks =
            || Problem::forbidden(format!("missing scope: needs {scope}"), Some(&self.credential.subject));
        self.credential.allows(scope).then_some(()).ok_or_else(lacks)
    }

    /// Returns who the log says made a change.
    pub(super) fn actor(&self) -> Actor {
        Actor { subject: self.credential.subject.clone(), username: Some(self.name.clone()) }
    }

    /// Returns how the page names the officer.
    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

guard!(Officer, |request| Self::for_request(request));

impl Officer {
    /// Refuses a form from another site. If the browser does not report the site, the form must contain the token of the login.
    pub(super) fn check(&self, site: FormSite, token: &str) -> Result<(), Problem> {
        let is_own = match site {
            FormSite::SameOrigin => true,
            FormSite::NoSite | FormSite::Foreign => false,
            FormSite::Unknown => {
                bool::from(subtle::ConstantTimeEq::ct_eq(self.token.as_bytes(), token.as_bytes()))
            }
        };
        let refused = || Problem::forbidden("a form from another site", Some(&self.credential.subject));
        is_own.then_some(()).ok_or_else(refused)
    }
}

/// An officer whose page sends a request by its script.
#[derive(Clone, Debug)]
pub(super) struct OfficerScript(pub(super) Officer);

guard!(OfficerScript, |request| {
    let token = request.headers().get_one("X-Desk-Token").unwrap_or_default();
    Officer::for_request(request).and_then(|officer| {
        officer.check(FormSite::new(request), token)?;
        Ok(Self(officer))
    })
});

/// The address that a login comes from.
#[derive(Clone, Debug)]
pub(super) struct LoginAddress(pub(super) Client);

#[rocket::async_trait]
impl<'r> FromRequest<'r> for LoginAddress {
    type Error = std::convert::Infallible;

    async fn from_request(request: &'r Request<'_>) -> Outcome<Self, Self::Error> {
        Outcome::Success(Self(RequestInfo::for_request(request).client.map_or(Client::Rest, Client::from)))
    }
}
