//! What happened on the walks. A comparison in which little happened proves little.

use std::collections::BTreeMap;
use std::fmt;

use ff_core::contracts::{Claimed, Failed, Rotated, SuspendOutcome};
use ff_core::engine_error::{Code, Refusal};
use ff_core::execution::{Execution, FinishedBy, Origin, Outcome, Phase};
use ff_core::model::Model;
use ff_core::operation::{Operation, Reply};
use ff_core::signal::Effect;
use ff_core::suspension::ResumedBy;

use super::told::Word;
use super::{flow, operating};

/// Every refusal an operation can be given, but for those that need thousands of signals or no secret at all.
const REFUSALS: &[Code] = &[
    Code::ExecutionNotFound,
    Code::ExecutionNotActive,
    Code::ExecutionNotTerminal,
    Code::MaxReplaysExhausted,
    Code::IdempotencyConflict,
    Code::InvalidExecutionId,
    Code::InvalidPolicyJson,
    Code::StaleLease,
    Code::LeaseExpired,
    Code::LeaseRevoked,
    Code::NoActiveLease,
    Code::InvalidInput,
    Code::LimitExceeded,
    Code::PayloadTooLarge,
    Code::ExecutionNotSuspended,
    Code::WaitpointNotFound,
    Code::WaitpointAlreadyExists,
    Code::WaitpointNotPending,
    Code::WaitpointClosed,
    Code::PendingWaitpointExpired,
    Code::InvalidWaitpointKey,
    Code::TargetNotSignalable,
    Code::MissingToken,
    Code::InvalidToken,
    Code::TokenExpired,
    Code::RotationConflict,
    Code::InvalidGraceMs,
];

/// Everything else that must have happened.
const EVENTS: &[&str] = &[
    "Submit",
    "Claim",
    "Renew",
    "Progress",
    "Complete",
    "Fail",
    "Delay",
    "Cancel",
    "Replay",
    "Revoke",
    "Suspend",
    "CreateWaitpoint",
    "CloseWaitpoint",
    "Deliver",
    "Resume",
    "Rotate",
    "Pump",
    "Reopen",
    "duplicate",
    "retry scheduled",
    "failed for good",
    "cancelled before",
    "revoked before",
    "fired",
    "first try",
    "retry",
    "reclaim",
    "replay",
    "resumed",
    "several claimed",
    "ended by its holder",
    "ended by cancel",
    "ended by deadline",
    "ended by timeouts",
    "ended by reclaims",
    "suspended",
    "already satisfied",
    "closed before",
    "decided before",
    "rotated",
    "rotated before",
    "appended_to_waitpoint",
    "resume_condition_satisfied",
    "buffered_for_pending_waitpoint",
    "appended_to_waitpoint_duplicate",
    "signal_ignored_not_in_condition",
    "signal_ignored_matcher_failed",
    "duplicate signal",
    "resumed by signals",
    "resumed by operator",
    "resumed by timeout",
    "several signals handed",
    "bytes of signals handed",
    "escalated by a timeout",
    "failed by a timeout of its wait",
    "cancelled by a timeout of its wait",
    "expired by a timeout of its wait",
];

/// How often each thing happened.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    counts: BTreeMap<&'static str, usize>,
}

impl Coverage {
    /// Takes over what happened elsewhere.
    pub fn add(&mut self, other: &Self) {
        other.counts.iter().for_each(|(what, count)| *self.counts.entry(what).or_default() += count);
    }

    /// Fails unless everything that can happen has, at least so many times.
    pub fn assert_at_least(&self, times: usize) {
        let refusals = REFUSALS.iter().chain(flow::REFUSALS).chain(operating::REFUSALS).map(|code| code.as_str());
        let all = refusals.chain(EVENTS.iter().chain(flow::EVENTS).chain(operating::EVENTS).copied());
        let rare: Vec<_> = all.filter(|what| self.counts.get(what).is_none_or(|count| *count < times)).collect();
        assert!(rare.is_empty(), "too rare, of {times}: {rare:?}\n{self}");
    }

    pub(crate) fn count_reopening(&mut self) {
        self.happened("Reopen");
    }

    pub(crate) fn count(&mut self, operation: &Operation, told: &Result<Word, Refusal>) {
        self.count_answer(name(operation), told);
    }

    pub(crate) fn count_order(&mut self, name: &'static str, refusal: Option<&Refusal>) {
        self.happened(refusal.map_or(name, |refusal| refusal.code.as_str()));
    }

    pub(crate) fn count_told(&mut self, times: usize) {
        (0..times).for_each(|_| self.happened("something told"));
    }

    pub(crate) fn count_leaves(&mut self, times: usize) {
        (0..times).for_each(|_| self.happened("claimed with leave"));
    }

    pub(crate) fn count_forgotten(&mut self, times: usize) {
        (0..times).for_each(|_| self.happened("forgotten"));
    }

    pub(crate) fn count_growth_before(&mut self) {
        self.happened("grown before");
    }

    pub(crate) fn count_answer(&mut self, to: &'static str, told: &Result<Word, Refusal>) {
        match told {
            Err(refusal) => self.happened(refusal.code.as_str()),
            Ok(word) => {
                self.happened(to);
                self.count_word(word);
            }
        }
    }

    /// How everything has ended that a walk leaves behind.
    pub(crate) fn count_all(&mut self, model: &Model) {
        model.executions().for_each(|execution| self.count_end(execution));
        flow::count_all(model, |what| self.happened(what));
    }

