//! Fairness: ready work of a lane is queued by the value of a key, such as its tenant, and claims take the queues in turn.
//!
//! Start-time fair queueing. Every key has the virtual time of its next turn, and the lane has a clock. A claim takes the key
//! whose turn comes first, sets the clock to that turn, and puts the next turn of the key off by a step that is the smaller
//! the more the key weighs. A key that had nothing waiting begins at the clock, or at its last turn when that is later, so
//! that it gains nothing by running dry. Priority and age decide within a key.
//!
//! The key of an execution is fixed when it is created. Work without one, among it all that waited before its lane was made
//! fair, is a queue of its own: that of the empty key. Turns are counted on each partition for itself.

mod doctor;
mod follow;
mod order;
#[cfg(test)]
mod tests;
mod turn;

pub(crate) use doctor::examine;
pub(crate) use follow::follow;
pub(crate) use order::{charge, first};
pub use turn::{Turn, TurnName, TurnQueue, TurnWrite, TurnsQuery, step_of};
