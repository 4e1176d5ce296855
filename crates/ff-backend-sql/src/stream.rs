//! The domain of streams: streams and their frames as rows, and their queries.

use async_trait::async_trait;
use ff_core::backend::Answer;
use ff_core::contracts::{ReadStreamArgs, StreamPage};
use ff_core::execution::{Attempt, AttemptSlot, Execution};
use ff_core::limits;
use ff_core::stream::{Frame, StoredFrame, StreamParts, StreamRecord};
use ff_core::types::{AttemptIndex, Channel, ExecutionId, FrameType};

use crate::ReadContext;
use crate::error::{SqlError, unreadable};
use crate::execution::{found, last_attempts_of};
use crate::session::{Key, Put, Question, Read, key_of, longer};
use crate::table::record;
use crate::table::value::{Row, Value};

/// Selects the attempts of an execution from an index on, except the one it finished with.
pub(crate) const ATTEMPTS_FROM: &str = "\
    SELECT record FROM attempt WHERE uuid = $1 AND partition = $2 AND idx >= $3 ORDER BY idx LIMIT $4";

/// Selects the streams of an execution from an attempt on.
pub(crate) const STREAMS_FROM: &str = "\
    SELECT attempt, record FROM stream \
    WHERE uuid = $1 AND partition = $2 AND attempt >= $3 ORDER BY attempt LIMIT $4";

/// Selects the frames of an execution from a position on, across its attempts.
pub(crate) const FRAMES_FROM: &str = "\
    SELECT attempt, seq, appended_at, channel, frame_type, bytes FROM frame \
    WHERE uuid = $1 AND partition = $2 AND (attempt, seq) >= ($3, $4) ORDER BY attempt, seq LIMIT $5";

/// Selects the frames of one attempt from a number on.
pub(crate) const FRAMES_OF: &str = "\
    SELECT attempt, seq, appended_at, channel, frame_type, bytes FROM frame \
    WHERE uuid = $1 AND partition = $2 AND attempt = $3 AND seq >= $4 ORDER BY seq LIMIT $5";

/// Selects every stream of a partition. Used only by the doctor.
pub(crate) const STREAMS_ON: &str = "SELECT uuid, attempt, record FROM stream WHERE partition = $1";

/// Returns the key of a stream's row.
pub(crate) fn key_of_stream(id: &ExecutionId, attempt: AttemptIndex) -> Key {
    longer(key_of(id), [Value::Int(attempt.0.into())])
}

/// Returns the key of a frame's row.
pub(crate) fn key_of_frame(id: &ExecutionId, attempt: AttemptIndex, seq: u64) -> Key {
    longer(key_of_stream(id, attempt), [Value::number(seq)])
}

/// Returns the row of a stream.
pub(crate) fn stream_of(id: &ExecutionId, attempt: AttemptIndex, stream: &StreamRecord) -> Result<Put, SqlError> {
    Put::record(key_of_stream(id, attempt), stream)
}

/// Returns the row of a frame.
pub(crate) fn frame_of(id: &ExecutionId, attempt: AttemptIndex, stored: &StoredFrame) -> Put {
    let Frame { channel, frame_type, bytes } = &stored.frame;
    let (channel, frame_type) = (channel.as_str().into(), frame_type.as_str().into());
    let values = [stored.at.into(), channel, frame_type, Value::Bytes(bytes.clone())];
    Put::under(key_of_frame(id, attempt, stored.seq), values)
}

/// Reads a frame and its attempt from a row of [`FRAMES_FROM`] or [`FRAMES_OF`].
pub(crate) fn read_frame(row: &Row) -> Result<(AttemptIndex, StoredFrame), SqlError> {
    let frame = Frame {
        channel: Channel::parse(row.text(3)?).map_err(unreadable("a channel"))?,
        frame_type: FrameType::parse(row.text(4)?).map_err(unreadable("a type of frame"))?,
        bytes: row.bytes(5)?,
    };
    Ok((AttemptIndex(row.count(0)?), StoredFrame { seq: row.count(1)?, at: row.moment(2)?, frame }))
}

#[async_trait]
impl Question for ReadStreamArgs {
    type Answer = StreamPage;

    async fn ask(self, reader: &mut dyn Read, _: &ReadContext) -> Answer<StreamPage> {
        let execution = found(reader, &self.execution_id).await?;
        let parts = parts(reader, &execution, &self).await?;
        Ok(StreamPage::of(&self, parts)?)
    }
}

async fn parts(reader: &mut dyn Read, execution: &Execution, args: &ReadStreamArgs) -> Result<StreamParts, SqlError> {
    let start = args.start();
    let from = longer(key_of_stream(&execution.id, start.attempt), [Value::number(args.attempts())]);
    let is_current = match &execution.attempt {
        AttemptSlot::Open(attempt) => attempt.index <= start.attempt,
        AttemptSlot::Next(_) => false,
    };
    let mut archived = Vec::<Attempt>::new();
    // The current attempt is not archived, and most readers read its stream.
    if !is_current {
        for row in reader.query(ATTEMPTS_FROM, std::slice::from_ref(&from)).await?.iter().flatten() {
            archived.push(record::read(row.text(0)?)?);
        }
        let last = last_attempts_of(reader, &[execution.id]).await?.pop().flatten();
        archived.extend(last.filter(|last| last.index >= start.attempt && archived.len() < args.attempts()));
    }
    let mut parts = StreamParts::of(execution, archived);
    if !execution.streamed {
        return Ok(parts);
    }
    for row in reader.query(STREAMS_FROM, &[from]).await?.iter().flatten() {
        parts.streams.insert(AttemptIndex(row.count(0)?), record::read(row.text(1)?)?);
    }
    let (mut left, mut bytes) = (args.limit, 0);
    let sql = if args.attempt.is_some() { FRAMES_OF } else { FRAMES_FROM };
    let mut next = key_of_frame(&execution.id, start.attempt, start.seq);
    while left > 0 && bytes < limits::PAGE_BYTES {
        let wanted = left.min(limits::FRAMES_AT_ONCE);
        next.push(Value::number(wanted));
        let rows: Vec<_> = reader.query(sql, &[next.clone()]).await?.into_iter().flatten().collect();
        for row in &rows {
            let (attempt, stored) = read_frame(row)?;
            bytes += stored.frame.bytes.len();
            next = key_of_frame(&execution.id, attempt, stored.seq + 1);
            parts.frames.entry(attempt).or_default().push(stored);
        }
        if rows.len() < wanted {
            break;
        }
        left -= wanted;
    }
    Ok(parts)
}
