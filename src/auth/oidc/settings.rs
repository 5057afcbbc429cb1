use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fmt, fs};

use reqwest::Certificate;
use serde::{Deserialize, Serialize};

use crate::auth::api_key::area_rule;
use crate::auth::{Grant, InvalidSettings, Scope, Secret, SecureUrl};
use crate::model::duration;
use crate::model::{AreaRule, NAME, is_name};

/// The limits of `session`. Stores forget ended logins after 24 hours, so no login may last longer.
const MIN_SESSION: Duration = Duration::from_mins(1);
const MAX_SESSION: Duration = Duration::from_hours(12);

/// The settings of logins at the desk with OpenID Connect.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OidcSettings {
    /// The address of the identity provider, exactly as the provider writes it in its metadata and tokens.
    pub(super) issuer: SecureUrl,
    pub(super) client_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    client_secret: Option<Secret>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    client_secret_file: Option<PathBuf>,
    /// **Default: `openid` and `profile`**
    #[serde(default = "OidcSettings::default_scopes")]
    pub(super) scopes: Vec<String>,
    /// The claim with the name of the person. **Default: `name`**
    #[serde(default = "OidcSettings::default_name_claim")]
    pub(super) name_claim: String,
    /// The claim with the groups of the person. **Default: `groups`**
    #[serde(default = "OidcSettings::default_groups_claim")]
    pub(super) groups_claim: String,
    /// How long a login lasts. **Default: `12h`**
    #[serde(default = "OidcSettings::default_session", with = "duration")]
    pub(super) session: Duration,
    /// Further certificate authorities for the address of the provider, in PEM. **Default: none**
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ca_file: Option<PathBuf>,
    pub(super) grants: Vec<GroupGrant>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GroupGrant {
    pub(super) group: String,
    pub(super) scopes: Vec<Scope>,
    /// **Default: all areas**
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "area_rule")]
    pub(super) areas: Option<AreaRule>,
}

impl GroupGrant {
    pub(super) fn grant(&self) -> Grant {
        Grant { scopes: self.scopes.clone(), areas: self.areas.clone() }
    }
}

impl OidcSettings {
    fn default_scopes() -> Vec<String> {
        ["openid", "profile"].map(str::to_owned).into()
    }

    fn default_name_claim() -> String {
        "name".to_owned()
    }

    fn default_groups_claim() -> String {
        "groups".to_owned()
    }

    fn default_session() -> Duration {
        MAX_SESSION
    }

    pub(crate) fn grants(&self) -> impl Iterator<Item = (String, Grant)> {
        self.grants.iter().map(|grant| (format!("the group {:?}", grant.group), grant.grant()))
    }

    pub(super) fn check(&self) -> Result<(), InvalidSettings> {
        let issuer = self.issuer.url();
        if issuer.query().is_some() || issuer.fragment().is_some() {
            return Err(invalid("issuer", "must have no query and no fragment"));
        }
        for (key, text) in [
            ("client_id", &self.client_id),
            ("name_claim", &self.name_claim),
            ("groups_claim", &self.groups_claim),
        ] {
            if !is_name(text) {
                return Err(invalid(key, format_args!("must be {NAME}")));
            }
        }
        if !self.scopes.iter().any(|scope| scope == "openid") || !self.scopes.iter().all(|s| is_token(s)) {
            return Err(invalid("scopes", "must be a list of words, one of which is openid"));
        }
        if !(MIN_SESSION..=MAX_SESSION).contains(&self.session) {
            return Err(invalid("session", "must be from 1m to 12h"));
        }
        if self.grants.is_empty() {
            return Err(invalid("grants", "must not be empty, or nobody can log in"));
        }
        for (index, grant) in self.grants.iter().enumerate() {
            if !is_name(&grant.group) {
                return Err(invalid(&format!("grants.{index}.group"), format_args!("must be {NAME}")));
            }
            if grant.scopes.is_empty() {
                return Err(invalid(&format!("grants.{index}.scopes"), "must not be empty"));
            }
        }
        Ok(())
    }

    /// Returns the secret of the client: exactly one of the text and the file must be configured.
    pub(super) fn secret(&self) -> Result<Secret, InvalidSettings> {
        match (&self.client_secret, &self.client_secret_file) {
            (Some(secret), None) => Ok(secret.clone()),
            (None, Some(path)) => match read("client_secret_file", path)?.trim() {
                "" => Err(invalid("client_secret_file", format_args!("{} is empty", path.display()))),
                text => Ok(Secret::from(text.to_owned())),
            },
            (None, None) => Err(invalid("client_secret", "missing; it or client_secret_file is needed")),
            (Some(_), Some(_)) => {
                Err(invalid("client_secret", "only one of it and client_secret_file is allowed"))
            }
        }
    }

    pub(super) fn authorities(&self) -> Result<Vec<Certificate>, InvalidSettings> {
        let Some(path) = &self.ca_file else { return Ok(Vec::new()) };
        let certificates = Certificate::from_pem_bundle(read("ca_file", path)?.as_bytes());
        let none = || invalid("ca_file", format_args!("{} has no certificate in PEM", path.display()));
        certificates.ok().filter(|certificates| !certificates.is_empty()).ok_or_else(none)
    }
}

fn read(key: &str, path: &Path) -> Result<String, InvalidSettings> {
    fs::read_to_string(path).map_err(|error| invalid(key, format_args!("{}: {error}", path.display())))
}

/// Whether a text is a scope of OAuth 2.0 (RFC 6749 §3.3).
fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\')
}

pub(super) fn invalid(key: &str, reason: impl fmt::Display) -> InvalidSettings {
    InvalidSettings::new(&format!("oidc.{key}"), reason)
}
