//! The room of API keys: their rows, and what is read of them.

mod read;
mod row;

pub(crate) use row::api_key_of;
