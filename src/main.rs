//! The program `siaga`.

use std::process::ExitCode;

use mimalloc::MiMalloc;
use siaga::{Siaga, program};

/// A fifth more answers of a megabyte a second than by the system's allocator, and less memory after thousands of sizes.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    program::run(Siaga::builder())
}