    fn count_end(&mut self, execution: &Execution) {
        let Phase::Finished { by, outcome, .. } = &execution.phase else { return };
        self.happened(match by {
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
            FinishedBy::Dependencies => "skipped",
            FinishedBy::FlowCancel => "cancelled with its flow",
            FinishedBy::Join => "cancelled by a join",
        });
    }

    pub(crate) fn count_escalations(&mut self, times: usize) {
        (0..times).for_each(|_| self.happened("escalated by a timeout"));
    }

    fn count_word(&mut self, word: &Word) {
        match word {
            Word::Reply(Reply::Submitted(submitted)) if submitted.duplicate => self.happened("duplicate"),
            Word::Reply(Reply::Failed(Failed::RetryScheduled { .. })) => self.happened("retry scheduled"),
            Word::Reply(Reply::Failed(Failed::Failed)) => self.happened("failed for good"),
            Word::Reply(Reply::Cancelled(cancelled)) if cancelled.already => self.happened("cancelled before"),
            Word::Reply(Reply::Revoked(revoked)) if revoked.already => self.happened("revoked before"),
            Word::Reply(Reply::Pumped(pumped)) if pumped.fired > 0 => self.happened("fired"),
            Word::Reply(Reply::Suspended(suspended)) => self.happened(match suspended.outcome {
                SuspendOutcome::Suspended => "suspended",
                SuspendOutcome::AlreadySatisfied { .. } => "already satisfied",
            }),
            Word::Reply(Reply::WaitpointClosed(closed)) if closed.already => self.happened("closed before"),
            Word::Reply(Reply::Delivered(delivered)) => self.happened(match delivered.effect {
                Effect::Duplicate => "duplicate signal",
                effect => effect.as_str(),
            }),
            Word::Reply(Reply::Resumed(resumed)) if resumed.already => self.happened("decided before"),
            Word::Reply(Reply::Rotated(rotated)) => self.happened(match rotated {
                Rotated::Rotated { .. } => "rotated",
                Rotated::Noop { .. } => "rotated before",
            }),
            Word::Reply(reply) => flow::count_reply(reply, |what| self.happened(what)),
            Word::Claims(claims) => {
                if claims.limited {
                    self.happened("no leave given");
                }
                if claims.claimed.len() > 1 {
                    self.happened("several claimed");
                }
                for claimed in &claims.claimed {
                    self.happened(match claimed.task.attempt {
                        _ if claimed.task.resumed => "resumed",
                        Origin::Initial => "first try",
                        Origin::Retry { .. } => "retry",
                        Origin::Reclaim { .. } => "reclaim",
                        Origin::Replay { .. } => "replay",
                    });
                    self.count_resumption(claimed);
                    flow::count_claimed(claimed, |what| self.happened(what));
                }
            }
        }
    }

    fn count_resumption(&mut self, claimed: &Claimed) {
        let Some(resumption) = &claimed.task.resumption else { return };
        self.happened(match resumption.by {
            ResumedBy::Signals => "resumed by signals",
            ResumedBy::Operator => "resumed by operator",
            ResumedBy::Timeout => "resumed by timeout",
        });
        if claimed.signals.len() > 1 {
            self.happened("several signals handed");
        }
        if claimed.signals.iter().any(|received| received.payload.is_some()) {
            self.happened("bytes of signals handed");
        }
    }

    fn happened(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.counts.iter().try_for_each(|(what, count)| writeln!(f, "{count:>8}  {what}"))
    }
}

fn name(operation: &Operation) -> &'static str {
    match operation {
        Operation::Submit(_) => "Submit",
        Operation::Claim(_) => "Claim",
        Operation::Renew(_) => "Renew",
        Operation::Progress(_) => "Progress",
        Operation::Complete(_) => "Complete",
        Operation::Fail(_) => "Fail",
        Operation::Delay(_) => "Delay",
        Operation::Cancel(_) => "Cancel",
        Operation::Replay(_) => "Replay",
        Operation::Revoke(_) => "Revoke",
        Operation::Suspend(_) => "Suspend",
        Operation::CreateWaitpoint(_) => "CreateWaitpoint",
        Operation::CloseWaitpoint(_) => "CloseWaitpoint",
        Operation::Deliver(_) => "Deliver",
        Operation::Resume(_) => "Resume",
        Operation::Rotate(_) => "Rotate",
        Operation::StageFlow(_) => "StageFlow",
        Operation::CreateFlow(_) => "CreateFlow",
        Operation::GrowFlow(_) => "GrowFlow",
        Operation::CloseFlow(_) => "CloseFlow",
        Operation::CancelFlow(_) => "CancelFlow",
        Operation::SetFlowTags(_) => "SetFlowTags",
        Operation::WaitForChildren(_) => "WaitForChildren",
        Operation::Cascade(_) => "Cascade",
        Operation::ChangePriority(_) => "ChangePriority",
        Operation::SetTags(_) => "SetTags",
        Operation::ConfigureLane(_) | Operation::CopyLane(_) => "ConfigureLane",
        Operation::Allot(_) | Operation::ClaimGranted(_) | Operation::RecountLane(_) | Operation::SettleLane(_) => {
            "claimed with leave"
        }
        Operation::RegisterWorker(_) => "RegisterWorker",
        Operation::Heartbeat(_) => "Heartbeat",
        Operation::Leave(_) => "Leave",
        Operation::SweepWorker(_) => "SweepWorkers",
        Operation::Follow(_) => "Events",
        Operation::CreateKey(_) => "CreateKey",
        Operation::RevokeKey(_) => "RevokeKey",
        Operation::Pump(_) => "Pump",
    }
}
