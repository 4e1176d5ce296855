//! Arguments and replies about streams.

pub use super::append::{AppendFramesArgs, FramesAppended};
pub use super::page::{StreamItem, StreamPage};
pub use super::read::ReadStreamArgs;
