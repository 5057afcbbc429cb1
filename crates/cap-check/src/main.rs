//! The program `cap-check`.

use std::error::Error;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use cap_check::{MAX_BYTES, NotAFeed, Report, check};
use chrono::Utc;
use clap::Parser;

/// Checks a CAP 1.2 alert, or an Atom or RSS feed of them, and prints what to improve; exits with 1 if there are errors.
#[derive(Parser)]
#[command(version)]
struct Cli {
    /// The document; `-`, the default, reads it from standard input.
    #[arg(default_value = "-")]
    file: PathBuf,
}

type Failure = Box<dyn Error + Send + Sync>;

fn main() -> ExitCode {
    match Cli::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cap-check: {error}");
            ExitCode::FAILURE
        }
    }
}

impl Cli {
    fn run(&self) -> Result<(), Failure> {
        let (name, document) = if self.file == Path::new("-") {
            ("standard input".into(), read(io::stdin().lock()))
        } else {
            (self.file.to_string_lossy(), File::open(&self.file).map_err(Failure::from).and_then(read))
        };
        let report =
            document.and_then(|document| report(&document)).map_err(|error| format!("{name}: {error}"))?;
        writeln!(io::stdout(), "{report}")?;
        match report.errors() {
            0 => Ok(()),
            errors => Err(format!("{name}: {errors} errors").into()),
        }
    }
}

/// Reads one byte more than allowed, so that a larger document is detected.
fn read(source: impl Read) -> Result<Vec<u8>, Failure> {
    let mut document = Vec::new();
    source.take(MAX_BYTES as u64 + 1).read_to_end(&mut document)?;
    Ok(document)
}

fn report(document: &[u8]) -> Result<Report, Failure> {
    if document.len() > MAX_BYTES {
        return Err(NotAFeed::TooLarge.into());
    }
    let text = str::from_utf8(document).map_err(|error| format!("it is not UTF-8: {error}"))?;
    Ok(check(text, Utc::now())?)
}
