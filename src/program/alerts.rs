//! Alerts for the command line: the check of a feed.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use clap::Subcommand;

use super::Failure;
use crate::alert_check::{self, MAX_BYTES, NotAFeed, Report};
use crate::model::{Clock, SystemClock};

#[derive(Subcommand)]
pub(super) enum AlertsCommand {
    /// Checks a CAP 1.2 alert, or an Atom or RSS feed of them, and prints what to improve; exits with 1 if there are errors.
    Check {
        /// The document; `-`, the default, reads it from standard input.
        #[arg(default_value = "-")]
        file: PathBuf,
    },
}

pub(super) fn run(command: AlertsCommand) -> Result<(), Failure> {
    let AlertsCommand::Check { file } = command;
    let (name, document) = if file == Path::new("-") {
        ("standard input".into(), read(io::stdin().lock()))
    } else {
        (file.to_string_lossy(), File::open(&file).map_err(Failure::from).and_then(read))
    };
    let report =
        document.and_then(|document| check(&document)).map_err(|error| format!("{name}: {error}"))?;
    writeln!(io::stdout(), "{report}")?;
    match report.errors() {
        0 => Ok(()),
        errors => Err(format!("{name}: {errors} errors").into()),
    }
}

/// Reads at most one byte more than may be checked.
fn read(source: impl Read) -> Result<Vec<u8>, Failure> {
    let mut document = Vec::new();
    source.take(MAX_BYTES as u64 + 1).read_to_end(&mut document)?;
    Ok(document)
}

fn check(document: &[u8]) -> Result<Report, Failure> {
    if document.len() > MAX_BYTES {
        return Err(NotAFeed::TooLarge.into());
    }
    let text = str::from_utf8(document).map_err(|error| format!("it is not UTF-8: {error}"))?;
    Ok(alert_check::check(text, SystemClock.now())?)
}
