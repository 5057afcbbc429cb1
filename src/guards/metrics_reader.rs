use super::{guard, managed};
use crate::auth::KeyDigest;
use crate::config::Config;
use crate::http::admission::bearer_token;
use crate::http::error::Problem;

/// A caller that may read the metrics: anyone, or only holders of the configured token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MetricsReader(());

guard!(MetricsReader, |request| {
    managed::<Config>(request).and_then(|config| {
        let Some(token) = &config.metrics.token else { return Ok(Self(())) };
        let sent = request.headers().get_one("Authorization").and_then(bearer_token);
        // Digests are compared in constant time.
        let is_valid = sent.is_some_and(|sent| KeyDigest::new(sent) == KeyDigest::new(token.expose()));
        is_valid
            .then_some(Self(()))
            .ok_or_else(|| Problem::unauthorized("not the token of siaga.metrics.token", None))
    })
});
