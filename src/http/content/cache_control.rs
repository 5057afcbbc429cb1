use std::borrow::Cow;
use std::time::Duration;

use crate::model::duration::seconds_rounded_up;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CacheControl {
    NoStore,
    /// Caches must revalidate the response before each reuse. Configured shared caches may reuse it for their configured time.
    Revalidate(ContentClass),
    /// Shared caches may reuse the response for this time, until the service publishes new changes to them. No other cache may.
    UntilTick(Duration),
    /// Any cache may reuse the response for a day, because its address contains its version.
    Versioned,
    /// Caches may reuse the response for five minutes. If shared caches are configured, only they may, for their configured time.
    Photo,
}

/// Decides how long shared caches may reuse a response while the service is down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContentClass {
    /// Contains neither reports nor photos.
    WithoutReports,
    /// May contain reports or photos, which officers can hide later, so caches may reuse it only for a short time.
    MayHaveReports,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CacheTopology {
    Unconfigured,
    /// Shared caches may reuse public responses for this long.
    Shared(Duration),
    /// Shared caches are configured, but must not reuse the response, because the request has a credential.
    SharedWithCredential,
}

impl ContentClass {
    fn stale_if_error(self) -> u32 {
        match self {
            Self::WithoutReports => 3_600,
            Self::MayHaveReports => 60,
        }
    }
}

impl CacheControl {
    /// Caches revalidate before each reuse, even while the service is down.
    pub(crate) const NO_CACHE: &str = "public, no-cache";

    pub(crate) const NO_STORE: &str = "no-store";

    /// For photos in storage, and for photos that the service sends if no shared caches are configured.
    pub(crate) const FIVE_MINUTES: &str = "public, max-age=300";

    pub(crate) fn header_value(self, topology: CacheTopology) -> Cow<'static, str> {
        let class = match self {
            Self::NoStore => return Self::NO_STORE.into(),
            Self::Versioned => return "public, max-age=86400, stale-if-error=86400".into(),
            Self::Revalidate(class) => class,
            // Both variants can contain reports that are hidden later.
            Self::UntilTick(_) | Self::Photo => ContentClass::MayHaveReports,
        };
        let shared = match (topology, self) {
            (CacheTopology::Unconfigured, Self::Photo) => return Self::FIVE_MINUTES.into(),
            (CacheTopology::Unconfigured, Self::UntilTick(_)) => return Self::NO_STORE.into(),
            (CacheTopology::Unconfigured, _) => return "public, no-cache, stale-if-error=3600".into(),
            (CacheTopology::SharedWithCredential, _) => return "private, no-cache".into(),
            (CacheTopology::Shared(_), Self::UntilTick(remaining)) => remaining,
            (CacheTopology::Shared(shared), _) => shared,
        };
        let (shared, stale) = (seconds_rounded_up(shared).max(1), class.stale_if_error());
        format!("public, max-age=0, s-maxage={shared}, stale-while-revalidate=5, stale-if-error={stale}")
            .into()
    }
}
