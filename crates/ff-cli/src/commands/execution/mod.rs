//! Commands for executions: submit them, show them, and change, cancel or replay one or many.

mod adjust;
mod attempts;
mod bulk;
mod get;
mod list;
mod operator;
mod result;
mod steps;
mod submit;
mod submit_lines;

pub(crate) use adjust::Adjust;
pub(crate) use attempts::Attempts;
pub(crate) use get::Get;
pub(super) use get::{attempts, blocked_on, progress_line, state};
pub(crate) use list::List;
pub(crate) use operator::{Cancel, Hold, Release, Replay, Revoke};
pub(crate) use result::Result;
pub(crate) use steps::{Fork, Steps};
pub(crate) use submit::Submit;
pub(super) use submit::{priority, tag};
