use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use rocket::Request;

/// How many names of ignored parameters a response has.
const MOST: usize = 10;
/// How many characters of each name.
const LONGEST: usize = 64;
/// What is escaped of a name.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The names of the parameters of each public read. Names in `Siaga-Ignored` those that a request has and its route does not
/// know. Clones share the names.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownParameters(Arc<HashMap<String, Known>>);

/// What a route knows.
#[derive(Debug)]
struct Known {
    path: String,
    names: HashSet<String>,
}

impl KnownParameters {
    /// Takes the name of each route, its path without the base, and the names of its parameters.
    pub(crate) fn new(routes: impl Iterator<Item = (String, String, HashSet<String>)>) -> Self {
        let known = routes.map(|(name, path, names)| (name, Known { path, names }));
        Self(Arc::new(known.collect()))
    }

    /// Returns the names that the route of a request knows; `None` if it is no public read.
    pub(crate) fn for_route(&self, request: &Request<'_>) -> Option<&HashSet<String>> {
        let route = request.route()?;
        let known = self.0.get(&**route.name.as_ref()?)?;
        (route.uri.unmounted_origin.path() == known.path.as_str()).then_some(&known.names)
    }

    /// Returns the names in the query of a request that its route does not know, joined by commas; `None` if it knows all.
    pub(super) fn ignored(&self, request: &Request<'_>) -> Option<String> {
        let ignored = ignored(request.uri().query()?.as_str(), self.for_route(request)?);
        (!ignored.is_empty()).then(|| ignored.join(", "))
    }
}

/// Returns the first names in a query that are not among the known ones, percent-encoded, each once.
fn ignored(query: &str, known: &HashSet<String>) -> Vec<String> {
    let mut names = Vec::new();
    for pair in query.split('&') {
        let name: &rocket::http::RawStr = pair.split('=').next().unwrap_or_default().into();
        let name = name.url_decode_lossy();
        if name.is_empty() || known.contains(&*name) {
            continue;
        }
        let short: String = name.chars().take(LONGEST).collect();
        let name = utf8_percent_encode(&short, ESCAPED).to_string();
        if !names.contains(&name) {
            names.push(name);
        }
        if names.len() == MOST {
            break;
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_names_are_few_short_encoded_and_each_there_once() {
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
            assert_eq!(ignored(query, &known).join(", "), expected, "{query}");
        }
        let many: Vec<_> = (0..300).map(|number| format!("p{number}={number}")).collect();
        assert_eq!(ignored(&many.join("&"), &known).len(), MOST);
        assert_eq!(ignored(&"x".repeat(5_000), &known), ["x".repeat(LONGEST)]);
    }
}
