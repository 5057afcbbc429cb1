use rocket::Request;

use crate::auth::{Authenticator, Credential, CredentialError};
use crate::http::error::Problem;
use crate::http::fairings::Subject;
use crate::http::managed::{guard, managed};
use crate::openapi::{Interface, Operation, Part};

/// The sender of a request, with a valid credential or without any.
///
/// An invalid credential is rejected on public routes too, so that the client notices the mistake early.
#[derive(Clone, Debug)]
pub struct Caller(pub Option<Credential>);

guard!(Caller, |request| Self::for_request(request).clone());

impl Part for Caller {
    fn describe(operation: &mut Operation, _: &Interface<'_>) {
        operation.credential(&[]);
    }
}

impl Caller {
    /// Verifies the credential of a request, once; later calls return the same result.
    pub(crate) fn for_request<'r>(request: &'r Request<'_>) -> &'r Result<Self, Problem> {
        request.local_cache(|| {
            let credential = managed(request).and_then(|authenticator| credential(request, authenticator))?;
            if let Some(credential) = &credential {
                Subject::record(request, &credential.subject);
            }
            Ok(Self(credential))
        })
    }
}

fn credential(request: &Request<'_>, authenticator: &Authenticator) -> Result<Option<Credential>, Problem> {
    let bearer = single_header(request, "Authorization")?
        .filter(|value| !lacks_token(value))
        .map(|value| {
            bearer_token(value).ok_or_else(|| Problem::unauthorized("Authorization without Bearer", None))
        })
        .transpose()?;
    let key = single_header(request, "X-Api-Key")?;
    if bearer.is_some_and(|bearer| bearer.starts_with(PUSH_SECRET))
        && key.is_none()
        && is_about_subscription(request)
    {
        return Ok(None);
    }
    let credential = match (bearer, key) {
        (None, None) => return Ok(None),
        (Some(bearer), Some(key)) if bearer != key => {
            return Err(Problem::unauthorized("two different credentials", None));
        }
        (Some(token), _) => authenticator.verify_token(token),
        (None, Some(key)) => authenticator.verify_key_or_token(key),
    };
    let refused = |CredentialError { reason, credential }| Problem::unauthorized(reason, Some(&credential));
    credential.map(Some).map_err(refused)
}

/// The beginning of the secret of a push subscription. It is no credential: only routes about this subscription accept it.
pub(crate) const PUSH_SECRET: &str = "siaga-sub-";

fn is_about_subscription(request: &Request<'_>) -> bool {
    request.uri().path().as_str().contains("/push/subscriptions/")
}

/// Returns the value of a header, or `None` if it is absent or empty. A repeated header is rejected.
fn single_header<'r>(request: &'r Request<'_>, name: &str) -> Result<Option<&'r str>, Problem> {
    let mut values = request.headers().get(name);
    match (values.next(), values.next()) {
        (value, None) => Ok(value.map(str::trim).filter(|value| !value.is_empty())),
        _ => Err(Problem::unauthorized(format_args!("{name} is sent more than once"), None)),
    }
}

/// Whether the value is `Bearer` without a token. Scripts send it if the variable with their token is unset.
fn lacks_token(value: &str) -> bool {
    let (scheme, token) = value.split_once(' ').unwrap_or((value, ""));
    scheme.eq_ignore_ascii_case("Bearer") && ["", "null", "undefined"].contains(&token.trim_start())
}

/// Returns the token of `Bearer <token>` (RFC 6750 §2.1); the scheme is case-insensitive (RFC 9110 §11.1).
pub(crate) fn bearer_token(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("Bearer").then_some(token.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_follows_its_scheme() {
        for (value, expected) in [
            ("bearer  abc", Some("abc")),
            ("BEARER abc", Some("abc")),
            ("abc", None),
            ("Bearerabc def", None),
        ] {
            assert_eq!(bearer_token(value), expected, "{value}");
        }
    }
}
