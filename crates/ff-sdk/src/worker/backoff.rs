//! Delays between repeated calls.

use std::time::Duration;

/// A delay that doubles with each consecutive failure, up to a maximum.
#[derive(Default)]
pub(super) struct Backoff {
    failures: u32,
}

impl Backoff {
    const FIRST: Duration = Duration::from_millis(50);
    const LONGEST: Duration = Duration::from_secs(2);

    pub(super) fn reset(&mut self) {
        self.failures = 0;
    }

    pub(super) async fn pause(&mut self) {
        let wait = Self::FIRST.saturating_mul(1 << self.failures.min(10)).min(Self::LONGEST);
        self.failures = self.failures.saturating_add(1);
        #[allow(clippy::disallowed_methods, reason = "nothing signals that a server is back")]
        tokio::time::sleep(wait).await;
    }
}
