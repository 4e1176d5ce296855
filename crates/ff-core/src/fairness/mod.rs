//! Fairness: ready executions of a lane are queued by the value of a key, such as the tenant, and claims take from these
//! queues in turn.
//!
//! The algorithm is start-time fair queueing. Every key has the virtual time of its next turn, and the lane has a clock.
//! A claim takes the key with the earliest turn, sets the clock to that turn, and moves the key's next turn later by a
//! step. The larger the weight of a key, the smaller its step. A key without waiting executions begins again at the
//! clock, or at its next turn if that is later, so that it gains nothing by running empty. Priority and age decide
//! within a key.
//!
//! The key of an execution is fixed at its creation. Executions without a key, including those that waited before their
//! lane became fair, form one queue: that of the empty key. Each partition counts turns separately.

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
