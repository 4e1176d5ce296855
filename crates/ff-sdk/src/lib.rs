//! The Rust SDK: connect to a store or a server, submit work, and run workers.
//!
//! ```
//! # tokio::runtime::Runtime::new().unwrap().block_on(async {
//! use ff_sdk::{Context, Fault, Job};
//!
//! let ff = ff_sdk::connect("memory:").await?;
//! let worker = ff.worker("greeter").on("greet", |_: Context, name: String| async move {
//!     Ok::<_, Fault>(format!("hello, {name}"))
//! });
//! let working = tokio::spawn(worker.run());
//!
//! let client = ff.client();
//! let job = client.submit(Job::new("greet", &"world")).await?;
//! let greeting: String = client.wait(&job.execution_id).await?.json()?;
//! assert_eq!(greeting, "hello, world");
//! # working.abort();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```

mod api_key;
mod budget;
mod callback;
mod client;
mod connect;
mod error;
mod event;
mod execution;
mod flow;
mod flowfabric;
#[cfg(feature = "http")]
pub mod http;
mod job;
mod lane;
mod quota;
mod schedule;
mod signal;
pub mod store_url;
mod stream;
mod worker;
pub mod yaml;

pub use budget::BudgetHandle;
pub use callback::{Callback, CallbackError, CallbackRejection, CallbackSecret};
pub use client::{Client, End};
pub use connect::{Connect, ConnectError, Synchronous, Target, connect};
pub use error::Error;
pub use event::Events;
pub use execution::{Bulk, BulkReport, Fork, Replay, Search, SearchResults};
pub use ff_api::{PublicUrl, Waitpoint};
#[cfg(feature = "postgres")]
pub use ff_backend_postgres::{Inbox, InboxError};
pub use ff_core as core;
pub use ff_core::singleton::OnConflict;
pub use flow::{Flow, FlowEnd, FlowEvents, FlowFileError, FlowHandle, Growth, Joins, Node, all_of, any_of, quorum};
pub use flowfabric::FlowFabric;
pub use job::Job;
pub use lane::LaneHandle;
pub use quota::QuotaHandle;
pub use schedule::ScheduleHandle;
pub use signal::{Signal, SignalMessage};
pub use stream::OutputReader;

pub use worker::{
    AddChildren, Child, Children, Context, CreateWaitpoint, Decision, Fault, Handler, HandlerFuture, IntoReply, Output,
    Reply, RunStep, Suspend, UsageReport, Verdict, WaitError, WaitForApproval, WaitForSignal, WaitOutcome, Worker,
};

/// The documentation pages, whose programs must compile.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
#[doc = include_str!("../../../docs/postgres.md")]
#[doc = include_str!("../../../docs/sdk.md")]
#[doc = include_str!("../../../docs/suspensions.md")]
#[doc = include_str!("../../../docs/flows.md")]
#[doc = include_str!("../../../docs/streams.md")]
#[doc = include_str!("../../../docs/steps.md")]
#[doc = include_str!("../../../docs/operating.md")]
#[doc = include_str!("../../../docs/limits.md")]
#[doc = include_str!("../../../docs/schedules.md")]
#[doc = include_str!("../../../docs/budgets.md")]
struct Pages;
