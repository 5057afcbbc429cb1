//! The program `siaga-gauges`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use std::{fs, io};

use chrono::Utc;
use clap::Parser;
use futures::future::join_all;
use siaga_gauges::{FeedReader, readers};
use tokio::time::sleep;

/// The longest time for one request, with its response.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Reads gauges of foreign feeds and sends their readings to Siaga.
#[derive(Parser)]
#[command(version)]
struct Cli {
    /// `check` reads each feed once and prints what it would send. `once` also sends it, and exits with 1 if a feed or Siaga
    /// failed. `run` reads and sends until it is stopped.
    #[arg(value_parser = ["check", "once", "run"])]
    command: String,
    /// The configuration.
    file: PathBuf,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    tracing_subscriber::fmt().with_writer(io::stderr).with_ansi(false).with_target(false).init();
    let Cli { command, file } = Cli::parse();
    let text = fs::read_to_string(&file).map_err(|error| error.to_string());
    match text.and_then(|text| readers(&text, TIMEOUT)) {
        Ok(readers) => {
            let succeeded = join_all(readers.into_iter().map(|reader| play(&command, reader))).await;
            ExitCode::from(u8::from(succeeded.contains(&false)))
        }
        Err(error) => {
            eprintln!("siaga-gauges: {}: {error}", file.display());
            ExitCode::FAILURE
        }
    }
}

/// Returns whether the feed and Siaga succeeded.
async fn play(command: &str, mut reader: FeedReader) -> bool {
    if command == "check" {
        let (round, text) = reader.preview(Utc::now()).await;
        println!("{text}");
        return !round.failed;
    }
    loop {
        let round = reader.round(Utc::now()).await;
        let wait = reader.wait(Utc::now());
        // A zero wait means that more readings can be sent at once.
        if command == "once" && (round.failed || !wait.is_zero()) {
            return !round.failed;
        }
        sleep(wait).await;
    }
}
