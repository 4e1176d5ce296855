//! What callers ask of streams, and what they are told.

pub use super::append::{AppendFramesArgs, FramesAppended};
pub use super::page::{StreamItem, StreamPage};
pub use super::read::ReadStreamArgs;
