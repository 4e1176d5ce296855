//! Appending: the holder adds frames to its output.

use serde::{Deserialize, Serialize};

use super::{Frame, StreamMode, StreamRecord, StreamWrite};
use crate::engine_error::{Code, Refusal, check_limit};
use crate::execution::{AttemptSlot, Execution};
use crate::lease::Fence;
use crate::limits;
use crate::operation::command::{Conditions, Decision, ExecutionCommand, found};
use crate::rule::change::Change;
use crate::rule::view::{Stop, View};
use crate::types::{AttemptIndex, ExecutionId, FrameType, TimestampMs};

/// Appends frames to the stream of the attempt, all or none.
#[derive(Clone, Debug, PartialEq)]
pub struct AppendFramesArgs {
    pub execution_id: ExecutionId,
    pub fence: Fence,
    /// Number of the first of these frames. With it, the call is safe to repeat: frames that are already stored are
    /// skipped. Without it, the frames are always added at the end.
    pub from: Option<u64>,
    /// The retention mode of the stream: `durable` if the first call does not name one. Later calls may omit it.
    pub mode: Option<StreamMode>,
    /// Number of frames that a durable stream keeps; all frames if the first call does not name a number.
    pub max_frames: Option<u64>,
    /// Bytes of frames that a durable stream keeps, in the same way.
    pub max_bytes: Option<u64>,
    pub frames: Vec<Frame>,
}

/// The frames are in the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FramesAppended {
    /// The attempt that the stream belongs to.
    pub attempt_index: AttemptIndex,
    /// The number of the first of these frames.
    pub first: u64,
    /// The number of the next frame; in mode `summary` the version of the document.
    pub next: u64,
}

impl AppendFramesArgs {
    /// Returns the bytes of all frames.
    pub fn bytes(&self) -> usize {
        self.frames.iter().map(|frame| frame.bytes.len()).sum()
    }

    /// Refuses frames of the wrong type. A stream of mode `summary` has only patches, and other streams have none.
    fn check_types(&self, mode: StreamMode) -> Result<(), Refusal> {
        let is_wrong = |frame: &Frame| (frame.frame_type.as_str() == FrameType::PATCH) != (mode == StreamMode::Summary);
        let Some((nth, frame)) = self.frames.iter().enumerate().find(|(_, frame)| is_wrong(frame)) else {
            return Ok(());
        };
        let detail = format!("a frame of type {} does not go into a stream of mode {mode}", frame.frame_type);
        Err(Code::InvalidFrameType.refusal().at(format!("frames[{nth}].type")).because(detail))
    }

    /// Returns the stored stream or, for the first call, a new one. Refuses settings that differ from the stored ones.
    fn stream(&self, stored: Option<&StreamRecord>, now: TimestampMs) -> Result<StreamRecord, Refusal> {
        let Some(stored) = stored else {
            let mode = self.mode.unwrap_or_default();
            return Ok(StreamRecord::new(mode, self.max_frames, self.max_bytes, now));
        };
        let differs = |field: &str, is: String| {
            Refusal::invalid(field, format!("is {is} since the first frame and does not change"))
        };
        if self.mode.is_some_and(|mode| mode != stored.mode) {
            return Err(differs("mode", stored.mode.to_string()));
        }
        for (field, request, is) in
            [("max_frames", self.max_frames, stored.max_frames), ("max_bytes", self.max_bytes, stored.max_bytes)]
        {
            if request.is_some() && request != is {
                return Err(differs(field, is.map_or_else(|| "unbounded".to_owned(), |is| is.to_string())));
            }
        }
        Ok(stored.clone())
    }
}

impl ExecutionCommand for AppendFramesArgs {
    type Reply = FramesAppended;

    fn execution_id(&self) -> &ExecutionId {
        &self.execution_id
    }

    fn check(&self) -> Result<(), Refusal> {
        if self.frames.is_empty() {
            return Err(Refusal::invalid("frames", "must have at least one frame"));
        }
        check_limit(Code::LimitExceeded, "frames", limits::APPEND_FRAMES, self.frames.len())?;
        for (nth, frame) in self.frames.iter().enumerate() {
            frame.check(&format!("frames[{nth}]"))?;
        }
        check_limit(Code::PayloadTooLarge, "frames", limits::APPEND_BYTES, self.bytes())?;
        check_limit(Code::LimitExceeded, "from", limits::FRAME_NUMBER, self.from.unwrap_or_default())?;
        self.mode.map_or(Ok(()), |mode| self.check_types(mode))?;
        for (field, bound, least, most) in [
            ("max_frames", self.max_frames, 1, limits::STREAM_FRAMES),
            ("max_bytes", self.max_bytes, limits::STREAM_MIN_BYTES, limits::STREAM_BYTES),
        ] {
            let Some(bound) = bound else { continue };
            if let Some(mode) = self.mode.filter(|mode| *mode != StreamMode::Durable) {
                return Err(Refusal::invalid(field, format!("is for a stream of mode durable, not {mode}")));
            }
            if !(least..=most).contains(&bound) {
                return Err(Refusal::invalid(field, format!("must be from {least} to {most}, got {bound}")));
            }
        }
        Ok(())
    }

