//! Suspensions, the signals that end them, and the decisions of people.

mod approvals;
mod decisions;
mod secrets;
mod signals;
mod suspending;
