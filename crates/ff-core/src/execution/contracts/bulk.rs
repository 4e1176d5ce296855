//! Bulk actions on all executions that match a filter. Each call handles one page, so that the caller can watch, stop
//! and resume the action.

use serde::{Deserialize, Serialize};

use super::{Cursor, ExecutionInfo, Filter, ListArgs, Page, check_message};
use crate::engine_error::{EngineError, Refusal, check_page};
use crate::limits;
use crate::types::{ExecutionId, TimestampMs};

/// Applies an action to one page of the executions that match a filter, newest first.
///
/// A page whose answer got lost can be requested again. No execution is acted on twice: an execution that has changed
/// after `as_of` is left alone. The caller takes `as_of` from the first answer it receives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BulkArgs {
    pub filter: Filter,
    pub action: BulkAction,
    /// Only report the executions, without acting on them.
    pub dry_run: bool,
    /// Executions that changed after this time are left alone; the present time when absent.
    pub as_of: Option<TimestampMs>,
    pub after: Option<Cursor>,
    pub limit: usize,
}

/// The action on each execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BulkAction {
    /// Live executions are cancelled.
    Cancel { reason: Option<String>, requested_by: Option<String> },
    /// Live executions are held.
    Hold { reason: Option<String>, requested_by: Option<String> },
    /// Executions that are held are released.
    ReleaseHold,
    /// Finished executions are replayed.
    Replay { reason: Option<String>, requested_by: Option<String>, reopen_downstream: bool },
}

/// The result of one page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct BulkPage {
    /// Executions changed; in a dry run, those that would be.
    pub executions: Vec<ExecutionId>,
    /// Executions that could not be changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<BulkRefusal>,
    /// The `as_of` of the next request.
    pub as_of: TimestampMs,
    /// The `cursor` of the next page; absent on the last one. A page may change nothing and not be the last.
    pub next: Option<Cursor>,
}

/// An execution that could not be changed, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct BulkRefusal {
    pub execution_id: ExecutionId,
    /// An error code.
    pub code: String,
    pub detail: String,
}

impl BulkArgs {
    pub fn check(&self) -> Result<(), Refusal> {
        self.filter.check()?;
        match &self.action {
            BulkAction::Cancel { reason, requested_by }
            | BulkAction::Hold { reason, requested_by }
            | BulkAction::Replay { reason, requested_by, .. } => {
                check_message("reason", reason.as_deref())?;
                check_message("requested_by", requested_by.as_deref())?;
            }
            BulkAction::ReleaseHold => {}
        }
        check_page(self.limit, limits::BULK)
    }

    /// Returns the listing request for this page.
    pub fn listing(&self) -> ListArgs {
        ListArgs { filter: self.filter.clone(), after: self.after, limit: self.limit }
    }

    /// Returns the executions of a page to which the action applies and that have not changed after `as_of`.
    pub fn chosen(&self, page: &Page, as_of: TimestampMs) -> Vec<ExecutionId> {
        let chosen = |info: &&ExecutionInfo| info.changed_at <= as_of && self.action.applies(info);
        page.executions.iter().filter(chosen).map(|info| info.execution_id).collect()
    }
}

impl BulkPage {
    /// Creates a page without results.
    pub fn new(as_of: TimestampMs, next: Option<Cursor>) -> Self {
        Self { executions: Vec::new(), refused: Vec::new(), as_of, next }
    }

    /// Records the result of one execution. A refusal is added to the page. If the store did not answer, returns that
    /// error, and the caller requests the page again.
    pub fn enter(&mut self, execution_id: ExecutionId, done: Result<(), EngineError>) -> Result<(), EngineError> {
        match done {
            Ok(()) => self.executions.push(execution_id),
            Err(EngineError::Refused(refusal)) => {
                let (code, detail) = (refusal.code.to_string(), refusal.to_string());
                self.refused.push(BulkRefusal { execution_id, code, detail });
            }
            Err(unknown) => return Err(unknown),
        }
        Ok(())
    }
}

impl BulkAction {
    fn applies(&self, info: &ExecutionInfo) -> bool {
        match self {
            Self::Cancel { .. } => !info.public_state.is_terminal(),
            Self::Hold { .. } => !info.public_state.is_terminal() && info.hold.is_none(),
            Self::ReleaseHold => info.hold.is_some(),
            Self::Replay { .. } => info.public_state.is_terminal(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::engine_error::Code;

    use super::*;
    use crate::rule::samples::{at, waiting};
    use crate::types::Namespace;

    fn args(action: BulkAction) -> BulkArgs {
        let filter = Filter::everything(Namespace::default_name());
        BulkArgs { filter, action, dry_run: false, as_of: None, after: None, limit: 1 }
    }

    fn cancel() -> BulkAction {
        BulkAction::Cancel { reason: None, requested_by: None }
    }

    #[test]
    fn only_what_it_applies_to_and_has_not_changed_since_is_chosen() {
        let page = Page { executions: vec![waiting().info()], next: None };
        assert_eq!(args(cancel()).chosen(&page, at(0)), [waiting().id]);
        assert_eq!(args(cancel()).chosen(&page, at(0) - 1), []);
        let replay = BulkAction::Replay { reason: None, requested_by: None, reopen_downstream: false };
        assert_eq!(args(replay).chosen(&page, at(0)), []);
    }

    #[test]
    fn a_page_is_taken_at_its_limit_and_refused_one_past_it() {
        let sized = |limit| BulkArgs { limit, ..args(cancel()) }.check();
        assert_eq!(sized(limits::BULK), Ok(()));
        assert_eq!(sized(limits::BULK + 1).unwrap_err().limit, Some((1_000, 1_001)));
        assert_eq!(sized(0).unwrap_err().code, Code::InvalidInput);
        let long = "x".repeat(limits::MESSAGE_BYTES + 1);
        let wordy = BulkAction::Cancel { reason: Some(long), requested_by: None };
        assert_eq!(args(wordy).check().unwrap_err().field.as_deref(), Some("reason"));
    }
}
