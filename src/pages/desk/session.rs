use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lru::LruCache;
use rocket::Request;
use rocket::http::{Cookie, CookieJar, SameSite};
use rocket::request::{FromRequest, Outcome};
use rocket::time;

use super::news::{self, News};
use crate::actions::Author;
use crate::auth::{Authenticator, Credential, CredentialError, CredentialKind, Scope};
use crate::config::Config;
use crate::guards::{FormSite, guard, managed};
use crate::http::error::Problem;
use crate::http::fairings::{RequestInfo, Subject};
use crate::http::quotas::Client;
use crate::model::{AreaLimit, Clock, Timestamp, is_name};

const LIFETIME: Duration = Duration::from_hours(12);
/// The maximum length of a key in bytes, so that it fits into a cookie. Keys of Siaga have 64 bytes.
const MAX_KEY_LENGTH: usize = 512;
/// The maximum number of wrong keys from an address in a minute.
const MAX_FAILURES: u32 = 5;
const MINUTE: Duration = Duration::from_mins(1);
/// The maximum number of remembered addresses with failures. The least recently used ones are evicted first.
const MAX_ADDRESSES: NonZeroUsize = NonZeroUsize::new(10_000).unwrap();

/// The state of the desk: failed logins, and the news.
#[derive(Debug)]
pub(crate) struct Desk {
    clock: Arc<dyn Clock>,
    pub(super) news: News,
    failures: Mutex<LruCache<Client, (Timestamp, u32)>>,
}

/// An officer who is logged in. The encrypted cookie contains the officer's API key. The server stores no sessions, but verifies
/// the key in each request, so revoking the key ends the login.
#[derive(Clone, Debug)]
pub(super) struct Officer {
    pub(super) credential: Credential,
    /// The name that the officer entered, unverified.
    name: String,
    /// CSRF token, required if the browser sends no `Sec-Fetch-Site`.
    pub(super) token: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoginError {
    /// The key or the name is invalid.
    Wrong,
    /// The address has sent too many wrong keys or names.
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
        let now = self.clock.now();
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, count) = failures
            .get(&from)
            .copied()
            .filter(|(since, _)| now.saturating_duration_since(*since) < MINUTE)
            .unwrap_or((now, 0));
        if count >= MAX_FAILURES {
            return Err(LoginError::TooMany);
        }
        let (name, key) = (name.trim(), key.trim());
        if !is_name(name) || key.is_empty() || authenticate(key, authenticator).is_err() {
            failures.put(from, (since, count + 1));
            return Err(LoginError::Wrong);
        }
        let until = now.saturating_add(LIFETIME).to_utc().timestamp_millis();
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

pub(super) fn log_out(config: &Config, cookies: &CookieJar<'_>) {
    let cookie = Cookie::build(cookie_name(config)).path("/").secure(!config.base_url.is_local());
    cookies.remove(cookie);
}

pub(super) fn has_cookie(config: &Config, cookies: &CookieJar<'_>) -> bool {
    cookies.get(cookie_name(config)).is_some()
}

/// Returns the name of the cookie. Browsers accept the prefix `__Host-` only over HTTPS, which a local address does not have.
fn cookie_name(config: &Config) -> &'static str {
    if config.base_url.is_local() { "siaga-desk" } else { "__Host-siaga-desk" }
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
    /// Reads the encrypted cookie and checks its key again, because the key may have been revoked after the login.
    pub(super) fn for_request(request: &Request<'_>) -> Result<Self, Problem> {
        let (config, authenticator) = (managed::<Config>(request)?, managed::<Authenticator>(request)?);
        let now = managed::<Desk>(request)?.now();
        let refused = |reason: &str| Problem::login_ended(reason, None);
        let cookie = request.cookies().get_private(cookie_name(config)).ok_or_else(|| refused("no login"))?;
        let mut parts = cookie.value().splitn(3, '\n');
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
        Subject::record(request, &credential.subject);
        let token = blake3::derive_key("siaga desk 2026 token of forms", key.as_bytes());
        Ok(Self { credential, name: name.to_owned(), token: hex::encode(token) })
    }

    pub(super) fn may_write(&self) -> bool {
        self.credential.allows(Scope::FloodsWrite)
    }

    pub(super) fn may_moderate(&self) -> bool {
        self.credential.allows(Scope::ReportsModerate)
    }

    /// Whether the officer may change only some areas.
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

/// An officer, for requests from the script of the desk.
#[derive(Clone, Debug)]
pub(super) struct OfficerScript(pub(super) Officer);

guard!(OfficerScript, |request| {
    let token = request.headers().get_one("X-Desk-Token").unwrap_or_default();
    Officer::for_request(request).and_then(|officer| {
        officer.check_origin(FormSite::new(request), token)?;
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
