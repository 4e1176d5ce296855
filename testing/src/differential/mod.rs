//! The model and a real store, given the same operations, must answer the same and hold the same.
//!
//! A walk is a sequence of random steps from a seed. Both sides see the same clock and the same dice. When they differ,
//! the walk is shortened as far as it still differs and printed, ready to be pasted into a test.

mod chooser;
mod compared;
mod coverage;
mod dice;
mod flow;
mod operating;
mod postgres;
mod reads;
mod reference;
mod shrink;
mod step;
mod subject;
mod told;
mod valkey;
mod vocabulary;
mod waiting;
mod walk;

pub use compared::{Compared, Difference};
pub use coverage::Coverage;
pub use flow::{Growth, Link, Node, Pass, Plan};
pub use operating::Order;
pub use postgres::{postgres, shared_postgres};
pub use step::{Policies, Step, Submission, Whose};
pub use subject::{Make, Making, Subject, memory, sqlite};
pub use valkey::{redis, valkey};
pub use waiting::{On, Sending, Shown, Tree, Which, Wish};
pub use walk::{replay, walk};
