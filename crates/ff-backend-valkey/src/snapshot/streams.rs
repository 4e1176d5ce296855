//! Streams in a snapshot.

use ff_core::backend::Answer;
use ff_core::backend::snapshot::Snapshot;
use ff_core::contracts::ReadStreamArgs;
use ff_core::limits;
use ff_core::stream::StreamCursor;
use ff_core::types::{AttemptIndex, ExecutionId};
use ff_script::stream::ff_read_attempt_stream;

use crate::ValkeyBackend;

impl ValkeyBackend {
    /// Adds the streams of one execution, attempt by attempt.
    pub(super) async fn add_streams(&self, snapshot: &mut Snapshot, id: ExecutionId) -> Answer<()> {
        let made = snapshot.executions.get(&id).map_or(0, |execution| execution.attempts_made);
        for attempt in (0..made).map(AttemptIndex) {
            let mut frames = Vec::new();
            loop {
                let from = frames.last().map_or(0, |last: &ff_core::stream::StoredFrame| last.seq + 1);
                let from = Some(StreamCursor::new(&id, attempt, from));
                let args = ReadStreamArgs { execution_id: id, attempt: Some(attempt), from, limit: limits::PAGE };
                let mut parts = ff_read_attempt_stream(&*self.calls, &args).await?;
                let some = parts.frames.remove(&attempt).unwrap_or_default();
                let is_last = some.is_empty();
                frames.extend(some);
                if is_last {
                    let stream = parts.streams.remove(&attempt);
                    snapshot.streams.extend(stream.map(|stream| ((id, attempt), (stream, frames))));
                    break;
                }
            }
        }
        Ok(())
    }
}
