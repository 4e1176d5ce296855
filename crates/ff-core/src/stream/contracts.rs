//! The requests of callers about streams, and the answers.

pub use super::append::{AppendFramesArgs, FramesAppended};
pub use super::page::{StreamItem, StreamPage};
pub use super::read::ReadStreamArgs;
