//! The streams of the model.

use std::collections::{BTreeMap, VecDeque};

use super::Model;
use crate::backend::snapshot::Snapshot;
use crate::execution::Execution;
use crate::limits;
use crate::stream::contracts::ReadStreamArgs;
use crate::stream::{StoredFrame, StreamParts, StreamRecord, StreamWrite};
use crate::types::{AttemptIndex, ExecutionId};

/// The streams of attempts, and their retained frames.
#[derive(Clone, Debug, Default)]
pub(super) struct Streams {
    pub(super) records: BTreeMap<(ExecutionId, AttemptIndex), StreamRecord>,
    frames: BTreeMap<(ExecutionId, AttemptIndex), VecDeque<StoredFrame>>,
}

impl Streams {
    /// Applies a write to a stream.
    pub(super) fn apply(&mut self, id: ExecutionId, write: StreamWrite) {
        let frames = self.frames.entry((id, write.attempt)).or_default();
        while frames.front().is_some_and(|frame| frame.seq < write.trimmed.end) {
            frames.pop_front();
        }
        frames.extend(write.frames);
        self.records.insert((id, write.attempt), write.after);
    }

    pub(super) fn forget(&mut self, id: &ExecutionId) {
        self.records.retain(|(of, _), _| of != id);
        self.frames.retain(|(of, _), _| of != id);
    }

    pub(super) fn snapshot(&self, partition: u16, snapshot: &mut Snapshot) {
        for (name, stream) in self.records.iter().filter(|((id, _), _)| id.partition() == partition) {
            let frames = self.frames.get(name).into_iter().flatten().cloned();
            snapshot.streams.insert(*name, (stream.clone(), frames.collect()));
        }
    }
}

impl Model {
    /// Returns the records from which a page of an execution's output is built.
    pub fn stream_parts(&self, execution: &Execution, args: &ReadStreamArgs) -> StreamParts {
        let start = args.start();
        let last = AttemptIndex(start.attempt.0.saturating_add(u32::try_from(args.attempts()).unwrap_or(u32::MAX)));
        let (from, to) = ((execution.id, start.attempt), (execution.id, last));
        let archived = self.attempts(&execution.id).iter().filter(|attempt| attempt.index >= start.attempt);
        let mut parts = StreamParts::of(execution, archived.take(args.attempts()).cloned());
        let streams = self.streams.records.range(from..to);
        parts.streams = streams.map(|((_, attempt), stream)| (*attempt, stream.clone())).collect();
        let mut remaining = args.limit.min(limits::PAGE);
        for ((_, attempt), frames) in self.streams.frames.range(from..to) {
            let seq = if *attempt == start.attempt { start.seq } else { 0 };
            let next: Vec<_> = frames.iter().filter(|frame| frame.seq >= seq).take(remaining).cloned().collect();
            remaining -= next.len();
            parts.frames.insert(*attempt, next);
        }
        parts
    }
}
