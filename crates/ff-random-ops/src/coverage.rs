//! Counts of named events in a run. A run that covers few cases proves little.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use crate::prelude::*;

/// Number of occurrences of each named event: replies, refusals, moves, and the final states of executions, flows and
/// joins.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    counts: BTreeMap<Cow<'static, str>, usize>,
}

impl Coverage {
    /// Adds the counts of another run.
    pub fn add(&mut self, other: &Self) {
        other.counts.iter().for_each(|(name, count)| *self.counts.entry(name.clone()).or_default() += count);
    }

    /// Panics unless every listed event has occurred at least the given number of times.
    pub fn assert_at_least<'n>(&self, least: impl IntoIterator<Item = (&'n str, usize)>) {
        let count = |name: &str| self.counts.get(name).copied().unwrap_or(0);
        let rare = least.into_iter().filter(|(name, least)| count(name) < *least);
        let rare: Vec<_> = rare.map(|(name, least)| format!("{name}: {} of {least}", count(name))).collect();
        assert!(rare.is_empty(), "too rare: {rare:#?}\n{self}");
    }

    /// Counts one occurrence of an event.
    pub fn record(&mut self, name: impl Into<Cow<'static, str>>) {
        *self.counts.entry(name.into()).or_default() += 1;
    }

    /// Counts an operation under the name of its reply or its refusal.
    pub(crate) fn count(&mut self, operation: &Operation, answer: &Result<Reply, Refusal>) {
        match answer {
            Ok(reply) => {
                self.record(name_of(operation, reply));
                self.count_details(reply);
            }
            Err(refusal) => self.record(refusal.code.as_str()),
        }
    }

    pub(crate) fn count_forgotten(&mut self, times: usize) {
        (0..times).for_each(|_| self.record("forgotten"));
    }

    pub(crate) fn count_events(&mut self, times: usize) {
        (0..times).for_each(|_| self.record("event read"));
    }

    fn count_details(&mut self, reply: &Reply) {
        match reply {
            Reply::FlowGrown(grown) => grown.edges.iter().for_each(|(_, state)| match state {
                EdgeState::Pending => {}
                EdgeState::Satisfied => self.record("edge settled as satisfied"),
                EdgeState::Failed => self.record("edge settled as failed"),
                EdgeState::Skipped => self.record("edge settled as skipped"),
            }),
            Reply::FlowClosed(closed) if !closed.already && !closed.state.is_terminal() => {
                self.record("flow closed with members left");
            }
            Reply::FlowCancelled(cancelled) if !cancelled.already => self.record(match cancelled.policy {
                CancelPolicy::CancelAll => "cancel_all",
                CancelPolicy::CancelPending => "cancel_pending",
                CancelPolicy::LetActiveFinish => "let_active_finish",
                CancelPolicy::FlowOnly => "flow_only",
            }),
            Reply::ClaimDecision(taken) if !taken.admissions.is_empty() => self.record("admission listed"),
            Reply::ClaimAdmitted(claim) if claim.decision.tasks.is_empty() => self.record("taken nothing as admitted"),
            Reply::ClaimAdmitted(_) => self.record("taken as admitted"),
            Reply::AdmissionsEvaluated(answer) => {
                if answer.name.is_none() {
                    self.record("asked about another definition");
                }
                answer.verdicts.iter().for_each(|verdict| {
                    self.record(match verdict {
                        AdmissionVerdict::Admitted => "admitted",
                        AdmissionVerdict::ReservedForOther => "reserved for another claim",
                        AdmissionVerdict::Refused { retry_at: None, .. } => "refused for a slot",
                        AdmissionVerdict::Refused { .. } => "refused until a moment",
                    });
                });
            }
            Reply::AdmissionsSettled(settled) => {
                (0..settled.released).for_each(|_| self.record("slots given back"));
                settled.woken.iter().for_each(|_| self.record("a waiter woken"));
            }
            Reply::Cascaded(cascaded) if cascaded.more || cascaded.resolved > 0 => {
                self.record("a cascade was left");
            }
            _ => {}
        }
    }

    /// Counts the claimed executions and the data handed to their workers.
    pub(crate) fn count_claims(&mut self, claimed: &[ClaimedExecution]) {
        if claimed.len() > 1 {
            self.record("several claimed");
        }
        for ClaimedExecution { task, signals, inputs, steps, .. } in claimed {
            self.record(match task.attempt {
                _ if task.resumed => "claimed again after a wait",
                Origin::Initial => "claimed for a first try",
                Origin::Retry { .. } => "claimed for a retry",
                Origin::Reclaim { .. } => "claimed after a lost lease",
                Origin::Replay { .. } => "claimed for a replay",
            });
            match task.resumption.as_ref().map(|resumption| resumption.by) {
                Some(ResumedBy::Signals) => self.record("resumed by signals"),
                Some(ResumedBy::Operator) => self.record("resumed by operator"),
                Some(ResumedBy::Timeout) => self.record("resumed by timeout"),
                None if task.flow.is_some() && task.resumed => self.record("went on after its children"),
                None => {}
            }
            signals.iter().for_each(|_| self.record("claimed with a signal"));
            if signals.len() > 1 {
                self.record("claimed with several signals");
            }
            if signals.iter().any(|received| received.payload.is_some()) {
                self.record("claimed with bytes of signals");
            }
            if inputs.iter().any(|input| input.payload.is_some()) {
                self.record("claimed with inputs");
            }
            if !steps.steps.is_empty() {
                self.record("claimed with steps");
            }
            if steps.next.is_some() {
                self.record("claimed with some steps");
            }
        }
    }

    /// Counts the states of executions, flows and joins at the end of a run.
    pub(crate) fn count_end(&mut self, model: &Model) {
        for execution in model.executions() {
            self.count_execution(execution);
            if let Some(group) = model.group(&execution.id).ok().flatten() {
                self.count_group(group);
            }
        }
        for flow in model.flows() {
            self.record(match flow.state() {
                FlowState::Staging => "flow left staging",
                FlowState::Open => "flow left open",
                FlowState::Running => "flow left running",
                FlowState::Completed => "flow completed",
                FlowState::Failed => "flow failed",
                FlowState::Cancelled => "flow left cancelled",
            });
            if model.flow_events(&flow.id).any(|event| event.what == FlowEventKind::Reopened) {
                self.record("flow reopened");
            }
        }
    }

    fn count_execution(&mut self, execution: &Execution) {
        if execution.membership.as_ref().is_some_and(|membership| membership.injected_bytes.is_some()) {
            self.record("payload replaced");
        }
        match &execution.phase {
            Phase::Suspended { suspension } if suspension.escalated_at.is_some() => {
                self.record("escalated by a timeout");
            }
            Phase::Finished { by, outcome, .. } => self.record(match by {
                FinishedBy::Holder => "ended by its holder",
                FinishedBy::Cancel { .. } => "ended by cancel",
                FinishedBy::Deadline => "ended by deadline",
                FinishedBy::AttemptTimeout => "ended by timeouts",
                FinishedBy::ReclaimCap => "ended by reclaims",
                FinishedBy::SuspensionTimeout => match outcome {
                    Outcome::Failed => "failed by a timeout of its wait",
                    Outcome::Cancelled => "cancelled by a timeout of its wait",
                    _ => "expired by a timeout of its wait",
                },
                FinishedBy::Dependencies => "ended by its upstreams",
                FinishedBy::FlowCancel => "ended by its flow",
                FinishedBy::Join => "ended by a join",
            }),
            _ => {}
        }
    }

    fn count_group(&mut self, group: &Group) {
        self.record(match group.join {
            Join::AllOf => "all_of",
            Join::AnyOf { .. } => "any_of",
            Join::Quorum { .. } => "quorum",
        });
        match group.state {
            GroupState::Pending => {}
            GroupState::Satisfied => self.record("join met"),
            GroupState::Impossible => self.record("join impossible"),
        }
        if group.round > 0 {
            self.record("a later round");
        }
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.counts.iter().try_for_each(|(name, count)| writeln!(f, "{count:>9}  {name}"))
    }
}

