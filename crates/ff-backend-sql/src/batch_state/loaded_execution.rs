//! One loaded execution, and the write it needs.

use ff_core::execution::Execution;

use super::StoredRecord;

/// One execution: as stored, and as a batch has changed it.
pub(super) struct LoadedExecution {
    pub(super) stored: StoredRecord<Execution>,
    pub(super) write: Option<PendingWrite>,
}

/// The write of an execution.
pub(super) enum PendingWrite {
    Written(Box<Execution>),
    /// It goes, as if it had never been there.
    Forgotten,
}

impl LoadedExecution {
    /// The execution as it stands, or why that is not known.
    pub(super) fn current(&self) -> Result<Option<&Execution>, &String> {
        match &self.write {
            Some(PendingWrite::Written(after)) => Ok(Some(after)),
            Some(PendingWrite::Forgotten) => Ok(None),
            None => self.stored.as_ref().map(Option::as_ref),
        }
    }

    /// The execution as stored and as it is to be, when it is to be written.
    pub(super) fn rewritten(&self) -> Option<(Option<&Execution>, &Execution)> {
        let Some(PendingWrite::Written(after)) = &self.write else { return None };
        let stored = self.stored.as_ref().ok()?.as_ref();
        (stored != Some(after)).then_some((stored, after))
    }

    /// The execution as stored, where that can be read.
    pub(super) fn stored(&self) -> Option<&Execution> {
        self.stored.as_ref().ok()?.as_ref()
    }

    pub(super) fn is_forgotten(&self) -> bool {
        matches!(self.write, Some(PendingWrite::Forgotten))
    }
}
