use serde::Deserialize;
use url::Url;

use crate::auth::SecureUrl;

/// The metadata of an identity provider (OpenID Connect Discovery 1.0 §3).
#[derive(Debug, Deserialize)]
pub(super) struct Metadata {
    issuer: String,
    pub(super) authorization_endpoint: SecureUrl,
    pub(super) token_endpoint: SecureUrl,
    pub(super) jwks_uri: SecureUrl,
    pub(super) userinfo_endpoint: Option<SecureUrl>,
    pub(super) end_session_endpoint: Option<SecureUrl>,
    #[serde(default)]
    token_endpoint_auth_methods_supported: Vec<String>,
    /// Whether responses have the parameter `iss` (RFC 9207 §3).
    #[serde(default)]
    pub(super) authorization_response_iss_parameter_supported: bool,
}

impl Metadata {
    /// Returns the address of the metadata (§4).
    pub(super) fn address(issuer: &SecureUrl) -> String {
        format!("{}/.well-known/openid-configuration", issuer.as_str().trim_end_matches('/'))
    }

    /// Parses metadata. The issuer must be the configured one, byte for byte (§4.3), and all endpoints must have its scheme.
    pub(super) fn parse(text: &[u8], issuer: &SecureUrl) -> Result<Self, String> {
        let metadata: Self = serde_json::from_slice(text).map_err(|error| format!("no metadata: {error}"))?;
        if metadata.issuer != issuer.as_str() {
            return Err(format!("the metadata is of another issuer, {:?}", metadata.issuer));
        }
        let scheme = issuer.url().scheme();
        let is_same = |endpoint: &SecureUrl| endpoint.url().scheme() == scheme;
        let required = [&metadata.authorization_endpoint, &metadata.token_endpoint, &metadata.jwks_uri];
        let optional = [&metadata.userinfo_endpoint, &metadata.end_session_endpoint];
        let are_same = required.into_iter().chain(optional.into_iter().flatten()).all(is_same);
        if are_same { Ok(metadata) } else { Err(format!("an endpoint does not begin with {scheme}:")) }
    }

    /// Whether the client's secret must be sent in the body. Without a list, `client_secret_basic` is supported (§3).
    pub(super) fn needs_secret_in_body(&self) -> bool {
        let methods = &self.token_endpoint_auth_methods_supported;
        let has = |method: &str| methods.iter().any(|supported| supported == method);
        has("client_secret_post") && !has("client_secret_basic")
    }
}

pub(super) fn with_parameters(endpoint: &SecureUrl, parameters: &[(&str, &str)]) -> Url {
    let mut url = endpoint.url().clone();
    url.query_pairs_mut().extend_pairs(parameters);
    url
}
