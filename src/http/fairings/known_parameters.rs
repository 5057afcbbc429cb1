use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use rocket::Request;

const MAX_NAMES: usize = 10;
const MAX_NAME_LENGTH: usize = 64;
const PERCENT_ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The names of the query parameters of each route that anyone may read. The response header `Siaga-Ignored` lists all other
/// parameters of a request. Clones share the names.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownParameters(Arc<HashMap<String, RouteParameters>>);

#[derive(Debug)]
struct RouteParameters {
    path: String,
    names: HashSet<String>,
}

impl KnownParameters {
    pub(crate) fn new(routes: impl Iterator<Item = (String, String, HashSet<String>)>) -> Self {
        let by_route = routes.map(|(name, path, names)| (name, RouteParameters { path, names }));
        Self(Arc::new(by_route.collect()))
    }

    pub(crate) fn for_route(&self, request: &Request<'_>) -> Option<&HashSet<String>> {
        let route = request.route()?;
        let parameters = self.0.get(&**route.name.as_ref()?)?;
        (route.uri.unmounted_origin.path() == parameters.path.as_str()).then_some(&parameters.names)
    }

    pub(super) fn ignored_header(&self, request: &Request<'_>) -> Option<String> {
        let ignored = ignored_names(request.uri().query()?.as_str(), self.for_route(request)?);
        (!ignored.is_empty()).then(|| ignored.join(", "))
    }
}

/// Returns the unknown names in a query: at most `MAX_NAMES`, each once, truncated and percent-encoded.
fn ignored_names(query: &str, known: &HashSet<String>) -> Vec<String> {
    let mut names = Vec::new();
    for pair in query.split('&') {
        let name: &rocket::http::RawStr = pair.split('=').next().unwrap_or_default().into();
        let name = name.url_decode_lossy();
        if name.is_empty() || known.contains(&*name) {
            continue;
        }
        let short: String = name.chars().take(MAX_NAME_LENGTH).collect();
        let name = utf8_percent_encode(&short, PERCENT_ENCODED).to_string();
        if !names.contains(&name) {
            names.push(name);
        }
        if names.len() == MAX_NAMES {
            break;
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_names_are_limited_truncated_encoded_and_unique() {
        let known = HashSet::from(["city".to_owned(), "admin".to_owned()]);
        for (query, expected) in [
            ("city=jbd&admin=ID-JK", ""),
            ("_=1479723000&city=jbd", "_"),
            ("%63ity=jbd", ""),
            ("City=jbd", "City"),
            ("a=1&a=2&b", "a, b"),
            ("a%0d%0ab=1&%FF=2&x%2Cy=3", "a%0D%0Ab, %EF%BF%BD, x%2Cy"),
            ("&&=1", ""),
        ] {
            assert_eq!(ignored_names(query, &known).join(", "), expected, "{query}");
        }
        let many: Vec<_> = (0..300).map(|number| format!("p{number}={number}")).collect();
        assert_eq!(ignored_names(&many.join("&"), &known).len(), MAX_NAMES);
        assert_eq!(ignored_names(&"x".repeat(5_000), &known), ["x".repeat(MAX_NAME_LENGTH)]);
    }
}
