//! Refusals of holders that append frames, and of readers: the code is right, and nothing is written.

use ff_core::contracts::{AppendFramesArgs, ReadStreamArgs};
use ff_core::engine_error::Code;
use ff_core::limits;
use ff_core::stream::{Frame, StreamMode};
use ff_core::types::FrameType;
use ff_script::stream::{ff_append_frame, ff_read_attempt_stream, ff_read_summary};
use ff_script::{LibraryClock, ScriptError};

use crate::refused::assert_refused;
use crate::situation::{Situation, Subject};
use crate::wire::Wire;

pub(crate) const CASES: &[(&str, Code)] = &[
    ("ff_append_frame", Code::ExecutionNotFound),
    ("ff_append_frame", Code::ExecutionNotActive),
    ("ff_append_frame", Code::StaleLease),
    ("ff_append_frame", Code::LeaseExpired),
    ("ff_append_frame", Code::LeaseRevoked),
    ("ff_append_frame", Code::InvalidInput),
    ("ff_append_frame", Code::InvalidFrameType),
    ("ff_append_frame", Code::InvalidOffset),
    ("ff_append_frame", Code::RetentionLimitExceeded),
    ("ff_read_attempt_stream", Code::ExecutionNotFound),
    ("ff_read_summary", Code::ExecutionNotFound),
];

#[tokio::test]
async fn a_refused_stream_call_writes_nothing() {
    for (function, code) in CASES {
        let wire = Wire::start(LibraryClock::Test).await;
        let subject = Situation::that_refuses_holders(*code).arrange(&wire).await;
        if *code == Code::InvalidInput {
            ff_append_frame(&wire, frames(&subject, Frame::text("a"))).await.unwrap();
        }
        assert_refused(&wire, function, *code, ask(&wire, &subject, function, *code)).await;
    }
}

fn frames(subject: &Subject, frame: Frame) -> AppendFramesArgs {
    AppendFramesArgs {
        execution_id: subject.id,
        fence: subject.fence,
        from: None,
        mode: None,
        max_frames: None,
        max_bytes: None,
        frames: vec![frame],
    }
}

async fn ask(wire: &Wire, subject: &Subject, function: &str, code: Code) -> Result<(), ScriptError> {
    let bytes = |count| Frame::new(FrameType::bytes(), vec![7; count]);
    match function {
        "ff_read_summary" => ff_read_summary(wire, &subject.id, None).await.map(drop),
        "ff_read_attempt_stream" => {
            let args = ReadStreamArgs { execution_id: subject.id, attempt: None, from: None, limit: 1 };
            ff_read_attempt_stream(wire, &args).await.map(drop)
        }
        _ => {
            let mut args = frames(subject, bytes(1));
            match code {
                Code::InvalidInput => args.mode = Some(StreamMode::BestEffort),
                Code::InvalidFrameType => args.frames = vec![Frame::new(FrameType::patch(), "{}")],
                Code::InvalidOffset => args.from = Some(1),
                Code::RetentionLimitExceeded => args.frames = vec![bytes(limits::FRAME_BYTES + 1)],
                _ => {}
            }
            ff_append_frame(wire, args).await.map(drop)
        }
    }
}