fn is_from_a_step(operation: &Operation) -> bool {
    matches!(operation, Operation::Replay(args) if args.from_step.is_some())
}

/// Returns the name under which a reply is counted: the name of its operation, unless the reply is more specific.
fn name_of(operation: &Operation, reply: &Reply) -> &'static str {
    match reply {
        Reply::Submitted(SubmittedExecution { conflict: Some(conflict), .. }) => match conflict {
            KeyConflict::Skipped => "submitted skipped",
            KeyConflict::Replaced => "submitted replaced",
            KeyConflict::Queued => "submitted queued",
        },
        Reply::Submitted(submitted) if submitted.duplicate => "submitted duplicate",
        Reply::ClaimDecision(taken) if taken.limited => "taken nothing without leave",
        Reply::ClaimDecision(taken) if taken.tasks.is_empty() => "taken nothing",
        Reply::ClaimDecision(_) | Reply::Claimed(_) => "taken",
        Reply::StepRecorded(recorded) if recorded.duplicate => "step recorded before",
        Reply::Forked(forked) if forked.duplicate => "forked before",
        Reply::Forked(forked) if forked.steps > 0 => "forked with steps",
        Reply::Failed(FailedAttempt::Failed) => "failed for good",
        Reply::Failed(FailedAttempt::RetryScheduled { .. }) => "failed with a retry",
        Reply::Cancelled(cancelled) if cancelled.already => "cancelled already",
        Reply::Replayed(_) if is_from_a_step(operation) => "replayed from a step",
        Reply::Revoked(revoked) if revoked.already => "revoked already",
        Reply::Allotted(allotted) if allotted.grant.is_some() => "granted",
        Reply::Allotted(_) => "granted nothing",
        Reply::ClaimGranted(granted) if granted.decision.tasks.is_empty() => "taken nothing with a grant",
        Reply::ClaimGranted(_) | Reply::GrantClaimed(_) => "taken with a grant",
        Reply::LaneSettled(settled) if settled.taken == 0 => "lane settled nothing",
        Reply::Suspended(suspended) => match suspended.outcome {
            SuspendOutcome::Suspended => "suspended",
            SuspendOutcome::AlreadySatisfied { .. } => "already satisfied",
        },
        Reply::WaitpointClosed(closed) if closed.already => "waitpoint closed already",
        Reply::Delivered(delivered) => delivered.effect.as_str(),
        Reply::Resumed(resumed) if resumed.already => "resumed already",
        Reply::Rotated(RotatedSecret::Rotated { .. }) => "rotated",
        Reply::Rotated(RotatedSecret::Noop { .. }) => "rotated noop",
        Reply::FlowStaged(StagedFlow::Staged { .. }) => "flow staged",
        Reply::FlowStaged(StagedFlow::Submitted(flow)) if flow.duplicate => "flow submitted duplicate",
        Reply::FlowStaged(StagedFlow::Submitted(_)) => "flow submitted",
        Reply::FlowCreated(flow) if flow.duplicate => "flow created duplicate",
        Reply::FlowClosed(closed) if closed.already => "flow closed already",
        Reply::FlowCancelled(cancelled) if cancelled.already => "flow cancelled already",
        Reply::WaitedForChildren(waited) => match waited.state {
            GroupState::Pending => "waits for children",
            GroupState::Satisfied => "children have succeeded",
            GroupState::Impossible => "children have failed",
        },
        Reply::Pumped(pumped) if pumped.fired == 0 => "pumped nothing",
        _ => operation.name(),
    }
}
