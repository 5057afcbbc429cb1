use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lru::LruCache;
use rocket::Request;
use rocket::http::{Cookie, CookieJar, SameSite};
use rocket::request::{FromRequest, Outcome};
use rocket::time;
use serde::{Deserialize, Serialize};
use url::form_urlencoded::byte_serialize;

use super::news::{self, News};
use crate::actions::Author;
use crate::auth::oidc::Person;
use crate::auth::{Authenticator, Credential, CredentialError, CredentialKind, Scope, random};
use crate::config::Config;
use crate::guards::{FormSite, guard, managed};
use crate::http::error::Problem;
use crate::http::fairings::{RequestInfo, Subject};
use crate::http::quotas::Client;
use crate::model::{AreaLimit, Clock, Timestamp, is_name};

const SESSION: &str = "siaga-desk";
/// The lifetime of a login with a key.
const LIFETIME: Duration = Duration::from_hours(12);
/// The maximum length of a key in bytes, so that it fits into a cookie. Keys of Siaga have 64 bytes.
const MAX_KEY_LENGTH: usize = 512;
/// The maximum number of wrong logins from an address in a minute.
const MAX_FAILURES: u32 = 5;
const MINUTE: Duration = Duration::from_mins(1);
/// The maximum number of remembered addresses with failures. The least recently used ones are evicted first.
const MAX_ADDRESSES: NonZeroUsize = NonZeroUsize::new(10_000).unwrap();

#[derive(Debug)]
pub(crate) struct Desk {
    clock: Arc<dyn Clock>,
    pub(super) news: News,
    failures: Mutex<Failures>,
}

/// The number of wrong logins of each address since a time.
type Failures = LruCache<Client, (Timestamp, u32)>;

