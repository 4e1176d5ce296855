//! Counts what happened: a walk counts only when the interesting things did.

use std::collections::{BTreeMap, HashSet};

use ff_core::contracts::{Failed, Rotated, StagedFlow, SuspendOutcome};
use ff_core::flow::{FlowWhat, GroupState};
use ff_core::operation::Reply;

use super::deed::{Deed, Verdict};
use super::transition;

/// How often everything happened that has a name: replies, refusals, transitions and a few more.
#[derive(Default)]
pub(crate) struct Tally {
    counts: BTreeMap<String, u64>,
    states: HashSet<u64>,
}

impl Tally {
    /// Counts a step: its reply or refusal, and what its changes are called. There is no change the table does not
    /// know.
    pub(crate) fn step(&mut self, deed: &Deed<'_>) -> Verdict {
        match &deed.decided {
            Ok(decision) => self.count(replied(&decision.reply)),
            Err(refusal) => self.count(refusal.code.as_str()),
        }
        for (before, change) in deed.changes() {
            let name = transition::name(deed.operation, before, change);
            if !transition::is_known(&name) {
                return Err(format!("{name} is not in the table"));
            }
            self.count(&name);
        }
        for _ in deed.forgotten() {
            self.count("forgotten");
        }
        Ok(())
    }

    /// Counts a step of a flow: its reply or refusal, and how what it changed came about.
    #[allow(dead_code, reason = "only walks over flows take such steps")]
    pub(crate) fn step_in_flow(&mut self, deed: &Deed<'_>) {
        match &deed.decided {
            Ok(decision) => self.count(replied(&decision.reply)),
            Err(refusal) => self.count(refusal.code.as_str()),
        }
        for (before, change) in deed.changes() {
            if let Some(name) = transition::in_flow(deed.operation, before, change) {
                self.count(name);
            }
        }
        for flow in deed.decided.as_ref().map_or(&[][..], |decision| &decision.flows) {
            let ended = flow.events.iter().filter_map(|event| match event.what {
                FlowWhat::Ended { state } => Some(format!("flow {state}")),
                _ => None,
            });
            ended.for_each(|name| self.count(&name));
        }
    }

    pub(crate) fn count(&mut self, name: &str) {
        match self.counts.get_mut(name) {
            Some(count) => *count += 1,
            None => drop(self.counts.insert(name.into(), 1)),
        }
    }

    /// Notes a state; false when it was visited before.
    pub(crate) fn visit(&mut self, state: u64) -> bool {
        self.states.insert(state)
    }

    pub(crate) fn visited(&self) -> usize {
        self.states.len()
    }

    /// Everything that happened less often than it should have.
    pub(crate) fn missing<'n>(&self, least: impl IntoIterator<Item = (&'n str, u64)>) -> Vec<String> {
        let count = |name: &str| self.counts.get(name).copied().unwrap_or(0);
        let short = least.into_iter().filter(|(name, least)| count(name) < *least);
        short.map(|(name, least)| format!("{name}: {} of {least}", count(name))).collect()
    }

    /// One line per name.
    pub(crate) fn lines(&self) -> String {
        self.counts.iter().map(|(name, count)| format!("{count:>9}  {name}\n")).collect()
    }
}

/// Every kind of reply there is, by the names [`Tally::step`] counts them under.
pub(crate) const REPLIES: &[&str] = &[
    "submitted",
    "submitted duplicate",
    "taken",
    "taken nothing",
    "renewed",
    "noted",
    "completed",
    "failed for good",
    "failed with a retry",
    "put off",
    "cancelled",
    "cancelled already",
    "replayed",
    "revoked",
    "revoked already",
    "pumped",
    "pumped nothing",
];

