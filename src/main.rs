//! The program `siaga`.

use std::process::ExitCode;

use mimalloc::MiMalloc;
use siaga::{Siaga, program};

/// With this allocator, the service sends a fifth more responses of one megabyte per second than with the system's, and uses
/// less memory after responses of thousands of different sizes. Without huge pages it keeps 50 MB less under a mixed load, and
/// sends as many responses.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    program::run(Siaga::builder())
}
