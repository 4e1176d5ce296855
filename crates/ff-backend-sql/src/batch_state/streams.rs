//! Streams in the batch state: loaded records and writes.

use std::collections::BTreeMap;
use std::ops::Range;

use ff_core::rule::change::Change;
use ff_core::stream::{StoredFrame, StreamRecord};
use ff_core::types::{AttemptIndex, ExecutionId};

use super::RecordSet;

/// The name of an attempt's stream.
pub(crate) type StreamName = (ExecutionId, AttemptIndex);

/// Streams, new frames and trimmed frames.
#[derive(Default)]
pub(crate) struct StreamRecords {
    pub(crate) records: RecordSet<StreamName, StreamRecord>,
    pub(crate) frames: BTreeMap<StreamName, Vec<StoredFrame>>,
    pub(crate) trimmed: BTreeMap<StreamName, Range<u64>>,
}

impl StreamRecords {
    /// Applies the change of a stream.
    pub(crate) fn take(&mut self, change: &mut Change) {
        let Some(write) = change.stream.take() else { return };
        let name = (change.after.id, write.attempt);
        let frames = self.frames.entry(name).or_default();
        frames.retain(|frame| frame.seq >= write.after.first);
        frames.extend(write.frames);
        let gone = self.trimmed.entry(name).or_insert_with(|| write.trimmed.clone());
        gone.end = gone.end.max(write.trimmed.end);
        self.records.write(name, write.after);
    }

    /// Drops the loaded records and pending writes of an execution.
    pub(crate) fn forget(&mut self, id: &ExecutionId) {
        self.records.forget(|(of, _)| of == id);
        self.frames.retain(|(of, _), _| of != id);
        self.trimmed.retain(|(of, _), _| of != id);
    }
}
