//! Logins with OpenID Connect: the authorization code flow with PKCE.
//!
//! Written on `jsonwebtoken` and `reqwest`, because the crate `openidconnect` needs `rsa`, which has an open security advisory.
//! Keys are fetched at each login and not cached, so rotated and withdrawn keys take effect at once. The work that strangers can
//! cause is limited: metadata is fetched at most every ten seconds, and a few logins at a time talk to the identity provider.

mod id_token;
mod metadata;
mod settings;

use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine};
use reqwest::{Client, StatusCode};
use ring::digest::{SHA256, digest};
use rocket::tokio::sync::{Mutex, Semaphore};
use rocket::tokio::time;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::{Url, form_urlencoded};

use self::id_token::{Claims, Expected};
use self::metadata::{Metadata, with_parameters};
use self::settings::GroupGrant;
pub(crate) use self::settings::OidcSettings;
use super::fetch::{client, fetch, send};
use super::random::{self, RandomUnavailable};
use super::{Credential, CredentialKind, InvalidSettings, PERSON_PREFIX, Secret};
use crate::model::{Clock, is_name};
use crate::runtime::throttle::recent;

/// How long the metadata of the provider, or the failure to fetch it, is reused.
const METADATA_AGE: Duration = Duration::from_secs(10);
/// The maximum number of logins that talk to the provider at a time. Others wait for at most `MAX_WAIT`.
const MAX_LOGINS: usize = 8;
const MAX_WAIT: Duration = Duration::from_secs(5);
/// The maximum number of a person's groups that grants name. The session cookie contains them.
const MAX_GROUPS: usize = 32;
/// The maximum size of a [`Person`] in JSON, in bytes, so that the encrypted cookie stays below the 4096 bytes of browsers.
const MAX_PERSON: usize = 2_400;

type FetchedMetadata = Result<Arc<Metadata>, String>;

#[derive(Debug)]
pub(crate) struct RelyingParty {
    settings: OidcSettings,
    secret: Secret,
    http: Client,
    /// The result of the last fetch, and when it ended.
    metadata: Mutex<Option<(Instant, FetchedMetadata)>>,
    logins: Semaphore,
}

/// What ties the response of the provider to the browser that sent the request. Each value has 258 random bits.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LoginRequest {
    pub(crate) state: String,
    nonce: String,
    /// The code verifier of PKCE (RFC 7636).
    verifier: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Person {
    issuer: String,
    /// `oidc:` and the `sub` of the person.
    pub(crate) subject: String,
    pub(crate) name: String,
    /// Only groups that grants name.
    groups: Vec<String>,
}

/// Why a person cannot log in. The texts are for the log, and contain neither codes nor tokens.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OidcError {
    /// The provider fails, or is not configured for this client.
    #[error("siaga.auth.oidc: {0}")]
    Unavailable(String),
    /// The response of the provider is forged, old, or for another login.
    #[error("{0}")]
    Refused(&'static str),
    /// The provider has not let the person in, or the person cancelled.
    #[error("the issuer has not let the person in")]
    Denied,
    #[error("no group of the person is in siaga.auth.oidc.grants")]
    NoAccess(Person),
    /// The groups do not fit into the cookie, or the provider did not send them.
    #[error("the person has too many groups")]
    TooManyGroups(Person),
}

impl LoginRequest {
    pub(crate) fn new() -> Result<Self, RandomUnavailable> {
        let text = random::url_safe::<43>;
        Ok(Self { state: text()?, nonce: text()?, verifier: text()? })
    }
}

impl RelyingParty {
    /// Reads the files of the settings. Does not connect to the provider, so that the service can start without it.
    pub(super) fn new(settings: &OidcSettings) -> Result<Self, InvalidSettings> {
        settings.check()?;
        let secret = settings.secret()?;
        let http = client(settings.authorities()?).map_err(|error| settings::invalid("ca_file", error))?;
        let (settings, logins) = (settings.clone(), Semaphore::new(MAX_LOGINS));
        Ok(Self { settings, secret, http, metadata: Mutex::default(), logins })
    }

    pub(crate) fn session(&self) -> Duration {
        self.settings.session
    }

