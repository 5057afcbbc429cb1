use std::panic::{self, PanicHookInfo};

use rocket::tokio::task_local;

task_local! {
    /// The id of the request the present task answers.
    static REQUEST: String;
}

/// Does something for the request of this id: a panic meanwhile is logged with it.
pub async fn within_request<T>(id: String, work: impl Future<Output = T>) -> T {
    REQUEST.scope(id, work).await
}

/// Logs panics like everything else, in place of what the standard library prints.
pub(super) fn log_panics() {
    panic::set_hook(Box::new(log));
}

fn log(panic: &PanicHookInfo<'_>) {
    let location = panic.location().map(ToString::to_string).unwrap_or_default();
    let text = panic.payload_as_str().unwrap_or("without a text");
    let request_id = REQUEST.try_with(Clone::clone).ok();
    tracing::error!(request_id, location, "panicked: {text}");
}
