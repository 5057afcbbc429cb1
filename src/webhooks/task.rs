use std::error::Error;
use std::time::Duration;

use async_trait::async_trait;
use rocket::tokio::time;

use crate::stores::StoreError;

const STORE_RETRY_DELAY: Duration = Duration::from_secs(1);

/// A task that consists of steps.
#[async_trait]
pub(crate) trait Task: Send {
    /// What the log says that it sends.
    const WHAT: &'static str;

    /// Takes one step. Returns the wait until the next one. If the store fails, the next step repeats this one.
    async fn run_step(&mut self) -> Result<Duration, StoreError>;
}

/// Repeats the steps of a task forever. If the store fails, logs the first failure and tries again.
pub(crate) async fn repeat<T: Task>(mut task: T) {
    let mut is_failing = false;
    loop {
        let pause = match task.run_step().await {
            Ok(pause) => {
                is_failing = false;
                pause
            }
            Err(error) => {
                if !is_failing {
                    tracing::warn!(error = &error as &dyn Error, "{} wait for the store", T::WHAT);
                }
                is_failing = true;
                STORE_RETRY_DELAY
            }
        };
        time::sleep(pause).await;
    }
}
