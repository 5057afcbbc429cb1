use rocket::fairing::{AdHoc, Fairing};
use siaga::auth::{Jwt, Secret};
use siaga::config::Config;

/// Prints, once the server listens, what it serves and what to try.
pub(crate) fn fairing(config: Config, store: String, key: Option<Secret>) -> impl Fairing {
    AdHoc::on_liftoff("Welcome", move |rocket| {
        Box::pin(async move {
            let (address, port) = (rocket.config().address, rocket.config().port);
            let host = if address.is_unspecified() { "127.0.0.1".to_owned() } else { address.to_string() };
            let path = config.base_url.path().trim_end_matches('/');
            let base = format!("http://{host}:{port}{path}");
            print!("{}", welcome(&config, &store, key.as_ref(), &base));
        })
    })
}

fn welcome(config: &Config, store: &str, key: Option<&Secret>, base: &str) -> String {
    let mut lines = vec![
        format!("Siaga {} serves {store} at {base}", env!("CARGO_PKG_VERSION")),
        String::new(),
        "To try:".to_owned(),
        format!("  curl \"{base}/floods?minimum_state=3\""),
        format!("  curl \"{base}/floods?geoformat=geojson\""),
        format!("  curl \"{base}/floods?city=jbd&minimum_state=1&geoformat=cap\""),
        format!("  curl \"{base}/floods/states\""),
    ];
    if let Some(key) = key {
        lines.push(format!(
            "  curl -X PUT -H \"X-Api-Key: {key}\" -d '{{\"state\":2}}' \"{base}/floods/5\"",
            key = key.expose()
        ));
        lines.push(String::new());
        lines.push(
            "The key was made for this run, since siaga.auth accepts no other; it allows everything."
                .to_owned(),
        );
    }
    if let Some(jwt) = &config.auth.jwt
        && jwt.secret.expose().len() < Jwt::SHORTEST_SECRET
    {
        lines.push(String::new());
        lines.push(format!(
            "Warning: siaga.auth.jwt.secret is shorter than the {} bytes RFC 7518 asks for.",
            Jwt::SHORTEST_SECRET
        ));
    }
    lines.push(String::new());
    lines.join("\n")
}
