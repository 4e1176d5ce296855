//! The log of this process. A subscriber is global, so the tests that read the log share one.

use std::io::{self, Write};
use std::sync::{Mutex, OnceLock, PoisonError};

use tracing_subscriber::filter::LevelFilter;

static LINES: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Starts to collect all log lines, at every level.
pub(crate) fn collect() {
    static SUBSCRIBER: OnceLock<()> = OnceLock::new();
    SUBSCRIBER.get_or_init(|| {
        tracing_subscriber::fmt().with_max_level(LevelFilter::TRACE).with_ansi(false).with_writer(|| Log).init();
    });
}

/// Returns all lines logged since then.
pub(crate) fn collected() -> String {
    String::from_utf8(LINES.lock().unwrap_or_else(PoisonError::into_inner).clone()).unwrap()
}

struct Log;

impl Write for Log {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        LINES.lock().unwrap_or_else(PoisonError::into_inner).write(line)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
