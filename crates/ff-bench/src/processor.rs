//! Processor time.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Returns the processor time that this process has used.
pub(crate) fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
}

/// Returns the processor time of a single-threaded process on this machine, if it exists and has this name.
pub(crate) fn processor_time_of(process: i32, name: &str) -> Option<Duration> {
    let read = |file: &str| std::fs::read_to_string(format!("/proc/{process}/{file}")).ok();
    if !read("comm")?.contains(name) {
        return None;
    }
    read("schedstat")?.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}
