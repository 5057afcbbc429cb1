use std::borrow::Cow;
use std::collections::HashSet;

use rocket::http::Method;
use rocket::http::uri::Origin;
use rocket::{Request, Route};

/// Serves what has a choice of formats also at its address with the name of a format, without the envelope:
/// `/floods.geojson` as `/floods` in GeoJSON.
///
/// The route is the same, so metrics do not tell the addresses apart. Other methods than `GET`, `HEAD` and `OPTIONS` are not
/// supported there. A route that is mounted at such an address itself comes first. Costs nothing for an address without a
/// dot in its last segment.
#[derive(Debug)]
pub(crate) struct BareAddresses {
    addresses: Vec<Address>,
    /// The addresses of routes that contain a dot themselves.
    taken: HashSet<String>,
}

/// A path with a choice of formats.
#[derive(Debug)]
struct Address {
    /// Its segments; `None` for one that is a parameter.
    segments: Vec<Option<String>>,
    formats: Vec<String>,
}

/// The format in the address of a request.
struct InAddress(Option<String>);

impl BareAddresses {
    /// Takes routes, below the `mount_paths`, with the names of the formats that each has a choice of.
    pub(crate) fn new<'a>(
        mount_paths: impl Iterator<Item = &'a str> + Clone,
        routes: &[(&Route, Vec<String>)],
    ) -> Self {
        let below = |route: &Route| {
            let path = route.uri.path().to_owned();
            mount_paths.clone().map(move |base| format!("{}{path}", base.trim_end_matches('/')))
        };
        let mut addresses = Vec::new();
        let can_be_read = |route: &Route| route.method == Method::Get;
        for (route, formats) in routes.iter().filter(|(route, _)| can_be_read(route)) {
            addresses.extend(below(route).map(|path| Address::new(&path, formats.clone())));
        }
        let taken = routes.iter().flat_map(|(route, _)| below(route)).filter(|path| path.contains('.'));
        Self { addresses, taken: taken.collect() }
    }

    /// Gives a request whose address names a format the address without it, and notes the format.
    pub(crate) fn split_address(&self, request: &mut Request<'_>) {
        if !matches!(request.method(), Method::Get | Method::Head | Method::Options) {
            return;
        }
        let Some((plain, format)) = self.split(request.uri().path().as_str()) else { return };
        let format = format.to_owned();
        if let Some(uri) = with_path(request, plain) {
            request.local_cache(|| InAddress(Some(format)));
            request.set_uri(uri);
        }
    }

    /// Returns the name of the format in the address of a request; `None` if the address has none.
    #[must_use]
    pub(crate) fn format<'r>(request: &'r Request<'_>) -> Option<&'r str> {
        request.local_cache(|| InAddress(None)).0.as_deref()
    }

    /// Returns the path of a request as the client has written it: with the name of the format.
    pub(crate) fn path<'r>(request: &'r Request<'_>) -> Cow<'r, str> {
        let path = request.uri().path();
        match Self::format(request) {
            None => path.as_str().into(),
            Some(format) => format!("{path}.{format}").into(),
        }
    }

    /// Returns the path without the name of a format, and that name.
    fn split<'p>(&self, path: &'p str) -> Option<(&'p str, &'p str)> {
        let (plain, format) = path.rsplit_once('.').filter(|(_, format)| !format.contains('/'))?;
        if self.taken.contains(path) {
            return None;
        }
        // `/alerts/history` matches `/alerts/<identifier>` too. Requests reach the route with the fewest parameters.
        let matching = self.addresses.iter().filter(|address| address.matches(plain));
        let address = matching.min_by_key(|address| address.parameters())?;
        address.formats.iter().any(|offered| offered == format).then_some((plain, format))
    }
}

impl Address {
    fn new(path: &str, formats: Vec<String>) -> Self {
        let segment = |segment: &str| (!segment.starts_with('<')).then(|| segment.to_owned());
        Self { segments: path.split('/').map(segment).collect(), formats }
    }

    fn parameters(&self) -> usize {
        self.segments.iter().filter(|segment| segment.is_none()).count()
    }

    fn matches(&self, path: &str) -> bool {
        let mut given = path.split('/');
        let matches = |own: &Option<String>| {
            given.next().is_some_and(|given| own.as_deref().map_or(!given.is_empty(), |own| own == given))
        };
        self.segments.iter().all(matches) && given.next().is_none()
    }
}

/// Treats `/floods/` as `/floods`.
pub(crate) fn drop_trailing_slash(request: &mut Request<'_>) {
    let path = request.uri().path().as_str().strip_suffix('/').filter(|path| !path.is_empty());
    if let Some(uri) = path.and_then(|path| with_path(request, path)) {
        request.set_uri(uri);
    }
}

/// Returns the address of a request with another path.
fn with_path(request: &Request<'_>, path: &str) -> Option<Origin<'static>> {
    let uri = match request.uri().query() {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    };
    Origin::parse_owned(uri).ok()
}