fn replied(reply: &Reply) -> &'static str {
    match reply {
        Reply::Submitted(submitted) if submitted.duplicate => "submitted duplicate",
        Reply::Submitted(_) => "submitted",
        Reply::Taken(taken) if taken.tasks.is_empty() => "taken nothing",
        Reply::Taken(_) => "taken",
        Reply::Renewed(_) => "renewed",
        Reply::Noted(_) => "noted",
        Reply::Completed(_) => "completed",
        Reply::Failed(Failed::Failed) => "failed for good",
        Reply::Failed(Failed::RetryScheduled { .. }) => "failed with a retry",
        Reply::Delayed(_) => "put off",
        Reply::Cancelled(cancelled) if cancelled.already => "cancelled already",
        Reply::Cancelled(_) => "cancelled",
        Reply::Replayed(_) => "replayed",
        Reply::Revoked(revoked) if revoked.already => "revoked already",
        Reply::Revoked(_) => "revoked",
        Reply::PriorityChanged(_) => "prioritised",
        Reply::Tagged(_) => "tagged",
        Reply::LaneConfigured(_) => "lane configured",
        Reply::LaneCopied(_) => "lane copied",
        Reply::Allotted(allotted) if allotted.grant.is_some() => "granted",
        Reply::Allotted(_) => "granted nothing",
        Reply::ClaimGranted(granted) if granted.taken.tasks.is_empty() => "taken nothing with a grant",
        Reply::ClaimGranted(_) | Reply::Claimed(_) | Reply::GrantClaimed(_) => "taken with a grant",
        Reply::LaneRecounted(_) => "lane recounted",
        Reply::LaneSettled(settled) if settled.taken == 0 => "lane settled nothing",
        Reply::LaneSettled(_) => "lane settled",
        Reply::WorkerRegistered(_) => "worker registered",
        Reply::WorkerSeen(_) => "worker seen",
        Reply::WorkerLeft(_) => "worker left",
        Reply::WorkerSwept(_) => "worker swept",
        Reply::Followed(_) => "followed",
        Reply::KeyCreated(_) => "key created",
        Reply::KeyRevoked(_) => "key revoked",
        Reply::Suspended(suspended) => match suspended.outcome {
            SuspendOutcome::Suspended => "suspended",
            SuspendOutcome::AlreadySatisfied { .. } => "already satisfied",
        },
        Reply::WaitpointCreated(_) => "waitpoint created",
        Reply::WaitpointClosed(closed) if closed.already => "waitpoint closed already",
        Reply::WaitpointClosed(_) => "waitpoint closed",
        Reply::Delivered(delivered) => delivered.effect.as_str(),
        Reply::Resumed(resumed) if resumed.already => "resumed already",
        Reply::Resumed(_) => "resumed",
        Reply::Rotated(Rotated::Rotated { .. }) => "rotated",
        Reply::Rotated(Rotated::Noop { .. }) => "rotated noop",
        Reply::FlowStaged(StagedFlow::Staged { .. }) => "flow staged",
        Reply::FlowStaged(StagedFlow::Submitted(flow)) if flow.duplicate => "flow submitted duplicate",
        Reply::FlowStaged(StagedFlow::Submitted(_)) => "flow submitted",
        Reply::FlowCreated(flow) if flow.duplicate => "flow created duplicate",
        Reply::FlowCreated(_) => "flow created",
        Reply::FlowGrown(_) => "flow grown",
        Reply::FlowClosed(closed) if closed.already => "flow closed already",
        Reply::FlowClosed(_) => "flow closed",
        Reply::FlowCancelled(cancelled) if cancelled.already => "flow cancelled already",
        Reply::FlowCancelled(_) => "flow cancelled",
        Reply::FlowTagged(_) => "flow tagged",
        Reply::WaitedForChildren(waited) if waited.state == GroupState::Pending => "waits for children",
        Reply::WaitedForChildren(_) => "need not wait for children",
        Reply::Cascaded(_) => "cascaded",
        Reply::Pumped(pumped) if pumped.fired == 0 => "pumped nothing",
        Reply::Pumped(_) => "pumped",
    }
}
