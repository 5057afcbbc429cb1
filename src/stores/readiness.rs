use std::time::{Duration, Instant};

/// What a store found when it looked whether one of the things it needs is there.
#[derive(Clone, Debug)]
pub struct Check {
    /// What was looked at, such as `store` or `listener`.
    pub name: &'static str,
    /// Why it does not serve, for anybody to read: without addresses and texts of others.
    pub failure: Option<&'static str>,
    /// How long it took to find out.
    pub took: Duration,
}

impl Check {
    /// What comes of looking at something that is said to fail for one reason.
    pub async fn of<T, E>(
        name: &'static str,
        reason: &'static str,
        looking: impl Future<Output = Result<T, E>>,
    ) -> Self {
        let since = Instant::now();
        let failure = looking.await.err().map(|_| reason);
        Self { name, failure, took: since.elapsed() }
    }
}
