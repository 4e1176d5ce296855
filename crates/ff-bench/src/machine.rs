//! Where a measurement was made. Figures of different machines do not compare.

use std::fs;

use serde::Serialize;

/// A machine, as far as it matters.
#[derive(Debug, Serialize)]
pub struct Machine {
    pub cores: usize,
    pub processor: String,
    pub system: String,
}

impl Machine {
    pub(crate) fn this() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let told = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let processor = told.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
        let processor = processor.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned());
        let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        Self { cores, processor, system: format!("{} {}", std::env::consts::OS, release.trim()).trim().to_owned() }
    }
}
