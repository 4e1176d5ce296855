//! One generator of random operations for every test that wants some.
//!
//! A run is a sequence of random transitions from a seed. The model performs each of them, and what the rules promise is
//! checked after every step; a subject, which is a store or part of one, performs the same ones and must answer and hold
//! the same. Both see the same clock and the same randomness. When something is wrong, the run is shortened for as long as
//! it still is, and printed with its seed, ready to be pasted into a test. A run also counts what happened in it, so that
//! a test can demand that enough did.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod adjustment;
mod chance;
mod compare;
mod coverage;
mod generator;
pub mod laws;
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
pub use subject::{Make, MakingSubject, Options, Setup, Subject};
pub use transition::{
    FrameBatch, Growth, Link, Node, On, Order, OutgoingSignal, Pass, Plan, Point, Policies, RecordedStep, Rule,
    ShownToken, Submission, Transition, Tree, Which, Whose, Wish,
};

/// When every run begins.
pub const BEGINNING: ff_core::types::TimestampMs = ff_core::types::TimestampMs(1_700_000_000_000);

/// Few, so that jobs meet.
pub(crate) const PARTITIONS: ff_core::partition::PartitionConfig =
    ff_core::partition::PartitionConfig { num_flow_partitions: 3, num_budget_partitions: 1, num_quota_partitions: 1 };
