//! The program `agency`: Siaga with its own format, store and route, and with all commands of Siaga.

use std::process::ExitCode;

use siaga::program;

fn main() -> ExitCode {
    program::run(agency::builder())
}
