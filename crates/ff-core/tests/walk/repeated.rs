//! A reply that got lost: the caller asks again, and must learn the same and change nothing.

use ff_core::contracts::{Cancelled, Revoked, Submitted};
use ff_core::model::Model;
use ff_core::operation::{Conditions, Operation, Reply};

use super::deed::{Deed, Verdict};

/// Asks once more for what was just done, where asking twice is promised to be harmless.
pub(crate) fn answers_again(after: &Model, operation: &Operation, reply: &Reply, at: Conditions) -> Verdict {
    let expected = match reply {
        Reply::Submitted(first) => Reply::Submitted(Submitted { duplicate: true, ..first.clone() }),
        Reply::Cancelled(first) => Reply::Cancelled(Cancelled { already: true, ..*first }),
        Reply::Revoked(first) => Reply::Revoked(Revoked { already: true, ..*first }),
        Reply::Completed(_) | Reply::Failed(_) | Reply::Delayed(_) => reply.clone(),
        Reply::Taken(_) | Reply::Renewed(_) | Reply::Noted(_) | Reply::Replayed(_) | Reply::Pumped(_) => return Ok(()),
    };
    let again = Deed::decide(after, operation, at);
    match &again.decided {
        Ok(decision) if decision.reply == expected && !again.alters() => Ok(()),
        other => Err(format!("I16: answered {reply:?} first and then {other:?}")),
    }
}
