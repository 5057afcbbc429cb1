//! The program `siaga`.

use std::process::ExitCode;

use mimalloc::MiMalloc;
use siaga::{Siaga, program};

/// With mimalloc, the service sends a fifth more responses of 1 MB per second than with the system's allocator, and uses less
/// memory after responses of many sizes. Without huge pages it uses 50 MB less under a mixed load at the same throughput.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    program::run(Siaga::builder())
}