    fn decide(&self, view: &dyn View, at: &Conditions) -> Result<Decision<FramesAppended>, Stop> {
        let execution = found(view, &self.execution_id)?;
        execution.held_by(&self.fence, at.now)?;
        let AttemptSlot::Open(attempt) = &execution.attempt else { return Err(execution.not_active().into()) };
        let stored = if execution.streamed { view.stream(&execution.id, attempt.index)? } else { None };
        let (reply, change) = append(execution, attempt.index, stored, self, at.now)?;
        Ok(Decision::of(reply, change))
    }
}

/// Adds frames to the stream of the running attempt. A call repeated with the number of its first frame adds nothing twice.
fn append(
    execution: &Execution,
    attempt_index: AttemptIndex,
    stored: Option<&StreamRecord>,
    args: &AppendFramesArgs,
    now: TimestampMs,
) -> Result<(FramesAppended, Option<Change>), Refusal> {
    let mut stream = args.stream(stored, now)?;
    args.check_types(stream.mode)?;
    let first = args.from.unwrap_or(stream.next);
    check_limit(Code::InvalidOffset, "from", stream.next, first)?;
    let known = usize::try_from(stream.next - first).unwrap_or(usize::MAX);
    let new = args.frames.get(known..).unwrap_or_default();
    if new.is_empty() {
        return Ok((FramesAppended { attempt_index, first, next: stream.next }, None));
    }
    let before = stream.first..stream.next;
    let frames = stream.append(new, now)?;
    let reply = FramesAppended { attempt_index, first, next: stream.next };
    let trimmed = before.start..stream.first.min(before.end);
    let mut change = execution.unchanged();
    change.after.streamed = true;
    change.stream = Some(Box::new(StreamWrite { attempt: attempt_index, after: stream, frames, trimmed }));
    Ok((reply, Some(change)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::samples::{at, held, running};

    fn args(frames: Vec<Frame>) -> AppendFramesArgs {
        let execution = running();
        AppendFramesArgs {
            execution_id: execution.id,
            fence: held(&execution),
            from: None,
            mode: None,
            max_frames: None,
            max_bytes: None,
            frames,
        }
    }

    fn text(count: usize) -> Vec<Frame> {
        (0..count).map(|nth| Frame::text(nth.to_string())).collect()
    }

    fn patch() -> Frame {
        Frame::new(FrameType::patch(), r#"{"a":1}"#)
    }

    fn decide(
        stored: Option<&StreamRecord>,
        args: &AppendFramesArgs,
    ) -> Result<(FramesAppended, Option<StreamWrite>), Refusal> {
        let (reply, change) = append(&running(), AttemptIndex(0), stored, args, at(5))?;
        Ok((reply, change.map(|change| *change.stream.unwrap())))
    }

    fn refused(args: &AppendFramesArgs) -> (Code, String) {
        let refusal = args.check().unwrap_err();
        (refusal.code, refusal.field.unwrap())
    }

    #[test]
    fn frames_are_numbered_without_gaps() {
        let (first, write) = decide(None, &args(text(2))).unwrap();
        let stream = write.unwrap().after;
        let (second, write) = decide(Some(&stream), &args(text(3))).unwrap();
        assert_eq!((first.first, first.next, second.first, second.next), (0, 2, 2, 5));
        assert_eq!(write.unwrap().frames.iter().map(|frame| frame.seq).collect::<Vec<_>>(), [2, 3, 4]);
    }

    #[test]
    fn a_repeated_call_adds_nothing_twice() {
        let call = AppendFramesArgs { from: Some(0), ..args(text(3)) };
        let (first, write) = decide(None, &call).unwrap();
        let stream = write.unwrap().after;
        assert_eq!(decide(Some(&stream), &call).unwrap(), (first, None));
        let longer = AppendFramesArgs { from: Some(1), ..args(text(4)) };
        let (reply, write) = decide(Some(&stream), &longer).unwrap();
        assert_eq!((reply.first, reply.next), (1, 5));
        let added = write.unwrap().frames;
        assert_eq!(
            added.iter().map(|frame| (frame.seq, &frame.frame)).collect::<Vec<_>>(),
            [(3, &text(4)[2]), (4, &text(4)[3])]
        );
    }

    #[test]
    fn a_gap_is_refused() {
        let refusal = decide(None, &AppendFramesArgs { from: Some(1), ..args(text(1)) }).unwrap_err();
        assert_eq!((refusal.code, refusal.field.as_deref()), (Code::InvalidOffset, Some("from")));
        assert_eq!(refusal.limit, Some((0, 1)), "and says which number is next");
    }

    #[test]
    fn only_the_holder_appends() {
        let (mut model, execution) = (crate::model::Model::default(), running());
        let call = args(text(1));
        model.store(&execution, &[]);
        let decide = |call: &AppendFramesArgs, ms| match call.decide(&model, &crate::rule::samples::conditions(at(ms)))
        {
            Err(Stop::Refused(refusal)) => Some(refusal.code),
            _ => None,
        };
        assert_eq!(decide(&call, 5), None);
        assert_eq!(decide(&call, 30_000), Some(Code::LeaseExpired));
        let other = Fence { lease_id: crate::types::LeaseId::new(), ..call.fence };
        assert_eq!(decide(&AppendFramesArgs { fence: other, ..call }, 5), Some(Code::StaleLease));
    }

    #[test]
    fn the_first_frame_decides_the_mode_and_the_bounds() {
        let bounded = AppendFramesArgs { max_frames: Some(7), ..args(text(1)) };
        let stream = decide(None, &bounded).unwrap().1.unwrap().after;
        assert!(decide(Some(&stream), &args(text(1))).is_ok(), "later calls may leave them out");
        assert!(decide(Some(&stream), &bounded).is_ok());
        for (other, field) in [
            (AppendFramesArgs { mode: Some(StreamMode::BestEffort), ..args(text(1)) }, "mode"),
            (AppendFramesArgs { max_frames: Some(8), ..args(text(1)) }, "max_frames"),
            (AppendFramesArgs { max_bytes: Some(limits::STREAM_BYTES), ..args(text(1)) }, "max_bytes"),
        ] {
            let refusal = decide(Some(&stream), &other).unwrap_err();
            assert_eq!((refusal.code, refusal.field.as_deref()), (Code::InvalidInput, Some(field)));
        }
    }

    #[test]
    fn patches_go_into_summaries_and_nothing_else_does() {
        let refusal = decide(None, &args(vec![patch()])).unwrap_err();
        assert_eq!((refusal.code, refusal.field.as_deref()), (Code::InvalidFrameType, Some("frames[0].type")));
        let summary = |frames| AppendFramesArgs { mode: Some(StreamMode::Summary), ..args(frames) };
        assert_eq!(
            refused(&summary([vec![patch()], text(1)].concat())),
            (Code::InvalidFrameType, "frames[1].type".into())
        );
        let stream = decide(None, &summary(vec![patch()])).unwrap().1.unwrap().after;
        assert_eq!(decide(Some(&stream), &args(text(1))).unwrap_err().code, Code::InvalidFrameType);
    }

    #[test]
    fn limits_hold_at_them_and_not_one_past_them() {
        let of = |bytes| Frame::new(FrameType::bytes(), vec![7; bytes]);
        assert!(args(vec![of(limits::FRAME_BYTES)]).check().is_ok());
        assert_eq!(
            refused(&args(vec![of(limits::FRAME_BYTES + 1)])),
            (Code::RetentionLimitExceeded, "frames[0]".into())
        );
        assert!(args(text(limits::APPEND_FRAMES)).check().is_ok());
        assert_eq!(refused(&args(text(limits::APPEND_FRAMES + 1))), (Code::LimitExceeded, "frames".into()));
        let most = limits::APPEND_BYTES / limits::FRAME_BYTES;
        assert!(args(vec![of(limits::FRAME_BYTES); most]).check().is_ok());
        assert_eq!(
            refused(&args(vec![of(limits::FRAME_BYTES - 1); most + 1])),
            (Code::PayloadTooLarge, "frames".into())
        );
        assert_eq!(refused(&args(vec![])), (Code::InvalidInput, "frames".into()));
        for (bounds, field) in [
            (AppendFramesArgs { max_frames: Some(0), ..args(text(1)) }, "max_frames"),
            (AppendFramesArgs { max_frames: Some(limits::STREAM_FRAMES + 1), ..args(text(1)) }, "max_frames"),
            (AppendFramesArgs { max_bytes: Some(limits::STREAM_MIN_BYTES - 1), ..args(text(1)) }, "max_bytes"),
            (AppendFramesArgs { max_bytes: Some(limits::STREAM_BYTES + 1), ..args(text(1)) }, "max_bytes"),
            (
                AppendFramesArgs { mode: Some(StreamMode::BestEffort), max_frames: Some(1), ..args(text(1)) },
                "max_frames",
            ),
        ] {
            assert_eq!(refused(&bounds), (Code::InvalidInput, field.into()));
        }
    }

    #[test]
    fn bytes_are_what_their_frame_calls_them() {
        for (frame_type, bytes) in [
            (FrameType::text(), &b"\xff"[..]),
            (FrameType::json(), b"{"),
            (FrameType::patch(), b"[1]"),
            (FrameType::patch(), b"{"),
        ] {
            let wrong = args(vec![Frame::text("fine"), Frame::new(frame_type, bytes)]);
            assert_eq!(refused(&wrong), (Code::InvalidInput, "frames[1]".into()));
        }
        assert!(args(vec![Frame::new(FrameType::bytes(), &b"\xff\x00"[..])]).check().is_ok());
        assert!(args(vec![Frame::new(FrameType::parse("x.own").unwrap(), &b"\xff"[..])]).check().is_ok());
    }
}
