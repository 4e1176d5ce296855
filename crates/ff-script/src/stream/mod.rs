//! The functions of streams.

use bytes::Bytes;
use ff_core::contracts::{AppendFramesArgs, FramesAppended, ReadStreamArgs};
use ff_core::execution::AttemptOutcome;
use ff_core::limits;
use ff_core::stream::{Frame, FrameGroup, StoredFrame, StreamMode, StreamParts, StreamRecord, summarise};
use ff_core::types::{AttemptIndex, Channel, ExecutionId, FrameType, TimestampMs};

use crate::execution::{core_key, counted_from};
use crate::record::{Hash, attempt_outcome, outcome};
use crate::server::ask;
use crate::signature::{AppendFrame, ReadAttemptStream, ReadSummary};
use crate::{Fields, ScriptError, Server};

/// Maximum number of times that one call merges its patches into a summary that other callers change meanwhile.
const MERGES: usize = 8;

/// Appends frames to the stream of the running attempt.
///
/// Patches are merged here, because Lua would change numbers. The function accepts the merged document only for the
/// version it was merged into.
pub async fn ff_append_frame(server: &dyn Server, args: AppendFramesArgs) -> Result<FramesAppended, ScriptError> {
    let is_summary = args.frames.iter().any(|frame| frame.frame_type.as_str() == FrameType::PATCH);
    if !is_summary {
        return append(server, &args, None).await;
    }
    for _ in 1..MERGES {
        match merge_and_append(server, &args).await {
            Err(ScriptError::InvalidOffset(refusal)) if refusal.field.as_deref() == Some("version") => {}
            done => return done,
        }
    }
    merge_and_append(server, &args).await
}

/// Merges patches into the current summary, and appends them if the summary has not changed meanwhile.
async fn merge_and_append(server: &dyn Server, args: &AppendFramesArgs) -> Result<FramesAppended, ScriptError> {
    let summary = ff_read_summary(server, &args.execution_id, None).await?;
    let first = args.from.unwrap_or(summary.version);
    let known = usize::try_from(summary.version.saturating_sub(first)).unwrap_or(usize::MAX);
    // The function refuses other errors of the call, and then writes nothing.
    let new = args.frames.get(known..).unwrap_or_default();
    let is_one = |mode: &Option<StreamMode>| mode.or(args.mode) == Some(StreamMode::Summary);
    if new.is_empty() || !is_one(&summary.mode) {
        return append(server, args, Some((summary.version, Bytes::new()))).await;
    }
    match summarise(summary.document.as_deref(), new) {
        Ok(document) => append(server, args, Some((summary.version, document.into()))).await,
        // The function checks for other errors of the call first. Without a version it writes nothing.
        Err(refusal) => match append(server, args, None).await {
            Err(ScriptError::InvalidOffset(other)) if other.field.as_deref() == Some("version") => Err(refusal.into()),
            done => done,
        },
    }
}

async fn append(
    server: &dyn Server,
    args: &AppendFramesArgs,
    summary: Option<(u64, Bytes)>,
) -> Result<FramesAppended, ScriptError> {
    let (version, document) = summary.map_or((None, Bytes::new()), |(version, document)| (Some(version), document));
    let triple = |frame: &Frame| {
        let text = |text: &str| Bytes::copy_from_slice(text.as_bytes());
        [text(frame.channel.as_str()), text(frame.frame_type.as_str()), frame.bytes.clone()]
    };
    let append = AppendFrame {
        core: core_key(&args.execution_id),
        lease_id: args.fence.lease_id.to_string(),
        lease_epoch: args.fence.lease_epoch.0,
        attempt_id: args.fence.attempt_id.to_string(),
        from: args.from,
        mode: args.mode.map(|mode| mode.to_string()),
        max_frames: args.max_frames,
        max_bytes: args.max_bytes,
        version,
        document,
        frames: args.frames.iter().map(triple).collect(),
    };
    let mut fields = ask(server, append.call()).await?;
    Ok(FramesAppended { attempt_index: AttemptIndex(fields.read()?), first: fields.read()?, next: fields.read()? })
}

/// The summary of an attempt's stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamSummary {
    /// Number of frames so far.
    pub version: u64,
    /// None when there is no stream.
    pub mode: Option<StreamMode>,
    pub document: Option<String>,
}

