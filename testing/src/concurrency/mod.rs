//! Many concurrent clients of one store, whose calls conflict. The answers of all of them must fit together.

mod checker;
mod client;
mod flow;
mod ledger;
mod suspensions;

pub use checker::check;
pub use client::{Client, ClientContext, jobs, keep_time};
pub use flow::{FlowLoad, check_flow, work_through};
pub use ledger::{Entry, Ledger, LedgerAction};
