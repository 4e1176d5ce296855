//! The room of leases: claiming, and their history as rows.

mod history;

pub(crate) use history::{event_of, trim};
