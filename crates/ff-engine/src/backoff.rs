//! Backoff for a store that does not answer.

use std::time::Duration;

use tokio::time::Instant;

const FIRST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(2);

/// The delay before a failing store is called again: 50 ms after the first failure, doubled after each further one, at most 2 s.
#[derive(Debug)]
pub struct Backoff {
    next: Duration,
    until: Option<Instant>,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { next: FIRST, until: None }
    }
}

impl Backoff {
    /// Notes that the store answered.
    pub fn succeeded(&mut self) {
        *self = Self::default();
    }

    /// Notes that the store did not answer. Concurrent calls that fail together count as one failure.
    pub fn failed(&mut self) {
        let now = Instant::now();
        if self.until.is_none_or(|until| until <= now) {
            self.until = Some(now + self.next);
            self.next = (self.next * 2).min(LONGEST);
        }
    }

    /// Returns when the store may be called again; `None` when it may be called now.
    pub fn until(&self) -> Option<Instant> {
        self.until.filter(|until| *until > Instant::now())
    }

    /// Returns whether the last call failed.
    pub fn is_failing(&self) -> bool {
        self.until.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_pause_doubles_up_to_its_longest_and_a_success_ends_it() {
        let mut backoff = Backoff::default();
        let mut pauses = Vec::new();
        for _ in 0..8 {
            backoff.failed();
            backoff.failed();
            let until = backoff.until().unwrap();
            pauses.push((until - Instant::now()).as_millis());
            tokio::time::advance(until - Instant::now()).await;
            assert_eq!(backoff.until(), None);
        }
        assert_eq!(pauses, [50, 100, 200, 400, 800, 1_600, 2_000, 2_000]);
        backoff.succeeded();
        assert!(!backoff.is_failing());
        backoff.failed();
        assert_eq!(backoff.until(), Some(Instant::now() + FIRST));
    }
}
