//! A generator of random operations, shared by all randomised tests.
//!
//! A run is a sequence of random transitions drawn from a seed. The model performs each transition. Without a subject,
//! the laws are checked after every operation. A subject, which is a store or part of one, performs the same
//! transitions; it must return the same answers and hold the same records. Both sides use the same clock and the same
//! randomness. When a run finds an error, it shortens the script while an error remains, and prints the script with its
//! seed, ready to be pasted into a test. A run also counts what it covers, so that a test can require a minimum.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod adjustment;
mod chance;
mod compare;
mod coverage;
mod generator;
pub mod laws;
mod prelude;
mod reference;
mod run;
mod subject;
mod transition;

pub use adjustment::Adjustment;
pub use chance::Chance;
pub use compare::{Comparison, Difference};
pub use coverage::Coverage;
pub use generator::{Generator, Mix};
pub use reference::{Entry, Reference};
pub use run::{number, replay, run, runs};
pub use subject::{Options, Setup, Subject, SubjectFactory, SubjectFuture};
pub use transition::{
    FenceChoice, FrameBatch, Growth, HolderCall, Link, Node, OperatorRequest, OutgoingSignal, Pass, Plan, Point,
    Policies, RecordedStep, Rule, ShownToken, Submission, SuspensionRequest, Transition, Tree, WaitpointChoice,
    WaitpointSelector,
};

/// The time at which every run begins.
pub const BEGINNING: ff_core::types::TimestampMs = ff_core::types::TimestampMs(1_700_000_000_000);

/// Few partitions, so that jobs interact.
pub(crate) const PARTITIONS: ff_core::partition::PartitionConfig =
    ff_core::partition::PartitionConfig { num_flow_partitions: 3, num_budget_partitions: 1, num_quota_partitions: 1 };
