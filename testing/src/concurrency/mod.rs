//! Many clients on one store at once, each in the others' way. What every one of them was told must fit together.

mod checker;
mod client;
mod ledger;
mod timekeeper;
mod waiting;

pub use checker::check;
pub use client::{Client, Shared, jobs};
pub use ledger::{Entry, Ledger, What};
pub use timekeeper::keep_time;
