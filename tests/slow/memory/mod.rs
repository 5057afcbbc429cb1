//! How much memory things take at their most. Each test runs in a process of its own, at which it looks as a whole.

mod parts;
mod photos;
mod quotas;
mod renderings;

use std::env;
use std::fs;
use std::process::Command;

use crate::running::memory_of;

const MIB: u64 = 1 << 20;

/// Runs a test again in a process of its own, and makes sure that it succeeds there. Returns whether this is that process.
fn is_alone(test: &str) -> bool {
    const ALONE: &str = "SIAGA_TESTS_ALONE";
    if env::var_os(ALONE).is_some() {
        return true;
    }
    let program = env::current_exe().unwrap();
    let output =
        Command::new(program).args([test, "--exact", "--nocapture"]).env(ALONE, "1").output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let failure = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && printed.contains(" 1 passed"), "{test}: {printed}{failure}");
    false
}

/// What this process took when the test began to look.
struct Before(u64);

impl Before {
    /// Forgets the peak so far.
    fn now() -> Self {
        fs::write("/proc/self/clear_refs", "5").unwrap();
        Self(memory_of("self", "VmRSS").unwrap())
    }

    /// How much more the process has taken since then at its most, in bytes.
    fn peak(&self) -> u64 {
        memory_of("self", "VmHWM").unwrap().saturating_sub(self.0)
    }

    /// How much more it takes now.
    fn kept(&self) -> u64 {
        memory_of("self", "VmRSS").unwrap().saturating_sub(self.0)
    }
}
