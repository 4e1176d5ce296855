//! The output of a running handler. Frames go into a bounded buffer. A separate task appends them to the stream, with
//! one call for all frames that were buffered during the previous call, up to the limits of a call.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use ff_core::backend::EngineBackend;
use ff_core::contracts::{AppendFramesArgs, FramesAppended, Task};
use ff_core::engine_error::{Code, EngineError, Refusal};
use ff_core::limits;
use ff_core::stream::{Frame, StreamMode};
use ff_core::types::{Channel, ExecutionId, FrameType};
use serde::Serialize;
use tokio::sync::Notify;

use super::backoff::Backoff;
use super::held_executions::HeldExecution;
use super::{Fault, Reply};
use crate::Error;

/// Maximum bytes of frames in the buffer. A handler that writes more waits.
const BUFFER_BYTES: usize = 1024 * 1024;

/// The output of an attempt on one channel. All channels of an attempt are one stream.
///
/// A call returns as soon as its frame is in the buffer. If frames could not be appended, the next call returns the
/// error.
#[derive(Clone)]
pub struct Output {
    buffer: Arc<OutputBuffer>,
    channel: Result<Channel, Refusal>,
}

impl Output {
    pub(super) fn new(buffer: Arc<OutputBuffer>, channel: &str) -> Self {
        let channel = Channel::parse(channel).map_err(|error| Refusal::invalid("channel", error));
        Self { buffer, channel }
    }

    /// Sets the retention mode of the stream, which is that of all its channels. Set it before the first frame.
    pub fn mode(self, mode: StreamMode) -> Self {
        self.buffer.state().mode = Some(mode);
        self
    }

    /// Keeps only the last `most` frames.
    pub fn keep_frames(self, most: u64) -> Self {
        self.buffer.state().max_frames = Some(most);
        self
    }

    /// Keeps only the last frames with `most` bytes in total.
    pub fn keep_bytes(self, most: u64) -> Self {
        self.buffer.state().max_bytes = Some(most);
        self
    }

    /// Writes text.
    pub async fn text(&self, text: impl Into<String>) -> Result<(), Error> {
        self.frame(FrameType::text(), text.into()).await
    }

    /// Writes a value as JSON.
    pub async fn json(&self, value: &impl Serialize) -> Result<(), Error> {
        self.frame(FrameType::json(), serde_json::to_vec(value).map_err(Error::Encode)?).await
    }

    /// Writes bytes.
    pub async fn bytes(&self, bytes: impl Into<Bytes>) -> Result<(), Error> {
        self.frame(FrameType::bytes(), bytes).await
    }

    /// Merges a patch (RFC 7396) into the summary of the stream. This sets the mode `Summary`, unless a mode is set. A stream
    /// of that mode contains only patches.
    pub async fn merge(&self, patch: &impl Serialize) -> Result<(), Error> {
        self.buffer.state().mode.get_or_insert(StreamMode::Summary);
        self.frame(FrameType::patch(), serde_json::to_vec(patch).map_err(Error::Encode)?).await
    }

    /// Writes a frame of any type.
    pub async fn frame(&self, frame_type: FrameType, bytes: impl Into<Bytes>) -> Result<(), Error> {
        let frame = Frame { channel: self.channel.clone()?, frame_type, bytes: bytes.into() };
        frame.check("frame")?;
        Ok(self.buffer.push(frame).await?)
    }

    /// Waits until all frames written so far are in the store.
    pub async fn flush(&self) -> Result<(), Error> {
        Ok(self.buffer.flush().await?)
    }
}

/// The frames that are not in the store yet.
pub(super) struct OutputBuffer {
    backend: Arc<dyn EngineBackend>,
    execution_id: ExecutionId,
    hold: HeldExecution,
    state: Mutex<BufferState>,
    /// Notified after each append, and when the sending task has ended.
    moved: Notify,
}

#[derive(Default)]
struct BufferState {
    waiting: VecDeque<Frame>,
    /// Total size of the waiting frames and of those being appended.
    bytes: usize,
    mode: Option<StreamMode>,
    max_frames: Option<u64>,
    max_bytes: Option<u64>,
    /// The number of the next frame. Unknown at first in a resumed attempt.
    next: Option<u64>,
    /// Whether a task is appending.
    is_sending: bool,
    failed: Option<EngineError>,
}

impl OutputBuffer {
    pub(super) fn new(backend: Arc<dyn EngineBackend>, task: &Task, hold: HeldExecution) -> Arc<Self> {
        let next = (!task.resumed).then_some(0);
        let state = Mutex::new(BufferState { next, ..BufferState::default() });
        let execution_id = task.execution_id;
        Arc::new(Self { backend, execution_id, hold, state, moved: Notify::new() })
    }