/// An officer who is logged in. The encrypted cookie contains the officer's API key or a [`PersonSession`]. The server stores no
/// sessions, but checks the key or the grants in each request, so removing them ends the login.
#[derive(Clone, Debug)]
pub(super) struct Officer {
    pub(super) credential: Credential,
    /// The verified name of a person. With a key, the name that the officer entered, unverified.
    name: String,
    /// CSRF token, required if the browser sends no `Sec-Fetch-Site`.
    pub(super) token: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct PersonSession {
    person: Person,
    /// The [number](crate::auth::KeyRing::last_ended) when the login began.
    number: u64,
    /// In milliseconds since 1970.
    until: i64,
    token: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoginError {
    Wrong,
    TooMany,
}

impl Desk {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        let news = news::throttle(Arc::clone(&clock));
        Self { clock, news, failures: Mutex::new(LruCache::new(MAX_ADDRESSES)) }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Sets the cookie if the key is valid. After too many failures within a minute, rejects all keys from that address.
    pub(super) fn log_in(
        &self,
        from: Client,
        (name, key): (&str, &str),
        authenticator: &Authenticator,
        config: &Config,
        cookies: &CookieJar<'_>,
    ) -> Result<(), LoginError> {
        self.check_failures(&from)?;
        let (name, key) = (name.trim(), key.trim());
        if !is_name(name) || key.is_empty() || authenticate(key, authenticator).is_err() {
            self.count_failure(from);
            return Err(LoginError::Wrong);
        }
        let session = format!("{}\n{name}\n{key}", self.until(LIFETIME));
        cookies.add_private(cookie(config, SESSION, session, SameSite::Strict, LIFETIME));
        Ok(())
    }

    /// Sets the cookie of a person. `number` is that of the beginning of the login.
    pub(super) fn log_in_person(
        &self,
        (person, number): (Person, u64),
        lifetime: Duration,
        config: &Config,
        cookies: &CookieJar<'_>,
    ) -> Result<(), Problem> {
        let token = random::hex::<32>().map_err(Problem::internal)?;
        let session = PersonSession { person, number, until: self.until(lifetime), token };
        let session = serde_json::to_string(&session).map_err(Problem::internal)?;
        cookies.add_private(cookie(config, SESSION, session, SameSite::Strict, lifetime));
        Ok(())
    }

    /// Returns the end of a period that begins now, in milliseconds since 1970.
    pub(super) fn until(&self, lifetime: Duration) -> i64 {
        self.now().saturating_add(lifetime).to_utc().timestamp_millis()
    }

    /// Fails if the address has sent too many wrong logins in the last minute.
    pub(super) fn check_failures(&self, from: &Client) -> Result<(), LoginError> {
        let (_, count) = self.recent_failures(&mut self.failures(), from);
        if count >= MAX_FAILURES { Err(LoginError::TooMany) } else { Ok(()) }
    }

    pub(super) fn count_failure(&self, from: Client) {
        let mut failures = self.failures();
        let (since, count) = self.recent_failures(&mut failures, &from);
        failures.put(from, (since, count + 1));
    }

    fn recent_failures(&self, failures: &mut Failures, from: &Client) -> (Timestamp, u32) {
        let now = self.now();
        let recent = failures.get(from).copied();
        recent.filter(|(since, _)| now.saturating_duration_since(*since) < MINUTE).unwrap_or((now, 0))
    }

    fn failures(&self) -> MutexGuard<'_, Failures> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) fn log_out(config: &Config, cookies: &CookieJar<'_>) {
    remove_cookie(config, cookies, cookie_name(config, SESSION));
}

pub(super) fn has_cookie(config: &Config, cookies: &CookieJar<'_>) -> bool {
    cookies.get(&cookie_name(config, SESSION)).is_some()
}

/// Returns the name of a cookie. Browsers accept the prefix `__Host-` only over HTTPS, which a local address does not have.
pub(super) fn cookie_name(config: &Config, name: &str) -> String {
    if config.base_url.is_local() { name.to_owned() } else { format!("__Host-{name}") }
}

pub(super) fn cookie(
    config: &Config,
    name: &str,
    value: String,
    same_site: SameSite,
    lifetime: Duration,
) -> Cookie<'static> {
    Cookie::build((cookie_name(config, name), value))
        .path("/")
        .http_only(true)
        .secure(!config.base_url.is_local())
        .same_site(same_site)
        .expires(None)
        .max_age(time::Duration::try_from(lifetime).unwrap_or_default())
        .build()
}

pub(super) fn remove_cookie(config: &Config, cookies: &CookieJar<'_>, name: String) {
    cookies.remove(Cookie::build(name).path("/").secure(!config.base_url.is_local()));
}

/// Verifies an API key. Rejects tokens, because tokens are for services.
fn authenticate(key: &str, authenticator: &Authenticator) -> Result<Credential, CredentialError> {
    let credential = authenticator.verify_key_or_token(key)?;
    if credential.kind == CredentialKind::ApiKey && key.len() <= MAX_KEY_LENGTH {
        Ok(credential)
    } else {
        Err(CredentialError {
            reason: crate::auth::CredentialErrorKind::UnknownKey,
            credential: credential.subject,
        })
    }
}

impl Officer {
    /// Reads the encrypted cookie and checks its key or its grants again, because they may have been removed after the login.
    pub(super) fn for_request(request: &Request<'_>) -> Result<Self, Problem> {
        let (config, authenticator) = (managed::<Config>(request)?, managed::<Authenticator>(request)?);
        let now = managed::<Desk>(request)?.now();
        let cookie = request.cookies().get_private(&cookie_name(config, SESSION));
        let cookie = cookie.ok_or_else(|| Problem::login_ended("no login", None))?;
        let officer = match cookie.value() {
            json if json.starts_with('{') => Self::from_person(json, authenticator, now),
            _ if !config.desk.keys => Err(Problem::login_ended("login with a key", None)),
            text => Self::from_key(text, authenticator, now),
        }?;
        Subject::record(request, &officer.credential.subject);
        Ok(officer)
    }

    fn from_key(text: &str, authenticator: &Authenticator, now: Timestamp) -> Result<Self, Problem> {
        let refused = |reason: &str| Problem::login_ended(reason, None);
        let mut parts = text.splitn(3, '\n');
        let (Some(until), Some(name), Some(key)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(refused("malformed login"));
        };
        let until = until.parse().ok().and_then(Timestamp::from_millis);
        if until.is_none_or(|until| until <= now) {
            return Err(refused("expired login"));
        }
        let unauthorized =
            |CredentialError { reason, credential }| Problem::login_ended(reason, Some(&credential));
        let credential = authenticate(key, authenticator).map_err(unauthorized)?;
        let token = blake3::derive_key("siaga desk 2026 token of forms", key.as_bytes());
        Ok(Self { credential, name: name.to_owned(), token: hex::encode(token) })
    }

