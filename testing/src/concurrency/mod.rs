//! Many clients on one store at once, each in the others' way. What every one of them was told must fit together.

mod checker;
mod client;
mod flow;
mod ledger;
mod waiting;

pub use checker::check;
pub use client::{Client, Shared, jobs, keep_time};
pub use flow::{Crowd, check_flow, work_through};
pub use ledger::{Entry, Ledger, What};
