use serde::{Deserialize, Serialize};

use super::base_url::is_mountable;
use super::{BaseUrl, ConfigError};

/// A mount path of the interface: `/`, or `/api/v1` without a trailing slash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct MountPath(String);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a path such as / or /api/v1, of letters, digits and -._~ between the slashes")]
pub(crate) struct InvalidMountPath;

impl MountPath {
    /// The first segments of paths outside the interface. No mount path may begin with them.
    pub(crate) const RESERVED: [&'static str; 11] = [
        "archive",
        "health",
        "metrics",
        "desk",
        "docs",
        "openapi.json",
        "map",
        "sw.js",
        "logo",
        "report",
        "reporting",
    ];

    #[must_use]
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for MountPath {
    type Error = InvalidMountPath;

    fn try_from(text: String) -> Result<Self, InvalidMountPath> {
        let path = text.trim_end_matches('/');
        match path {
            "" if text.is_empty() => Err(InvalidMountPath),
            "" => Ok(Self("/".to_owned())),
            path if is_mountable(path) => Ok(Self(path.to_owned())),
            _ => Err(InvalidMountPath),
        }
    }
}

/// Rejects paths that clash with the base address, each other, or paths outside the interface.
pub(super) fn check(also_at: &[MountPath], base_url: &BaseUrl) -> Result<(), ConfigError> {
    let mut paths = vec![base_url.path()];
    for (index, MountPath(path)) in also_at.iter().enumerate() {
        let is_below = |outer: &str, inner: &str| {
            outer != "/" && inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/'))
        };
        let reserved = MountPath::RESERVED.iter().find(|name| path.split('/').nth(1) == Some(**name));
        let other =
            paths.iter().find(|other| *other == path || is_below(other, path) || is_below(path, other));
        let reason = match (reserved, other) {
            (Some(name), _) => format!("{path} clashes with /{name}, which is outside the interface"),
            (None, Some(other)) if other == path => format!("the interface is at {path} already"),
            (None, Some(other)) => format!("neither of {path} and {other} can be below the other"),
            (None, None) => {
                paths.push(path);
                continue;
            }
        };
        return Err(ConfigError::new(&format!("siaga.also_at.{index}"), reason));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(paths: &[&str]) -> Vec<MountPath> {
        paths.iter().map(|&path| MountPath::try_from(path.to_owned()).unwrap()).collect()
    }

    #[test]
    fn a_path_has_plain_parts_and_no_slash_at_its_end() {
        for (text, path) in [("/", "/"), ("/api/", "/api"), ("/api/v1", "/api/v1")] {
            assert_eq!(MountPath::try_from(text.to_owned()).unwrap().as_str(), path);
        }
        for text in ["", "api", "/a b", "/a//b", "/..", "/<id>", "/a?b", "https://example.org/", "/%61"] {
            assert_eq!(MountPath::try_from(text.to_owned()), Err(InvalidMountPath), "{text:?}");
        }
    }

    #[test]
    fn a_path_that_clashes_is_refused_with_what_it_clashes_with() {
        let base = BaseUrl::try_from("https://example.org/api/v1".to_owned()).unwrap();
        for allowed in [&["/"][..], &["/", "/v1"], &["/healthy"], &[]] {
            assert!(check(&paths(allowed), &base).is_ok(), "{allowed:?}");
        }
        for (refused, reason) in [
            (&["/api/v1"][..], "siaga.also_at.0: the interface is at /api/v1 already"),
            (&["/", "/"], "siaga.also_at.1: the interface is at / already"),
            (&["/api"], "neither of /api and /api/v1"),
            (&["/api/v1/old"], "neither of /api/v1/old and /api/v1"),
            (&["/docs"], "/docs clashes with /docs"),
            (&["/health/v1"], "/health/v1 clashes with /health"),
        ] {
            let error = check(&paths(refused), &base).unwrap_err().to_string();
            assert!(error.contains(reason), "{refused:?}: {error}");
        }
    }
}
