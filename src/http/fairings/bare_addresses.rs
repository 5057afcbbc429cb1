use std::borrow::Cow;
use std::collections::HashSet;

use rocket::http::Method;
use rocket::http::uri::Origin;
use rocket::{Request, Route};

/// Adds paths that end with the name of a format to resources with several formats. `/floods.geojson` returns the GeoJSON of
/// `/floods` without the JSON envelope around it.
///
/// Both paths share one route, so metrics do not distinguish them. The added paths support only `GET`, `HEAD` and `OPTIONS`. If a
/// route is mounted at an added path, the route takes precedence. Costs nothing for a path without a dot in its last segment.
#[derive(Debug)]
pub(crate) struct BareAddresses {
    addresses: Vec<Address>,
    /// The paths of routes that contain a dot themselves.
    dotted_routes: HashSet<String>,
}

#[derive(Debug)]
struct Address {
    segments: Vec<Option<String>>,
    formats: Vec<String>,
}

struct PathFormat(Option<String>);

impl BareAddresses {
    /// Creates the addresses of routes below each of the `mount_paths`; each route comes with the names of its formats.
    pub(crate) fn new<'a>(
        mount_paths: impl Iterator<Item = &'a str> + Clone,
        routes: &[(&Route, Vec<String>)],
    ) -> Self {
        let paths = |route: &Route| {
            let path = route.uri.path().to_owned();
            mount_paths.clone().map(move |base| format!("{}{path}", base.trim_end_matches('/')))
        };
        let mut addresses = Vec::new();
        let can_be_read = |route: &Route| route.method == Method::Get;
        for (route, formats) in routes.iter().filter(|(route, _)| can_be_read(route)) {
            addresses.extend(paths(route).map(|path| Address::new(&path, formats.clone())));
        }
        let dotted = routes.iter().flat_map(|(route, _)| paths(route)).filter(|path| path.contains('.'));
        Self { addresses, dotted_routes: dotted.collect() }
    }

    /// Removes the name of a format from the path of a request, and stores the name in the request.
    pub(crate) fn strip_format(&self, request: &mut Request<'_>) {
        if !matches!(request.method(), Method::Get | Method::Head | Method::Options) {
            return;
        }
        let Some((plain, format)) = self.split(request.uri().path().as_str()) else { return };
        let format = format.to_owned();
        if let Some(uri) = with_path(request, plain) {
            request.local_cache(|| PathFormat(Some(format)));
            request.set_uri(uri);
        }
    }

    #[must_use]
    pub(crate) fn format<'r>(request: &'r Request<'_>) -> Option<&'r str> {
        request.local_cache(|| PathFormat(None)).0.as_deref()
    }

    /// Returns the path as the client sent it, including the name of the format.
    pub(crate) fn path<'r>(request: &'r Request<'_>) -> Cow<'r, str> {
        let path = request.uri().path();
        match Self::format(request) {
            None => path.as_str().into(),
            Some(format) => format!("{path}.{format}").into(),
        }
    }

    /// Splits a path such as `/floods.geojson`, if the most specific matching address offers the format.
    fn split<'p>(&self, path: &'p str) -> Option<(&'p str, &'p str)> {
        let (plain, format) = path.rsplit_once('.').filter(|(_, format)| !format.contains('/'))?;
        if self.dotted_routes.contains(path) {
            return None;
        }
        // `/alerts/history` also matches `/alerts/<identifier>`. Like Rocket, choose the path with the fewest parameters.
        let matching = self.addresses.iter().filter(|address| address.matches(plain));
        let address = matching.min_by_key(|address| address.parameters())?;
        address.formats.iter().any(|offered| offered == format).then_some((plain, format))
    }
}

impl Address {
    fn new(path: &str, formats: Vec<String>) -> Self {
        let fixed_text = |part: &str| (!part.starts_with('<')).then(|| part.to_owned());
        Self { segments: path.split('/').map(fixed_text).collect(), formats }
    }

    fn parameters(&self) -> usize {
        self.segments.iter().filter(|segment| segment.is_none()).count()
    }

    /// Whether all segments match; a parameter matches any segment that is not empty.
    fn matches(&self, path: &str) -> bool {
        let mut parts = path.split('/');
        let matches_next_part = |segment: &Option<String>| match (segment, parts.next()) {
            (Some(text), Some(part)) => text == part,
            (None, Some(part)) => !part.is_empty(),
            (_, None) => false,
        };
        self.segments.iter().all(matches_next_part) && parts.next().is_none()
    }
}

/// Treats `/floods/` as `/floods`.
pub(crate) fn drop_trailing_slash(request: &mut Request<'_>) {
    let path = request.uri().path().as_str().strip_suffix('/').filter(|path| !path.is_empty());
    if let Some(uri) = path.and_then(|path| with_path(request, path)) {
        request.set_uri(uri);
    }
}

fn with_path(request: &Request<'_>, path: &str) -> Option<Origin<'static>> {
    let uri = match request.uri().query() {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    };
    Origin::parse_owned(uri).ok()
}
