use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use rocket::fairing::{AdHoc, Fairing};
use siaga::Service;
use siaga::auth::{Jwt, Secret};
use siaga::config::Config;
use siaga::formats::FormatRegistry;
use siaga::model::{AreaId, LayerKind};
use siaga::stores::{FloodQuery, Store};

/// What the lines at the start are made of.
pub(crate) struct Welcome {
    pub(crate) config: Config,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) formats: FormatRegistry,
    pub(crate) key: Option<Secret>,
}

impl Welcome {
    /// Of a service; its temporary key, if it has one, is printed and kept nowhere else.
    pub(crate) fn of(service: &mut Service) -> Self {
        Self {
            config: service.config.clone(),
            store: Arc::clone(&service.store),
            formats: service.formats.clone(),
            key: service.key.take(),
        }
    }

    /// Prints, once the server listens, what it serves and what to try.
    pub(crate) fn fairing(self) -> impl Fairing {
        AdHoc::on_liftoff("Welcome", move |rocket| {
            Box::pin(async move {
                let (address, port) = (rocket.config().address, rocket.config().port);
                let path = self.config.base_url.path().trim_end_matches('/');
                let base = format!("http://{}{path}", SocketAddr::new(reachable(address), port));
                let area = self.some_area().await;
                // A service goes on though nobody reads what it prints.
                let _ = writeln!(io::stdout(), "{}", self.lines(&base, area).join("\n"));
                if let Some(warning) = self.warning() {
                    let _ = writeln!(io::stderr(), "{warning}");
                }
            })
        })
    }

    async fn some_area(&self) -> Option<AreaId> {
        let layer = self.store.floods(&FloodQuery::default()).await.ok()?.value;
        layer.features().next().map(|flood| flood.area.id)
    }

    fn lines(&self, base: &str, area: Option<AreaId>) -> Vec<String> {
        let version = env!("CARGO_PKG_VERSION");
        let mut lines = vec![
            format!("Siaga {version} serves {} at {base}", self.store),
            String::new(),
            "To try:".to_owned(),
        ];
        let formats = self.formats.carrying(LayerKind::Floods);
        lines.extend(
            formats.map(|format| {
                format!("  curl \"{base}/floods?minimum_state=1&geoformat={}\"", format.name())
            }),
        );
        lines.extend(
            ["floods/states", "reports", "floodgauges", "infrastructure/pumps", "stats/floodedRWsSummary"]
                .map(|route| format!("  curl \"{base}/{route}\"")),
        );
        if let (Some(key), Some(area)) = (&self.key, area) {
            let key = key.expose();
            lines.extend([
                format!(
                    "  curl -X PUT -H \"X-Api-Key: {key}\" -d '{{\"state\":2}}' \"{base}/floods/{area}\""
                ),
                String::new(),
                "The key was made for this run, since siaga.auth accepts no other; it allows everything."
                    .to_owned(),
            ]);
        }
        lines.push(String::new());
        lines
    }

    fn warning(&self) -> Option<String> {
        let jwt = self.config.auth.jwt.as_ref()?;
        let least = Jwt::SHORTEST_SECRET;
        (jwt.secret.expose().len() < least).then(|| {
            format!("siaga: siaga.auth.jwt.secret is shorter than the {least} bytes RFC 7518 §3.2 asks for")
        })
    }
}

/// An address clients on this machine reach the server by.
fn reachable(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => Ipv6Addr::LOCALHOST.into(),
        address => address,
    }
}
