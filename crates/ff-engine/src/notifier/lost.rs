//! The most recently lost leases, in order.

use std::collections::VecDeque;

use ff_core::engine_error::{Code, Refusal};
use ff_core::lease::contracts::{Control, LeaseLost};
use ff_core::types::WorkerInstanceId;
use uuid::Uuid;

/// Maximum number of lost leases kept. A worker that is further behind gets `missed`.
const KEPT: usize = 4_096;

/// The last lost leases, numbered. A cursor is `<boot>-<number>`. The boot is random, so a cursor of another process is recognised
/// and not mistaken for a number of this one.
pub(super) struct LostLeases {
    boot: Uuid,
    ring: VecDeque<(WorkerInstanceId, LeaseLost)>,
    /// Number of lost leases so far, which is the number of the newest.
    count: u64,
    /// A cursor before this number may have missed a lost lease.
    complete_from: u64,
}

impl Default for LostLeases {
    fn default() -> Self {
        Self { boot: Uuid::new_v4(), ring: VecDeque::new(), count: 0, complete_from: 0 }
    }
}

impl LostLeases {
    /// Adds a lost lease, and forgets the oldest when there are too many.
    pub(super) fn add(&mut self, instance: WorkerInstanceId, lost: LeaseLost) {
        self.count += 1;
        self.ring.push_back((instance, lost));
        if self.ring.len() > KEPT {
            self.ring.pop_front();
            self.complete_from = self.complete_from.max(self.oldest());
        }
    }

    /// Notes that leases may have been lost without a hint.
    pub(super) fn missed(&mut self) {
        self.count += 1;
        self.ring.clear();
        self.complete_from = self.count;
    }

    /// Returns the leases that an instance lost after a cursor; none without a cursor.
    pub(super) fn since(&self, cursor: Option<&str>, instance: &WorkerInstanceId) -> Result<Control, Refusal> {
        let next = format!("{}-{}", self.boot.simple(), self.count);
        let since = match cursor {
            None => self.count,
            Some(text) => match self.read(text)? {
                Some(since) => since,
                None => return Ok(Control { lost: Vec::new(), next, missed: true }),
            },
        };
        let known = usize::try_from(since.saturating_sub(self.oldest())).unwrap_or(usize::MAX);
        let later = self.ring.iter().skip(known).filter(|(of, _)| of == instance);
        Ok(Control { lost: later.map(|(_, lost)| *lost).collect(), next, missed: since < self.complete_from })
    }

    /// Returns the number of the newest lost lease that is no longer kept.
    fn oldest(&self) -> u64 {
        self.count - self.ring.len() as u64
    }

    /// Parses the number in a cursor; `None` for a cursor of another process.
    fn read(&self, cursor: &str) -> Result<Option<u64>, Refusal> {
        let parts = || {
            let (boot, number) = cursor.split_once('-')?;
            let boot = Uuid::try_parse(boot).ok().filter(|uuid| uuid.simple().to_string() == boot)?;
            Some((boot, number.parse::<u64>().ok().filter(|parsed| parsed.to_string() == number)?))
        };
        match parts() {
            Some((boot, number)) if boot == self.boot && number <= self.count => Ok(Some(number)),
            Some((boot, _)) if boot != self.boot => Ok(None),
            _ => Err(Refusal::new(Code::InvalidCursor).at("after")),
        }
    }
}

#[cfg(test)]
mod tests {
    use ff_core::lease::{Fence, LeaseEnding};
    use ff_core::types::{AttemptId, ExecutionId, LeaseEpoch, LeaseId};

    use super::*;

    fn worker(name: &str) -> WorkerInstanceId {
        WorkerInstanceId::parse(name).unwrap()
    }

    fn lost(nth: u64) -> LeaseLost {
        let fence = Fence {
            lease_id: LeaseId::from_uuid(Uuid::nil()),
            lease_epoch: LeaseEpoch(nth),
            attempt_id: AttemptId::from_uuid(Uuid::nil()),
        };
        LeaseLost { execution_id: ExecutionId::new(0, Uuid::nil()), fence, ended: LeaseEnding::Expired }
    }

    fn epochs(control: &Control) -> Vec<u64> {
        control.lost.iter().map(|lost| lost.fence.lease_epoch.0).collect()
    }

    #[test]
    fn a_cursor_continues_where_the_last_answer_ended() {
        let mut leases = LostLeases::default();
        leases.add(worker("a"), lost(1));
        let start = leases.since(None, &worker("a")).unwrap();
        assert_eq!((epochs(&start), start.missed), (vec![], false));
        leases.add(worker("a"), lost(2));
        leases.add(worker("b"), lost(3));
        leases.add(worker("a"), lost(4));
        let news = leases.since(Some(&start.next), &worker("a")).unwrap();
        assert_eq!((epochs(&news), news.missed), (vec![2, 4], false));
        assert_eq!(leases.since(Some(&news.next), &worker("a")).unwrap().lost, []);
        assert_eq!(epochs(&leases.since(Some(&start.next), &worker("b")).unwrap()), [3]);
    }

    #[test]
    fn a_cursor_too_far_behind_reports_missed_leases() {
        let mut leases = LostLeases::default();
        let start = leases.since(None, &worker("a")).unwrap().next;
        for nth in 0..KEPT as u64 {
            leases.add(worker("a"), lost(nth));
        }
        assert_eq!(epochs(&leases.since(Some(&start), &worker("a")).unwrap()).len(), KEPT);
        assert!(!leases.since(Some(&start), &worker("a")).unwrap().missed);
        leases.add(worker("a"), lost(9));
        assert!(leases.since(Some(&start), &worker("a")).unwrap().missed);
    }

    #[test]
    fn missed_hints_are_reported_once() {
        let mut leases = LostLeases::default();
        let start = leases.since(None, &worker("a")).unwrap().next;
        leases.missed();
        let news = leases.since(Some(&start), &worker("a")).unwrap();
        assert!(news.missed);
        assert!(!leases.since(Some(&news.next), &worker("a")).unwrap().missed);
        leases.add(worker("a"), lost(1));
        assert_eq!(epochs(&leases.since(Some(&news.next), &worker("a")).unwrap()), [1]);
    }

    #[test]
    fn a_cursor_of_another_process_is_recognised_and_a_made_up_one_refused() {
        let leases = LostLeases::default();
        let foreign = LostLeases::default().since(None, &worker("a")).unwrap().next;
        let answer = leases.since(Some(&foreign), &worker("a")).unwrap();
        assert!(answer.missed);
        assert!(!leases.since(Some(&answer.next), &worker("a")).unwrap().missed);
        let ahead = format!("{}1", answer.next);
        let shouted = "0000000000004000A000000000000000-0";
        for bad in ["", "x", "1-2", "-", &ahead, shouted, &answer.next.replace("-0", "-+0")] {
            let refusal = leases.since(Some(bad), &worker("a")).unwrap_err();
            assert_eq!((refusal.code, refusal.field.as_deref()), (Code::InvalidCursor, Some("after")), "{bad:?}");
        }
    }
}