    /// Returns the address at the provider where the person logs in. `is_fresh` makes the provider ask for the password again.
    pub(crate) async fn authorization_url(
        &self,
        request: &LoginRequest,
        redirect_uri: &str,
        is_fresh: bool,
    ) -> Result<Url, OidcError> {
        let metadata = self.metadata().await?;
        let challenge = BASE64_URL_SAFE_NO_PAD.encode(digest(&SHA256, request.verifier.as_bytes()));
        let scopes = self.settings.scopes.join(" ");
        let mut parameters = vec![
            ("response_type", "code"),
            ("client_id", &self.settings.client_id),
            ("redirect_uri", redirect_uri),
            ("state", &request.state),
            ("nonce", &request.nonce),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
            ("scope", &scopes),
        ];
        parameters.extend(is_fresh.then_some(("prompt", "login")));
        Ok(with_parameters(&metadata.authorization_endpoint, &parameters))
    }

    /// Returns the address at the provider where its own session ends, if it has one.
    pub(crate) async fn end_session_url(&self, return_to: &str) -> Option<Url> {
        let metadata = self.metadata().await.ok()?;
        let parameters =
            [("client_id", self.settings.client_id.as_str()), ("post_logout_redirect_uri", return_to)];
        metadata.end_session_endpoint.as_ref().map(|endpoint| with_parameters(endpoint, &parameters))
    }

    /// Exchanges the code for an ID token, and returns the person. `iss` is the parameter of RFC 9207.
    pub(crate) async fn log_in(
        &self,
        (code, iss): (&str, Option<&str>),
        request: &LoginRequest,
        redirect_uri: &str,
        clock: &dyn Clock,
    ) -> Result<Person, OidcError> {
        let permit = time::timeout(MAX_WAIT, self.logins.acquire()).await;
        let _permit = permit.map_err(|_| unavailable("too many people log in at the same time"))?;
        let metadata = self.metadata().await?;
        let needs_iss = metadata.authorization_response_iss_parameter_supported;
        if iss.map_or(needs_iss, |iss| iss != self.settings.issuer.as_str()) {
            return Err(OidcError::Refused("response of another issuer"));
        }
        let tokens = self.exchange(&metadata, code, request, redirect_uri).await?;
        let text = |name: &str| tokens.get(name).and_then(Value::as_str);
        let id_token = text("id_token").ok_or_else(|| unavailable("the token response has no ID token"))?;
        let keys = fetch(self.http.get(metadata.jwks_uri.url().clone())).await.map_err(unavailable)?;
        let expected = Expected {
            issuer: self.settings.issuer.as_str(),
            client_id: &self.settings.client_id,
            nonce: &request.nonce,
            now: clock.now(),
        };
        let mut claims = id_token::verify(id_token, &keys, &expected).map_err(OidcError::Refused)?;
        let lacks = |name: &String| !claims.contains_key(name) && !claims.contains_key("_claim_names");
        if (lacks(&self.settings.groups_claim) || lacks(&self.settings.name_claim))
            && let (Some(endpoint), Some(token)) = (&metadata.userinfo_endpoint, text("access_token"))
        {
            let body = fetch(self.http.get(endpoint.url().clone()).bearer_auth(token)).await;
            let userinfo = body.map_err(unavailable).and_then(|body| {
                let parsed = serde_json::from_slice::<Claims>(&body);
                parsed.map_err(|_| unavailable("the userinfo is not a JSON object"))
            });
            let userinfo = match userinfo {
                // Without the name, the person has another one.
                Err(_) if !lacks(&self.settings.groups_claim) => return self.person(&claims),
                userinfo => userinfo?,
            };
            if userinfo.get("sub") != claims.get("sub") {
                return Err(OidcError::Refused("userinfo of another person"));
            }
            for (name, value) in userinfo {
                claims.entry(name).or_insert(value);
            }
        }
        self.person(&claims)
    }

    pub(crate) fn credential(&self, person: &Person) -> Option<Credential> {
        let has_group = |group: &String| person.groups.contains(group);
        let grants = self.settings.grants.iter().filter(|grant| has_group(&grant.group));
        let grants: Vec<_> = grants.map(GroupGrant::grant).collect();
        let is_valid = person.issuer == self.settings.issuer.as_str() && !grants.is_empty();
        let (kind, subject) = (CredentialKind::Login, person.subject.clone());
        is_valid.then_some(Credential { kind, subject, quota: None, grants })
    }

