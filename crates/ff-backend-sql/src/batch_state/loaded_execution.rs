//! One loaded execution, and its pending write.

use ff_core::execution::Execution;

use super::StoredRecord;

/// An execution: as stored, and as a batch has changed it.
pub(super) struct LoadedExecution {
    pub(super) stored: StoredRecord<Execution>,
    pub(super) write: Option<PendingWrite>,
}

/// A pending write of an execution.
pub(super) enum PendingWrite {
    Written(Box<Execution>),
    /// The execution is deleted.
    Forgotten,
}

impl LoadedExecution {
    /// Returns the execution with the batch's changes, or why the stored one cannot be read.
    pub(super) fn current(&self) -> Result<Option<&Execution>, &String> {
        match &self.write {
            Some(PendingWrite::Written(after)) => Ok(Some(after)),
            Some(PendingWrite::Forgotten) => Ok(None),
            None => self.stored.as_ref().map(Option::as_ref),
        }
    }

    /// Returns the stored execution and the one to write, if they differ.
    pub(super) fn rewritten(&self) -> Option<(Option<&Execution>, &Execution)> {
        let Some(PendingWrite::Written(after)) = &self.write else { return None };
        let stored = self.stored.as_ref().ok()?.as_ref();
        (stored != Some(after)).then_some((stored, after))
    }

    /// Returns the stored execution, if it can be read.
    pub(super) fn stored(&self) -> Option<&Execution> {
        self.stored.as_ref().ok()?.as_ref()
    }

    pub(super) fn is_forgotten(&self) -> bool {
        matches!(self.write, Some(PendingWrite::Forgotten))
    }
}
