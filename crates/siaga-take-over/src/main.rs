//! The program `siaga-take-over`: reads the tables of a CogniCity database, in one snapshot, and writes a data folder for `siaga
//! import`.
//!
//! | file here | reads |
//! |---|---|
//! | `places.rs` | `cognicity.instance_regions`, `cognicity.local_areas`, `infrastructure.*` |
//! | `floods.rs` | `cognicity.rem_status_log`, `cognicity.rem_status` |
//! | `reports.rs` | `cognicity.all_reports`, `cognicity.partners`, `grasp.cards`, `grasp.reports` |
//! | `gauges.rs` | `floodgauge.reports` |
//!
//! The program streams rows, and keeps in memory only the identifiers that other tables refer to. It leaves out and counts each
//! row or value that the folder would reject, so that one wrong row among millions does not stop the copy.

#![warn(clippy::expect_used, clippy::unwrap_used)]

mod copied;
mod copy;
mod floods;
mod gauges;
mod places;
mod reports;
mod source;
mod values;

use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use rocket::tokio::runtime::Runtime;
use siaga::config::Config;
use siaga::folder::{FolderRules, FolderWriter};
use siaga::model::{Clock, SystemClock};
use siaga::program::load_environment;

use self::copy::{Options, copy};
use self::source::Address;

/// Fills a new data folder from the database of a running CogniCity, which it only reads.
///
/// What the folder may contain, such as types of disaster, is configured as for `siaga`.
#[derive(Parser)]
#[command(version)]
struct Cli {
    /// The address of the database, `postgres://user:password@host/name`.
    #[arg(long, value_name = "URL")]
    from: String,
    /// The new folder. `siaga import` adds it to a store; a store that keeps no data can serve it as its data set.
    folder: PathBuf,
    /// Repairs boundaries that cross, touch or overlap themselves; without this, they are copied unchanged.
    #[arg(long)]
    repair: bool,
}

fn main() -> ExitCode {
    match take_over(&Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("siaga-take-over: {error}");
            ExitCode::FAILURE
        }
    }
}

fn take_over(Cli { from, folder, repair }: &Cli) -> Result<(), Box<dyn Error + Send + Sync>> {
    // Checks the address first: if the folder were an address by mistake, later messages would show its password.
    let address = Address::read(from)?;
    load_environment()?;
    let config = Config::extract(&Config::figment())?;
    let options = Options {
        rules: &FolderRules::new(&config.disasters, &config.cards),
        now: SystemClock.now(),
        timeout: config.limits.timeout,
        repair: *repair,
    };
    let writer = FolderWriter::create(folder)?;
    let copied = Runtime::new()?.block_on(copy(&address, &writer, &options))?;
    let folder = folder.display();
    let mut output = io::stdout();
    write!(output, "{copied}")?;
    Ok(writeln!(
        output,
        "To import the copy: siaga import {folder}. To serve it: siaga.dataset = \"{folder}\""
    )?)
}
