use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use crate::auth::{Grant, Jwt, Secret};
use crate::config::Config;
use crate::formats::FormatRegistry;
use crate::model::{AreaSet, LayerKind};
use crate::server::BuildError;
use crate::stores::Store;
use crate::{Builder, Siaga};
use figment::Figment;
use rocket::fairing::{AdHoc, Fairing};

/// A random secret of this length (128 bits in hexadecimal) cannot be guessed.
const SHORTEST_SECRET: usize = 32;

/// Keys whose defaults name the first installation as the sender of alerts.
const SENDER_KEYS: [&str; 4] = [
    "siaga.formats.cap.sender",
    "siaga.formats.cap.sender_name",
    "siaga.formats.cap.web",
    "siaga.formats.cap.author",
];

/// Those of them that `siaga.site.agency` sets.
const AGENCY_KEYS: [&str; 2] = ["siaga.formats.cap.sender_name", "siaga.formats.cap.author"];

/// The numbers of areas and valid keys; `None` if they cannot be read.
struct StoreContents {
    areas: Option<usize>,
    keys: Option<usize>,
    /// Why limits of keys do not select what they say.
    limits: Vec<String>,
}

pub(super) struct Welcome {
    pub(super) config: Config,
    pub(super) store: Arc<dyn Store>,
    pub(super) formats: FormatRegistry,
    pub(super) key: Option<Secret>,
}

impl Welcome {
    /// Takes the temporary key out of the service, because it is only printed, never stored.
    pub(super) fn new(service: &mut Siaga) -> Self {
        Self {
            config: service.config.clone(),
            store: Arc::clone(&service.store),
            formats: service.formats.clone(),
            key: service.key.take(),
        }
    }

    /// Prints what the service serves and where, once the server listens.
    pub(super) fn fairing(self) -> impl Fairing {
        AdHoc::on_liftoff("Welcome", move |rocket| {
            Box::pin(async move {
                let (address, port) = (rocket.config().address, rocket.config().port);
                let path = self.config.base_url.path().trim_end_matches('/');
                let scheme = if rocket.config().tls_enabled() { "https" } else { "http" };
                let origin = format!("{scheme}://{}", SocketAddr::new(local_address(address), port));
                let stored = self.stored().await;
                // The service continues even if standard output is closed.
                let _ = writeln!(io::stdout(), "{}", self.lines(&origin, path, &stored).join("\n"));
                let unset = unset(&self.formats, rocket.figment());
                let has_key = self.key.is_some();
                for warning in warnings(&self.config, address, has_key, &stored, &unset) {
                    tracing::warn!("{warning}");
                }
            })
        })
    }

    async fn stored(&self) -> StoreContents {
        let places = self.store.places().await.ok();
        let keys = self.store.keys().await.ok().map(|found| found.value);
        let stored = keys.iter().flatten().filter(|key| key.revoked_at.is_none()).map(|key| &key.entry.key);
        let grants = self.config.auth.grants().chain(stored.map(|key| (key.holder(), key.grant())));
        let limits = places.as_ref().map(|places| limit_faults(grants, places.value.areas()));
        StoreContents {
            limits: limits.unwrap_or_default(),
            areas: places.map(|places| places.value.areas().len()),
            keys: keys.map(|keys| keys.iter().filter(|key| key.revoked_at.is_none()).count()),
        }
    }

    fn lines(&self, origin: &str, path: &str, stored: &StoreContents) -> Vec<String> {
        let areas = stored.areas.map_or_else(String::new, |areas| format!("{areas} areas from "));
        let version = env!("CARGO_PKG_VERSION");
        let mut lines = vec![format!("Siaga {version} serves {areas}{} at {origin}{path}", self.store)];
        let photos = self.config.photo_storage().ok();
        lines.extend(photos.map(|storage| format!("Photos of reports are in {storage}")));
        lines.push(format!("The map: {origin}/map. All pages, and addresses to try: {origin}/"));
        if let Some(key) = &self.key {
            lines.extend([
                format!("  export KEY={}", key.expose()),
                "The key was made for this run, since siaga.auth accepts no other; it allows everything."
                    .to_owned(),
            ]);
        }
        lines
    }
}

pub(super) fn startup_warnings(
    builder: &Builder,
    config: &Config,
    formats: &FormatRegistry,
) -> Result<Vec<String>, BuildError> {
    let no_contents = StoreContents { areas: None, keys: None, limits: Vec::new() };
    let address = builder.rocket_config()?.address;
    let unset = unset(formats, builder.current_figment());
    Ok(warnings(config, address, builder.needs_temporary_key(config)?, &no_contents, &unset))
}

