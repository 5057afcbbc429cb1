use std::convert::Infallible;

use rocket::Request;
use rocket::request::{FromRequest, Outcome};
use url::Url;

use super::managed;
use crate::config::Config;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FormSite {
    /// A page of this service, according to `Sec-Fetch-Site`, which scripts cannot set.
    SameOrigin,
    /// No page, according to `Sec-Fetch-Site`: the user has typed the address.
    NoSite,
    Foreign,
    /// The request has no `Sec-Fetch-Site` (old browsers, plain HTTP, other programs), and no `Origin` of another site.
    Unknown,
}

impl FormSite {
    /// Returns the site of a request. If `Sec-Fetch-Site` is present, it alone decides. Otherwise `Origin` decides: pages of this
    /// service send the origin of `Host` or `base_url`, or `null`, because they send no referrer.
    pub(crate) fn new(request: &Request<'_>) -> Self {
        let mut sites = request.headers().get("Sec-Fetch-Site");
        match (sites.next(), sites.next()) {
            (Some("same-origin"), None) => return Self::SameOrigin,
            (Some("none"), None) => return Self::NoSite,
            (Some(_), _) => return Self::Foreign,
            (None, _) => {}
        }
        let is_own = |origin: &str| {
            let origin = Url::parse(origin).ok();
            let Some(host) = origin.as_ref().and_then(Url::host_str) else { return false };
            let host_header = request.host().map(|host| host.domain().as_str());
            let public = managed::<Config>(request).map(|config| config.base_url.host());
            host_header.is_some_and(|name| name.eq_ignore_ascii_case(host))
                || public.is_ok_and(|public| public.eq_ignore_ascii_case(host))
        };
        let mut origins = request.headers().get("Origin");
        if origins.all(|origin| origin == "null" || is_own(origin)) { Self::Unknown } else { Self::Foreign }
    }
}

#[rocket::async_trait]
impl<'r> FromRequest<'r> for FormSite {
    type Error = Infallible;

    async fn from_request(request: &'r Request<'_>) -> Outcome<Self, Infallible> {
        Outcome::Success(Self::new(request))
    }
}
