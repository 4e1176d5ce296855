//! One file per command.

mod attempts;
mod bench;
mod decide;
mod demo;
mod dev;
mod doctor;
mod flow;
mod get;
mod list;
mod migrate;
mod result;
mod secrets;
mod server;
mod signal;
mod steer;
mod submit;
mod waiting;
mod worker;

pub(crate) use attempts::Attempts;
pub(crate) use bench::Bench;
pub(crate) use decide::{Approve, Reject, Resume};
pub(crate) use dev::Dev;
pub(crate) use doctor::Doctor;
pub(crate) use flow::Flow;
pub(crate) use get::Get;
pub(crate) use list::List;
pub(crate) use migrate::Migrate;
pub(crate) use result::Result;
pub(crate) use secrets::Secrets;
pub(crate) use server::Server;
pub(crate) use signal::Signal;
pub(crate) use steer::{Cancel, Replay, Revoke};
pub(crate) use submit::Submit;
pub(crate) use waiting::Waiting;
pub(crate) use worker::Worker;