    async fn metadata(&self) -> Result<Arc<Metadata>, OidcError> {
        let mut cached = self.metadata.lock().await;
        let issuer = &self.settings.issuer;
        let read = async {
            let body =
                fetch(self.http.get(Metadata::address(issuer))).await.map_err(|error| error.to_string());
            let metadata = body.and_then(|body| Metadata::parse(&body, issuer)).map(Arc::new);
            metadata.map_err(|error| excerpt(&error)).inspect_err(|error| tracing::warn!("{issuer}: {error}"))
        };
        let (at, metadata) = recent(cached.take(), METADATA_AGE, read).await;
        *cached = Some((at, metadata.clone()));
        metadata.map_err(OidcError::Unavailable)
    }

    /// Sends the token request (RFC 6749 §4.1.3), and returns the members of its response.
    async fn exchange(
        &self,
        metadata: &Metadata,
        code: &str,
        request: &LoginRequest,
        redirect_uri: &str,
    ) -> Result<Claims, OidcError> {
        let (id, secret) = (self.settings.client_id.as_str(), self.secret.expose());
        let mut parameters = vec![
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", redirect_uri),
            ("code_verifier", &request.verifier),
        ];
        let mut post = self.http.post(metadata.token_endpoint.url().clone());
        if metadata.needs_secret_in_body() {
            parameters.extend([("client_id", id), ("client_secret", secret)]);
        } else {
            // Both parts are encoded as in a form (RFC 6749 §2.3.1).
            let encoded = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
            post = post.basic_auth(encoded(id), Some(encoded(secret)));
        }
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(parameters).finish();
        let post = post.header("Content-Type", "application/x-www-form-urlencoded").body(body);
        let (status, body) = send(post).await.map_err(unavailable)?;
        let members: Claims = serde_json::from_slice(&body)
            .map_err(|_| unavailable(format_args!("the token response is {status} and not a JSON object")))?;
        let error = members.get("error").and_then(Value::as_str).unwrap_or_default();
        match (status, error) {
            (StatusCode::OK, _) => Ok(members),
            // Providers answer an unusable code with different errors; only this one is about the service itself.
            (StatusCode::BAD_REQUEST, error) if error != "invalid_client" => {
                Err(OidcError::Refused("the issuer refuses the code"))
            }
            _ => Err(unavailable(format_args!("the token response is {status}, {:?}", excerpt(error)))),
        }
    }

    fn person(&self, claims: &Claims) -> Result<Person, OidcError> {
        let settings = &self.settings;
        let text = |name: &str| claims.get(name).and_then(Value::as_str);
        let sub = text("sub").ok_or(OidcError::Refused("ID token without sub"))?;
        let subject = format!("{PERSON_PREFIX}{sub}");
        if sub.is_empty() || !is_name(&subject) {
            return Err(OidcError::Refused("ID token with an unusable sub"));
        }
        let names = [text(&settings.name_claim), text("preferred_username"), Some(sub)];
        let name = names.into_iter().flatten().find(|name| is_name(name)).unwrap_or(sub).to_owned();
        let issuer = settings.issuer.as_str().to_owned();
        let groups = claims.get(&settings.groups_claim);
        let has = |group: &str| match groups {
            Some(Value::Array(groups)) => groups.iter().any(|value| value.as_str() == Some(group)),
            Some(only) => only.as_str() == Some(group),
            None => false,
        };
        let mut own: Vec<_> = settings.grants.iter().map(|grant| grant.group.clone()).collect();
        own.sort();
        own.dedup();
        own.retain(|group| has(group));
        let person = Person { issuer, subject, name, groups: own };
        // Entra ID sends the address of a long list instead of the list.
        let names = claims.get("_claim_names").and_then(|names| names.get(&settings.groups_claim));
        let size = serde_json::to_string(&person).map_or(usize::MAX, |text| text.len());
        if (groups.is_none() && names.is_some()) || person.groups.len() > MAX_GROUPS || size > MAX_PERSON {
            return Err(OidcError::TooManyGroups(person));
        }
        if person.groups.is_empty() { Err(OidcError::NoAccess(person)) } else { Ok(person) }
    }
}

fn excerpt(text: &str) -> String {
    text.chars().take(200).collect()
}

fn unavailable(reason: impl ToString) -> OidcError {
    OidcError::Unavailable(reason.to_string())
}
