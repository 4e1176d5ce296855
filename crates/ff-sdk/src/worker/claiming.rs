//! Claiming executions: as many as the worker has room for. A claim waits while no work is ready. While there is plenty of work,
//! as many claims are under way at once as the store works on.

use std::sync::Arc;
use std::time::Duration;

use ff_core::contracts::{ClaimedExecution, NextArgs};
use ff_core::engine_error::{Code, EngineError};
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use tokio::time::Instant;

use super::backoff::Backoff;
use super::setup::Setup;

/// Maximum waiting time of one long poll.
const WAIT_MS: u64 = 30_000;

/// Number of slots from which a worker has several claims. Smaller claims would cost the store more than they gain.
const SLOTS_FOR_SEVERAL: usize = 16;

/// The claims of a worker that are under way. They are kept until they are answered: if one were dropped, executions it
/// had claimed would have to be given back.
pub(super) struct Claims {
    setup: Arc<Setup>,
    under_way: FuturesUnordered<BoxFuture<'static, (usize, ClaimAnswer)>>,
    sizes: ClaimSizes,
}

/// The answer to a claim. It is an error only when the server no longer accepts the API key, because another claim would
/// fail in the same way.
type ClaimAnswer = Result<Vec<ClaimedExecution>, EngineError>;

impl Claims {
    pub(super) fn new(setup: Arc<Setup>) -> Self {
        let claims = setup.long_poll.claims_at_once();
        let sizes = ClaimSizes { slots: setup.concurrency, claims, asked: Vec::new(), is_plenty: false };
        Self { setup, under_way: FuturesUnordered::new(), sizes }
    }

    /// Begins the claims that there is room for beside those under way. `room` counts the free slots.
    pub(super) fn begin(&mut self, room: usize) {
        while let Some(max) = self.sizes.ask(room) {
            let setup = self.setup.clone();
            self.under_way.push(Box::pin(async move { (max, next(setup, max).await) }));
        }
    }

    /// Waits for the answer to a claim. Returns none if none is under way.
    pub(super) async fn answer(&mut self) -> Option<ClaimAnswer> {
        let (max, claimed) = self.under_way.next().await?;
        self.sizes.note(max, claimed.as_ref().map_or(0, Vec::len));
        Some(claimed)
    }
}

/// How many executions the claims under way ask for.
struct ClaimSizes {
    slots: usize,
    /// How many claims are under way while there is plenty of work.
    claims: usize,
    /// The maximum of each claim.
    asked: Vec<usize>,
    /// Whether the last answer had most of what its claim asked for.
    is_plenty: bool,
}

impl ClaimSizes {
    /// Returns the maximum of the next claim, if one is to begin. A worker that waits for work, or has few slots, has one
    /// claim, for all of its free slots. With plenty of work it can have several, each for its share of the slots at most.
    fn ask(&mut self, room: usize) -> Option<usize> {
        let several = self.is_plenty && self.slots >= SLOTS_FOR_SEVERAL;
        let claims = if several { self.claims } else { 1 };
        let max = room.saturating_sub(self.asked.iter().sum()).min(self.slots.div_ceil(claims));
        if max == 0 || self.asked.len() >= claims {
            return None;
        }
        self.asked.push(max);
        Some(max)
    }

    /// Notes the answer to a claim: how many it asked for, and how many it got.
    fn note(&mut self, max: usize, claimed: usize) {
        if let Some(at) = self.asked.iter().position(|asked| *asked == max) {
            self.asked.remove(at);
        }
        self.is_plenty = 4 * claimed >= 3 * max;
    }
}

/// Claims the next executions, at most `room`. Waits for them without a time limit.
async fn next(setup: Arc<Setup>, room: usize) -> ClaimAnswer {
    let mut backoff = Backoff::default();
    loop {
        let start = Instant::now();
        let args = NextArgs {
            namespace: setup.namespace.clone(),
            lanes: setup.lanes.clone(),
            kinds: setup.kinds.clone(),
            capabilities: setup.capabilities.clone(),
            max: room,
            holder: setup.holder.clone(),
            lease_ttl_ms: setup.lease_ttl_ms,
            wait_ms: WAIT_MS,
        };
        match setup.long_poll.next(args).await {
            Ok(claimed) if !claimed.is_empty() => return Ok(claimed),
            // An empty answer that took no time comes from a server or engine that is stopping.
            Ok(_) if start.elapsed() < Duration::from_millis(1) => backoff.pause().await,
            Ok(_) => backoff.reset(),
            Err(error) if matches!(error.code(), Code::Unauthenticated | Code::Unauthorized) => return Err(error),
            Err(error) => {
                setup.outages.log_failure("claim", &error);
                backoff.pause().await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(slots: usize, claims: usize, is_plenty: bool) -> ClaimSizes {
        ClaimSizes { slots, claims, asked: Vec::new(), is_plenty }
    }

    #[test]
    fn two_claims_are_under_way_while_there_is_plenty_of_work() {
        let mut sizes = sizes(20, 2, false);
        assert_eq!((sizes.ask(20), sizes.ask(20)), (Some(20), None), "one claim waits for work");
        sizes.note(20, 15);
        assert_eq!((sizes.ask(20), sizes.ask(20), sizes.ask(20)), (Some(10), Some(10), None));
        sizes.note(10, 8);
        assert_eq!((sizes.ask(10), sizes.ask(13)), (None, Some(3)), "the slots of the other claim are not free");
        sizes.note(3, 1);
        assert_eq!(sizes.ask(19), None, "the other claim still waits");
        sizes.note(10, 1);
        assert_eq!(sizes.ask(19), Some(19));
    }

    #[test]
    fn one_claim_is_under_way_if_the_store_works_on_one_or_slots_are_few() {
        for mut sizes in [sizes(20, 1, true), sizes(15, 2, true)] {
            let slots = sizes.slots;
            assert_eq!((sizes.ask(slots), sizes.ask(slots)), (Some(slots), None));
        }
    }
}
