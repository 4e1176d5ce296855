//! Many clients on one store at once, each in the others' way. The answers of all of them must fit together.

mod checker;
mod client;
mod flow;
mod ledger;
mod suspensions;

pub use checker::check;
pub use client::{Client, ClientContext, jobs, keep_time};
pub use flow::{FlowLoad, check_flow, work_through};
pub use ledger::{Entry, Ledger, LedgerAction};
