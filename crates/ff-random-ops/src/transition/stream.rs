//! Frames that an attempt appends, by number.

use crate::prelude::*;

/// A call that appends frames. The mode and each frame are numbers. The offset is relative to the end of the stream.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameBatch {
    pub from: Option<i64>,
    pub mode: Option<u8>,
    pub max_frames: Option<u64>,
    pub frames: Vec<u8>,
}

impl FrameBatch {
    pub(crate) fn args(&self, execution_id: ExecutionId, fence: Fence, next: u64) -> AppendFramesArgs {
        let mode = |nth: u8| [StreamMode::Durable, StreamMode::Summary, StreamMode::BestEffort][usize::from(nth % 3)];
        AppendFramesArgs {
            execution_id,
            fence,
            from: self.from.map(|offset| next.saturating_add_signed(offset)),
            mode: self.mode.map(mode),
            max_frames: self.max_frames,
            max_bytes: None,
            frames: self.frames.iter().map(|nth| frame(*nth)).collect(),
        }
    }
}

/// Returns a frame by its number: frames of every type, invalid JSON, and a frame that is too large.
fn frame(nth: u8) -> Frame {
    let patch = |json: &str| Frame::new(FrameType::patch(), json.to_owned());
    match nth {
        0 => Frame::text("é\n\""),
        1 => Frame { channel: Channel::parse("err").unwrap(), ..Frame::new(FrameType::json(), "[1,\n2]") },
        2 => Frame::new(FrameType::bytes(), vec![0xff, 0, 13, 10]),
        3 => patch(r#"{"a":{"b":1.10},"c":[]}"#),
        4 => patch(r#"{"a":{"b":null,"d":9007199254740993}}"#),
        5 => Frame::new(FrameType::json(), "{"),
        _ => Frame::new(FrameType::bytes(), vec![7; limits::FRAME_BYTES + 1]),
    }
}
