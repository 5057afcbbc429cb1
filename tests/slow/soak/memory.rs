//! How much memory a process takes over time.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::running::memory_of;

const MIB: u64 = 1 << 20;
/// How much more memory the last third of the time may take than the second: caches and the allocator vary.
const SLACK: u64 = 24 * MIB;

/// The resident memory of a process, sampled until the process ends.
pub(crate) struct Memory(Arc<Mutex<Vec<u64>>>);

impl Memory {
    pub(crate) fn watch(process: u32) -> Self {
        let samples = Arc::new(Mutex::new(Vec::new()));
        let taken = Arc::clone(&samples);
        thread::spawn(move || {
            while let Some(resident) = memory_of(&process.to_string(), "VmRSS") {
                taken.lock().unwrap().push(resident);
                // The pace of the samples.
                thread::sleep(Duration::from_millis(250));
            }
        });
        Self(samples)
    }

    /// The peaks of equal parts of the time.
    fn peaks(&self, parts: usize) -> Vec<u64> {
        let samples = self.0.lock().unwrap();
        let parts = samples.chunks(samples.len().div_ceil(parts).max(1));
        parts.map(|part| part.iter().copied().max().unwrap_or_default()).collect()
    }

    pub(crate) fn assert_stopped_growing(&self) {
        let [_, second, third] = self.peaks(3)[..] else { panic!("too few samples") };
        let peaks: Vec<_> = self.peaks(12).into_iter().map(|peak| peak / MIB).collect();
        println!("peaks of resident memory in MiB, by twelfths of the time: {peaks:?}");
        assert!(third <= second + second / 10 + SLACK, "{peaks:?} MiB");
    }
}
