use std::error::Error;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use chrono::Utc;

use crate::{MAX_BYTES, NotAFeed, Report, check};

/// Why a document has not passed; printed in one line.
type Failure = Box<dyn Error + Send + Sync>;

/// The arguments of a command that checks a document.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The document; `-`, the default, reads it from standard input.
    #[arg(default_value = "-")]
    file: PathBuf,
}

impl Arguments {
    /// Checks the document and prints what to improve to standard output.
    ///
    /// # Errors
    ///
    /// If the document cannot be read or checked, or has errors.
    pub fn run(&self) -> Result<(), Failure> {
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

/// Reads at most one byte more than may be checked.
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