    fn state(&self) -> MutexGuard<'_, BufferState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn push(self: &Arc<Self>, frame: Frame) -> Result<(), EngineError> {
        let (bytes, mut frame) = (frame.bytes.len(), Some(frame));
        self.until(|state| {
            if state.bytes > 0 && state.bytes + bytes > BUFFER_BYTES {
                return false;
            }
            state.waiting.extend(frame.take());
            state.bytes += bytes;
            if !std::mem::replace(&mut state.is_sending, true) {
                tokio::spawn(self.clone().send());
            }
            true
        })
        .await
    }

    /// Waits until all buffered frames have been appended.
    pub(super) async fn flush(&self) -> Result<(), EngineError> {
        self.until(|state| !state.is_sending).await
    }

    /// Returns the end of a handler after all its output is in the store. A success whose output was not accepted becomes a
    /// retryable fault.
    pub(super) async fn finish(&self, end: Result<Reply, Fault>) -> Result<Reply, Fault> {
        let lost = |error: EngineError| Fault::retryable("output", format!("the output was not accepted: {error}"));
        let flushed = self.flush().await;
        end.and_then(|reply| flushed.map(|()| reply).map_err(lost))
    }

    /// Waits until the buffer meets a condition. Returns an error if frames could not be appended.
    async fn until(&self, mut is_so: impl FnMut(&mut BufferState) -> bool) -> Result<(), EngineError> {
        loop {
            let moved = self.moved.notified();
            {
                let mut state = self.state();
                if let Some(error) = &state.failed {
                    return Err(error.clone());
                }
                if is_so(&mut state) {
                    return Ok(());
                }
            }
            moved.await;
        }
    }

    /// Appends buffered frames until none are left.
    async fn send(self: Arc<Self>) {
        loop {
            // Frames written during the same turn of the scheduler go with the same call.
            tokio::task::yield_now().await;
            let Some(args) = self.take() else { break };
            let bytes = args.bytes();
            let appended = self.append(args).await;
            let mut state = self.state();
            state.bytes -= bytes;
            match appended {
                Ok(appended) => state.next = Some(appended.next),
                Err(error) => {
                    state.failed = Some(error);
                    state.is_sending = false;
                    state.waiting.clear();
                    break;
                }
            }
            drop(state);
            self.moved.notify_waiters();
        }
        self.moved.notify_waiters();
    }

    /// Takes the frames of the next call; `None` when no frames are buffered. Then the sending task counts as ended.
    fn take(&self) -> Option<AppendFramesArgs> {
        let mut state = self.state();
        let mut bytes = 0;
        let fits = |frame: &&Frame| {
            bytes += frame.bytes.len();
            bytes <= limits::APPEND_BYTES
        };
        let count = state.waiting.iter().take(limits::APPEND_FRAMES).take_while(fits).count();
        let frames: Vec<_> = state.waiting.drain(..count).collect();
        state.is_sending = !frames.is_empty();
        let (mode, max_frames, max_bytes) = (state.mode, state.max_frames, state.max_bytes);
        let (execution_id, fence) = (self.execution_id, self.hold.fence);
        let args = AppendFramesArgs { execution_id, fence, from: state.next, mode, max_frames, max_bytes, frames };
        (!args.frames.is_empty()).then_some(args)
    }

    /// Appends frames. Repeats the call while the store does not answer and the lease may still be held. That is safe,
    /// because the call has the number of its first frame.
    async fn append(&self, mut args: AppendFramesArgs) -> Result<FramesAppended, EngineError> {
        let mut backoff = Backoff::default();
        loop {
            let answer = match args.from {
                Some(_) => self.backend.append_frames(args.clone()).await,
                None => match self.next_number(&args).await {
                    Ok(next) => {
                        args.from = Some(next);
                        continue;
                    }
                    Err(error) => Err(error),
                },
            };
            match answer {
                Err(error @ (EngineError::Unknown(_) | EngineError::Unavailable(_))) => {
                    tokio::select! {
                        () = self.hold.lost.cancelled() => return Err(error),
                        () = backoff.pause() => {}
                    }
                }
                answer => return answer,
            }
        }
    }

    /// Returns the number of the next frame of a resumed attempt. It appends a frame with a far higher number; the store
    /// refuses that, and names the expected number in the refusal.
    async fn next_number(&self, args: &AppendFramesArgs) -> Result<u64, EngineError> {
        let beyond = AppendFramesArgs { from: Some(limits::FRAME_NUMBER), ..args.clone() };
        match self.backend.append_frames(beyond).await {
            Err(EngineError::Refused(Refusal { code: Code::InvalidOffset, limit: Some((next, _)), .. })) => Ok(next),
            Err(error) => Err(error),
            Ok(appended) => Ok(appended.next),
        }
    }
}