fn unset(formats: &FormatRegistry, figment: &Figment) -> Vec<&'static str> {
    let alerts = formats.for_kind(LayerKind::Floods).any(|format| format.name() == "cap");
    let alerts = SENDER_KEYS.into_iter().filter(|_| alerts);
    let unset = alerts.chain(["siaga.licence.terms"]).filter(|key| !figment.contains(key));
    // The agency's name is their default.
    let is_named = figment.contains("siaga.site.agency");
    unset.filter(|key| !(is_named && AGENCY_KEYS.contains(key))).collect()
}

/// Returns the warnings about insecure settings that apply to this configuration.
fn warnings(
    config: &Config,
    address: IpAddr,
    has_key: bool,
    stored: &StoreContents,
    unset: &[&str],
) -> Vec<String> {
    let min = Jwt::SHORTEST_SECRET;
    let secret = config.auth.jwt.as_ref().and_then(|jwt| jwt.secret.as_ref());
    let short = secret.is_some_and(|secret| secret.expose().len() < min);
    let secret = format!("siaga.auth.jwt.secret is shorter than the {min} bytes RFC 7518 §3.2 asks for");
    let is_guessable = |secret: &Option<Secret>| {
        secret.as_ref().is_some_and(|secret| secret.expose().len() < SHORTEST_SECRET)
    };
    let (signing, metrics) = (&config.images.signing_key, &config.metrics.token);
    let short_secret = format!(
        "siaga.images.signing_key or siaga.metrics.token is shorter than {SHORTEST_SECRET} bytes: it can be guessed"
    );
    let public = !config.base_url.is_local();
    let quota = &config.quota;
    let rates = [quota.per_second, quota.credential.per_second, quota.per_day, quota.fuse_per_second];
    let unlimited = rates.iter().any(|rate| rate.get().is_none());
    let key = "siaga.auth accepts no key but one that was made for this run, which is printed at the start: configure one";
    let plain = "siaga.base_url is no https: keys and tokens can be read on the way";
    let quotas = "siaga.quota.per_second, credential.per_second, per_day or fuse_per_second is 0: a client may send any number of requests";
    let demo = "siaga.dataset is demo: the flood that is served is made up";
    let elsewhere = "siaga.base_url names this machine alone, and the service listens for others: configure what they reach it by";
    let name = format!(
        "not set: {}. Alerts and pages speak in the name of Jakarta's agency and of petabencana.id",
        unset.join(", ")
    );
    let in_memory = config.store == "memory";
    let no_areas = if in_memory {
        "there are no areas, so the map is empty: configure siaga.dataset"
    } else {
        "the store has no areas, so the map is empty: import them with `siaga import FOLDER`"
    };
    let no_key =
        "no key is accepted, so nobody can write: make one with `siaga key create`, or configure siaga.auth";
    let nobody = config.auth.accepts_nobody() && stored.keys == Some(0);
    let in_file = config.store == "file";
    let relative =
        "siaga.file.path is relative: where the data is kept depends on the folder the service is started in";
    let photos = "siaga.images.url is not configured: where photos are kept depends on the folder the service is started in";
    let warnings = [
        (public && !unset.is_empty(), name.as_str()),
        (public && in_memory && config.dataset == "demo", demo),
        (public && stored.areas == Some(0), no_areas),
        (public && nobody, no_key),
        (in_file && config.file.path.is_relative(), relative),
        (!in_memory && !in_file && config.images.url.is_none(), photos),
        (!public && !address.is_loopback(), elsewhere),
        (short, secret.as_str()),
        (public && has_key, key),
        (public && !config.base_url.is_https(), plain),
        (public && unlimited, quotas),
        (public && (is_guessable(signing) || is_guessable(metrics)), &short_secret),
    ];
    let warnings = warnings.iter().filter(|(warned, _)| *warned).map(|(_, text)| (*text).to_owned());
    warnings.chain(stored.limits.iter().cloned()).collect()
}

/// Returns why limits do not select what they say, in a line for each holder.
pub(super) fn limit_faults(
    grants: impl IntoIterator<Item = (String, Grant)>,
    areas: &AreaSet,
) -> Vec<String> {
    let faults = grants.into_iter().filter_map(|(holder, grant)| {
        let faults = grant.areas?.faults(areas);
        (!faults.is_empty()).then(|| format!("the limit of {holder}: {}", faults.join("; ")))
    });
    faults.collect()
}

/// Returns an address by which clients on this machine reach the server.
fn local_address(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => Ipv6Addr::LOCALHOST.into(),
        address => address,
    }
}
