//! Expected semantics of streams, written independently of the rules.

use super::Effect;
use crate::prelude::*;

/// Returns the expected effect of appending frames to the stream of an attempt.
pub(crate) fn appending(model: &Model, args: &AppendFramesArgs) -> Result<Effect, Code> {
    let stream = current(model, args);
    let differs = |limit: Option<u64>, is: Option<u64>| limit.is_some() && limit != is;
    if let Some(stream) = stream {
        let other_mode = args.mode.is_some_and(|mode| mode != stream.mode);
        if other_mode || differs(args.max_frames, stream.max_frames) || differs(args.max_bytes, stream.max_bytes) {
            return Err(Code::InvalidInput);
        }
    }
    let mode = stream.map(|stream| stream.mode).or(args.mode).unwrap_or_default();
    let is_patch = |nth: usize| args.frames[nth].frame_type.as_str() == FrameType::PATCH;
    if (0..args.frames.len()).any(|nth| is_patch(nth) != (mode == StreamMode::Summary)) {
        return Err(Code::InvalidFrameType);
    }
    let next = stream.map_or(0, |stream| stream.next);
    match args.from.unwrap_or(next) {
        first if first > next => Err(Code::InvalidOffset),
        first if next - first >= args.frames.len() as u64 => Ok(Effect::Answered),
        _ => Ok(Effect::Done),
    }
}

/// I15: a stream keeps as many frames as its mode allows, and no more.
pub(crate) fn keeps_its_bounds(stream: &StreamRecord) -> bool {
    let count = stream.next - stream.first;
    match stream.mode {
        StreamMode::Durable => stream.max_frames.is_none_or(|most| count == stream.next.min(most)),
        StreamMode::Summary => count == stream.next.min(limits::SUMMARY_PATCHES) && stream.summary.is_some(),
        StreamMode::BestEffort => count == stream.next.min(limits::BEST_EFFORT_FRAMES),
    }
}

fn current<'m>(model: &'m Model, args: &AppendFramesArgs) -> Option<&'m StreamRecord> {
    let execution = model.find(&args.execution_id)?;
    let attempt = AttemptIndex(execution.attempts_made.checked_sub(1)?);
    model.stream(&args.execution_id, attempt).ok().flatten()
}
