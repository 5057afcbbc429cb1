use std::borrow::Cow;
use std::time::Duration;

use crate::model::duration::whole_seconds;

/// Whether and how caches may keep a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CacheControl {
    /// No cache may keep it.
    Never,
    /// Any cache may keep it, but must revalidate it before each reuse, unless shared caches may reuse it.
    Revalidated(ContentClass),
    /// Only shared caches may reuse it, for this long.
    UntilTick(Duration),
    /// Any cache may reuse it for a day: its address names this content.
    ForADay,
    /// Any cache may reuse it for five minutes, unless shared caches may reuse it.
    Photo,
}

/// What a response can contain. It decides how long shared caches may reuse it while the service is away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContentClass {
    /// Nothing that is ever hidden.
    NoReports,
    /// Perhaps reports or photos, which can be hidden: caches forget them soon.
    PerhapsReports,
}

/// Which caches are between the service and the reader of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CacheTopology {
    /// Caches that the operator has not configured.
    AnyCaches,
    /// Shared caches, which may reuse responses for this long.
    SharedCaches(Duration),
    /// Shared caches, but the request has a credential, so its response must not come from them.
    SharedCachesButCredential,
}

impl ContentClass {
    /// Returns for how many seconds caches may reuse the response while the service is away.
    fn stale_if_error(self) -> u32 {
        match self {
            Self::NoReports => 3_600,
            Self::PerhapsReports => 60,
        }
    }
}

impl CacheControl {
    /// Every cache asks before each reuse, also while the service is away.
    pub(crate) const ASKED: &str = "public, no-cache";

    /// `Cache-Control` of a response that no cache may keep.
    pub(crate) const NEVER: &str = "no-store";

    /// `Cache-Control` of photos in storage, and of those that the service sends unless shared caches may reuse them.
    pub(crate) const SHORTLY: &str = "public, max-age=300";

    /// Returns the value of `Cache-Control`. A shared cache may reuse a response for at least a second.
    pub(crate) fn cache_control(self, between: CacheTopology) -> Cow<'static, str> {
        let holds = match self {
            Self::Never => return Self::NEVER.into(),
            Self::ForADay => return "public, max-age=86400, stale-if-error=86400".into(),
            Self::Revalidated(holds) => holds,
            // They name reports that were hidden.
            Self::UntilTick(_) | Self::Photo => ContentClass::PerhapsReports,
        };
        let shared = match (between, self) {
            (CacheTopology::AnyCaches, Self::Photo) => return Self::SHORTLY.into(),
            (CacheTopology::AnyCaches, Self::UntilTick(_)) => return Self::NEVER.into(),
            (CacheTopology::AnyCaches, _) => return "public, no-cache, stale-if-error=3600".into(),
            (CacheTopology::SharedCachesButCredential, _) => return "private, no-cache".into(),
            (CacheTopology::SharedCaches(_), Self::UntilTick(left)) => left,
            (CacheTopology::SharedCaches(shared), _) => shared,
        };
        let (shared, stale) = (whole_seconds(shared).max(1), holds.stale_if_error());
        format!("public, max-age=0, s-maxage={shared}, stale-while-revalidate=5, stale-if-error={stale}")
            .into()
    }
}
