//! Operations that change one property of one execution and leave the execution in its phase. This module contains
//! everything about them that a run needs: their random choice, their arguments and their semantics.

use crate::chance::Chance;
use crate::prelude::*;

/// One change of one property, with numbers for names and values.
#[derive(Clone, Debug, PartialEq)]
pub enum Adjustment {
    Label {
        /// The numbers of a tag's key and value.
        set: (u8, u8),
        remove: u8,
    },
    Prioritise {
        to: i64,
    },
    Deadline {
        /// Milliseconds from now. The deadline is not in the future if this is zero or negative.
        in_ms: i64,
    },
}

/// The operations by name, each with whether it is also accepted for an execution that has ended.
const OPERATIONS: &[(&str, bool)] = &[("set_tags", true), ("change_priority", false), ("extend_deadline", false)];

impl Adjustment {
    pub(crate) fn choose(chance: &mut Chance) -> Self {
        match chance.below(3) {
            0 => {
                let set = (*chance.pick(&[0, 1]), *chance.pick(&[0, 1]));
                Self::Label { set, remove: *chance.pick(&[0, 1, 7]) }
            }
            1 => Self::Prioritise { to: *chance.pick(&[0, 1, 2, 9_000]) },
            _ if chance.one_in(8) => Self::Deadline { in_ms: *chance.pick(&[-1, 0, limits::TIMESTAMP_MAX_MS]) },
            _ => Self::Deadline { in_ms: *chance.pick(&[1, 30_000, 60_000, 600_000]) },
        }
    }

    /// Returns the operation as requested at this time.
    pub(crate) fn operation(&self, execution_id: ExecutionId, now: TimestampMs) -> Operation {
        match self {
            Self::Label { set, remove } => Operation::SetTags(SetTagsArgs {
                execution_id,
                set: [label(set.0, set.1)].into(),
                remove: [label(*remove, 0).0].into(),
            }),
            Self::Prioritise { to } => {
                Operation::ChangePriority(ChangePriorityArgs { execution_id, priority: Priority::new(*to).unwrap() })
            }
            Self::Deadline { in_ms } => {
                Operation::ExtendDeadline(ExtendDeadlineArgs { execution_id, deadline_at: TimestampMs(now.0 + in_ms) })
            }
        }
    }

    /// Returns one operation of each kind, for searches that try every operation in every state.
    pub fn samples(execution_id: ExecutionId) -> Vec<Operation> {
        let all = [Self::Label { set: (0, 0), remove: 7 }, Self::Prioritise { to: 7 }, Self::Deadline { in_ms: 3_000 }];
        all.iter().map(|one| one.operation(execution_id, crate::BEGINNING)).collect()
    }

    /// Returns the names under which a run counts the operations.
    pub fn names() -> impl Iterator<Item = &'static str> {
        OPERATIONS.iter().map(|(name, _)| *name)
    }

    /// Pairs the name of each operation with the number of times that a run must perform it.
    pub fn each_at_least(times: usize) -> impl Iterator<Item = (&'static str, usize)> {
        Self::names().map(move |name| (name, times))
    }
}

/// Returns the execution that an operation adjusts, or `None` if the operation is not an adjustment.
pub(crate) fn subject(operation: &Operation) -> Option<ExecutionId> {
    match operation {
        Operation::SetTags(args) => Some(args.execution_id),
        Operation::ChangePriority(args) => Some(args.execution_id),
        Operation::ExtendDeadline(args) => Some(args.execution_id),
        _ => None,
    }
}

/// Returns the record after an adjustment, or the refusal. Any other operation leaves the record unchanged.
pub(crate) fn adjusted(operation: &Operation, before: &Execution, now: TimestampMs) -> Result<Execution, Code> {
    let mut after = before.clone();
    if subject(operation).is_some() && !takes_ended(operation) && before.is_finished() {
        return Err(Code::ExecutionNotEligible);
    }
    match operation {
        Operation::SetTags(args) => {
            args.remove.iter().for_each(|key| drop(after.tags.remove(key)));
            after.tags.extend(args.set.clone());
        }
        Operation::ChangePriority(args) => after.priority = args.priority,
        Operation::ExtendDeadline(args) if args.deadline_at <= now => return Err(Code::InvalidInput),
        Operation::ExtendDeadline(args) => after.deadline_at = Some(args.deadline_at),
        _ => {}
    }
    Ok(after)
}

/// Returns the expected answer to a repetition of the call with this reply, or `None` if the call was not an
/// adjustment.
pub(crate) fn answer_again(reply: &Reply) -> Option<Reply> {
    Some(match reply {
        Reply::Tagged(_) => reply.clone(),
        Reply::PriorityChanged(first) => {
            Reply::PriorityChanged(PriorityChanged { from: first.priority, priority: first.priority })
        }
        Reply::DeadlineExtended(first) => {
            Reply::DeadlineExtended(DeadlineExtended { from: Some(first.deadline_at), ..*first })
        }
        _ => return None,
    })
}

/// Returns whether an operation is an adjustment that is also accepted for an execution that has ended.
pub(crate) fn takes_ended(operation: &Operation) -> bool {
    OPERATIONS.contains(&(operation.name(), true))
}

/// Returns the moves of adjustments, which end in the phase where they begin: the moves that a run must contain, and
/// the moves of suspended executions, which a run may contain.
pub(crate) fn moves() -> (Vec<String>, Vec<String>) {
    let places = |takes_ended: bool| if takes_ended { &PLACES[..] } else { &PLACES[..3] };
    let seen = OPERATIONS.iter().flat_map(|(name, ended)| places(*ended).iter().map(|place| stay(place, name)));
    (seen.collect(), Adjustment::names().map(|name| stay("suspended", name)).collect())
}

fn stay(place: &str, name: &str) -> String {
    format!("{place} -{}-> {place}", name.replace('_', " "))
}

/// Names of phases in moves. The first three are live.
const PLACES: [&str; 7] = ["waiting", "delayed", "running", "succeeded", "failed", "cancelled", "expired"];

/// Returns the tag with the given numbers for its key and value.
pub(crate) fn label(key: u8, value: u8) -> (TagKey, TagValue) {
    (TagKey::parse(&format!("tag-{key}")).unwrap(), TagValue::parse(&format!("value-{value}")).unwrap())
}
