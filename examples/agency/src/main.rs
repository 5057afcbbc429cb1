//! The program `agency`: Siaga with a format, a store and a route of its own, and all of its commands.

use std::process::ExitCode;

use siaga::program;

fn main() -> ExitCode {
    program::run(agency::builder())
}
