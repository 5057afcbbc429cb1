//! The program `cap-check`.

use std::process::ExitCode;

use cap_check::Arguments;
use clap::Parser;

/// Checks a CAP 1.2 alert, or an Atom or RSS feed of them, and prints what to improve; exits with 1 if there are errors.
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(flatten)]
    arguments: Arguments,
}

fn main() -> ExitCode {
    match Cli::parse().arguments.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cap-check: {error}");
            ExitCode::FAILURE
        }
    }
}
