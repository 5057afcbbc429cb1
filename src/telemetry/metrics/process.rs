use std::fs;

use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

use super::families::{Labels, add, measured};

/// Resources of the process, by the usual Prometheus names. Read from `/proc`, so only Linux has values.
pub(super) struct Process {
    resident_memory: Family<Labels<0>, Gauge>,
    open_files: Family<Labels<0>, Gauge>,
    max_files: Family<Labels<0>, Gauge>,
}

impl Process {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let memory = "Memory of the process that is in RAM";
        Self {
            resident_memory: measured(
                registry,
                "process_resident_memory",
                memory,
                Unit::Bytes,
                Family::default(),
            ),
            open_files: add(registry, "process_open_fds", "Open file descriptors", Family::default()),
            max_files: add(registry, "process_max_fds", "Limit of open file descriptors", Family::default()),
        }
    }

    /// Reads the values. Cheap: only reads a few files of `/proc`, which are in memory.
    pub(super) fn read(&self) {
        for (gauge, value) in [
            (&self.resident_memory, resident_memory()),
            (&self.open_files, open_files()),
            (&self.max_files, max_files()),
        ] {
            if let Some(value) = value {
                gauge.get_or_create(&[]).set(value);
            }
        }
    }
}

fn resident_memory() -> Option<i64> {
    let kibibytes = number_after(&fs::read_to_string("/proc/self/status").ok()?, "VmRSS:")?;
    kibibytes.checked_mul(1024)
}

fn open_files() -> Option<i64> {
    // Subtracts one, because listing the directory opens a file itself.
    i64::try_from(fs::read_dir("/proc/self/fd").ok()?.count().saturating_sub(1)).ok()
}

/// Returns the soft limit of open files; `None` if unlimited.
fn max_files() -> Option<i64> {
    number_after(&fs::read_to_string("/proc/self/limits").ok()?, "Max open files")
}

fn number_after(lines: &str, name: &str) -> Option<i64> {
    let line = lines.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_found_by_the_name_of_its_line() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units\n\
            Max open files            1024                 524288               files\n\
            Max cpu time              unlimited            unlimited            seconds\n";
        assert_eq!(number_after(limits, "Max open files"), Some(1024));
        assert_eq!(number_after(limits, "Max cpu time"), None);
        assert_eq!(number_after("VmHWM:\t   12 kB\nVmRSS:\t   34 kB\n", "VmRSS:"), Some(34));
    }
}
