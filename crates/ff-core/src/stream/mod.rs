//! Streams: the output of an attempt while it runs, frame by frame, and how readers follow it.

mod append;
pub mod contracts;
mod cursor;
mod merge;
mod page;
mod read;
mod record;

pub use cursor::StreamCursor;
pub use merge::merge;
pub use page::{StreamItem, StreamPage};
pub use read::StreamParts;
pub use record::{Frame, FrameGroup, StoredFrame, StreamMode, StreamRecord, StreamWrite, summarise};
