//! One file per command.

mod apply;
mod bench;
mod budgets;
mod doctor;
mod events;
mod execution;
mod explain;
mod flow;
mod keys;
mod lanes;
mod quotas;
mod schedules;
mod secrets;
mod server;
mod suspension;
mod tail;
mod watch;
mod worker;

pub(crate) use apply::{Apply, Export};
pub(crate) use bench::Bench;
pub(crate) use budgets::{Budgets, Usage};
pub(crate) use doctor::Doctor;
pub(crate) use events::Events;
pub(crate) use execution::{
    Adjust, Attempts, Cancel, Fork, Get, Hold, List, Release, Replay, Result, Revoke, Steps, Submit,
};
pub(crate) use explain::Explain;
pub(crate) use flow::Flow;
pub(crate) use keys::Keys;
pub(crate) use lanes::Lanes;
pub(crate) use quotas::Quotas;
pub(crate) use schedules::Schedules;
pub(crate) use secrets::Secrets;
pub(crate) use server::{Completions, Config, Dev, Migrate, OpenApi, Server};
pub(crate) use suspension::{Decision, Signal, Suspensions};
pub(crate) use tail::{StreamToken, Tail};
pub(crate) use watch::Watch;
pub(crate) use worker::{Assign, Grants, Unassign, Worker, Workers};
