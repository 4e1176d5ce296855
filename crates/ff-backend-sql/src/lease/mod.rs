//! The room of leases: claiming, and their history as rows.

mod claim;
mod history;
mod store;

pub(crate) use history::{event_of, trim};