    fn from_person(json: &str, authenticator: &Authenticator, now: Timestamp) -> Result<Self, Problem> {
        let malformed = |_| Problem::login_ended("malformed login", None);
        let PersonSession { person, number, until, token } = serde_json::from_str(json).map_err(malformed)?;
        let refused = |reason: &str| Problem::login_ended(reason, Some(&person.subject));
        let until = Timestamp::from_millis(until).filter(|until| *until > now);
        let until = until.ok_or_else(|| refused("expired login"))?;
        if authenticator.ring().has_ended(&person.subject, number) {
            return Err(refused("login ended by siaga logins end"));
        }
        let party = authenticator.relying_party().ok_or_else(|| refused("login without siaga.auth.oidc"))?;
        // The configured duration may have become shorter since.
        if until > now.saturating_add(party.session()) {
            return Err(refused("login longer than siaga.auth.oidc.session"));
        }
        let credential = party.credential(&person).ok_or_else(|| refused("login without a grant"))?;
        Ok(Self { credential, name: person.name, token })
    }

    pub(super) fn is_person(&self) -> bool {
        self.credential.kind == CredentialKind::Login
    }

    pub(super) fn may_write(&self) -> bool {
        self.credential.allows(Scope::FloodsWrite)
    }

    pub(super) fn may_moderate(&self) -> bool {
        self.credential.allows(Scope::ReportsModerate)
    }

    pub(super) fn is_limited(&self) -> bool {
        !self.own_areas().is_everywhere()
    }

    /// Returns the areas in which the officer may set states; without that scope, those in which they may moderate reports. All areas
    /// for an officer who may do neither.
    pub(super) fn own_areas(&self) -> AreaLimit {
        let scopes = [Scope::FloodsWrite, Scope::ReportsModerate];
        let scope = scopes.into_iter().find(|&scope| self.credential.allows(scope));
        scope.map_or(AreaLimit::Everywhere, |scope| self.credential.limit(scope))
    }

    pub(super) fn require_write(&self) -> Result<(), Problem> {
        self.require(Scope::FloodsWrite)
    }

    pub(super) fn require_moderation_scope(&self) -> Result<(), Problem> {
        self.require(Scope::ReportsModerate)
    }

    fn require(&self, scope: Scope) -> Result<(), Problem> {
        let lacks =
            || Problem::forbidden(format!("missing scope: needs {scope}"), Some(&self.credential.subject));
        self.credential.allows(scope).then_some(()).ok_or_else(lacks)
    }

    pub(super) fn author(&self, scope: Scope) -> Author {
        Author::new(&self.credential, scope, Some(self.name.clone()))
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

guard!(Officer, |request| Self::for_request(request));

impl Officer {
    /// Rejects forms from other sites (CSRF). Checks `Sec-Fetch-Site`, or the token if the browser does not send that header.
    pub(super) fn check_origin(&self, site: FormSite, token: &str) -> Result<(), Problem> {
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

#[derive(Clone, Debug)]
pub(super) struct OfficerScript(pub(super) Officer);

guard!(OfficerScript, |request| {
    let header = |name| request.headers().get_one(name);
    Officer::for_request(request).and_then(|officer| {
        officer.check_origin(FormSite::new(request), header("X-Desk-Token").unwrap_or_default())?;
        // The page may be that of an officer who has logged out: its orders must not be sent under another subject.
        let subject: String = byte_serialize(officer.credential.subject.as_bytes()).collect();
        let is_same = header("X-Desk-Subject").is_none_or(|sent| sent == subject);
        let ended = || Problem::login_ended("a page of another login", Some(&officer.credential.subject));
        is_same.then_some(()).ok_or_else(ended)?;
        Ok(Self(officer))
    })
});

#[derive(Clone, Debug)]
pub(super) struct LoginAddress(pub(super) Client);

#[rocket::async_trait]
impl<'r> FromRequest<'r> for LoginAddress {
    type Error = std::convert::Infallible;

    async fn from_request(request: &'r Request<'_>) -> Outcome<Self, Self::Error> {
        Outcome::Success(Self(RequestInfo::for_request(request).client.map_or(Client::Rest, Client::from)))
    }
}
