//! The program `agency`: Siaga with a format, a store and a route of its own.

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

use siaga::telemetry::Log;

fn main() -> ExitCode {
    match rocket::execute(serve()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("agency: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn serve() -> Result<(), Box<dyn Error>> {
    let builder = agency::builder();
    let log = Log::install(builder.check()?.log)?;
    Ok(builder.reload(Arc::new(log)).launch().await?)
}