/// Reads the summary of an attempt, by default of the last one.
pub async fn ff_read_summary(
    server: &dyn Server,
    id: &ExecutionId,
    attempt: Option<AttemptIndex>,
) -> Result<StreamSummary, ScriptError> {
    let read = ReadSummary { core: core_key(id), attempt: attempt.map(|attempt| attempt.0.into()) };
    let mut fields = ask(server, read.call()).await?;
    Ok(StreamSummary { version: fields.read()?, mode: fields.maybe_read()?, document: fields.maybe_free()? })
}

/// Reads the output of an execution's attempts, from the position of a reader on.
pub async fn ff_read_attempt_stream(server: &dyn Server, args: &ReadStreamArgs) -> Result<StreamParts, ScriptError> {
    let start = args.start();
    let read = ReadAttemptStream {
        core: core_key(&args.execution_id),
        attempt: start.attempt.0.into(),
        from: counted_from(start.seq),
        attempts: args.attempts() as u64,
        limit: args.limit as u64,
        room: limits::PAGE_BYTES as u64,
    };
    let mut fields = ask(server, read.call()).await?;
    let attempts_made = fields.read()?;
    let outcome = fields.maybe_text()?.map(|word| outcome(&word)).transpose()?;
    let mut parts = StreamParts { attempts_made, outcome, ..StreamParts::default() };
    fields.rows(|attempt| add_attempt(&mut parts, attempt))?;
    Ok(parts)
}

fn add_attempt(parts: &mut StreamParts, fields: &mut Fields) -> Result<(), ScriptError> {
    let attempt = AttemptIndex(fields.read()?);
    let end: (Option<i64>, Option<String>) = (fields.maybe_read()?, fields.maybe_text()?);
    if let (Some(at), Some(word)) = end {
        let outcome: AttemptOutcome = attempt_outcome(&word)?;
        parts.ends.insert(attempt, (TimestampMs(at), outcome));
    }
    let (meta, summary) = (Hash::parse(fields.list()?)?, fields.maybe_free()?);
    if !meta.is_empty() {
        parts.streams.insert(attempt, stream(&meta, summary)?);
        parts.frames.insert(attempt, fields.rows(frame)?);
    }
    Ok(())
}

fn stream(meta: &Hash, summary: Option<String>) -> Result<StreamRecord, ScriptError> {
    let mode = meta.read::<StreamMode>("mode")?;
    let (max_frames, max_bytes) = (meta.maybe("max_frames")?, meta.maybe("max_bytes")?);
    let numbers = meta.text("groups")?.unwrap_or_default().split(' ').filter(|number| !number.is_empty());
    let numbers: Result<Vec<u64>, _> = numbers.map(str::parse).collect();
    let numbers = numbers.map_err(|_| ScriptError::parse("the groups of a stream cannot be read"))?;
    let groups = numbers.chunks_exact(2).map(|group| FrameGroup { first: group[0], bytes: group[1] });
    Ok(StreamRecord {
        first: meta.read("first")?,
        next: meta.read("frame_count")?,
        bytes: meta.read("bytes")?,
        appended_at: TimestampMs(meta.read("appended_at")?),
        groups: groups.collect(),
        summary: summary.filter(|_| mode == StreamMode::Summary),
        ..StreamRecord::new(mode, max_frames, max_bytes, TimestampMs(meta.read("opened_at")?))
    })
}

fn frame(entry: &mut Fields) -> Result<StoredFrame, ScriptError> {
    let id = entry.text()?;
    let seq = id.split('-').next().and_then(|number| number.parse::<u64>().ok()?.checked_sub(1));
    let seq = seq.ok_or_else(|| ScriptError::parse(format!("the frame {id} has no number")))?;
    let fields = Hash::parse(entry.list()?)?;
    let frame = Frame {
        channel: fields.maybe("channel")?.unwrap_or_else(Channel::default_name),
        frame_type: fields.read("frame_type")?,
        bytes: fields.bytes("payload").cloned().ok_or_else(|| ScriptError::parse("a frame has no bytes"))?,
    };
    Ok(StoredFrame { seq, at: TimestampMs(fields.read("ts")?), frame })
}
