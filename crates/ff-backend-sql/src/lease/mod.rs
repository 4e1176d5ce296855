//! The room of leases: their history, as rows.

mod history;

pub(crate) use history::{event_of, trim};
