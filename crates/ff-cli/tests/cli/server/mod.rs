//! `ff dev` and `ff server`: serving, API keys and TLS.

mod keys;
pub(crate) mod serving;
mod tls;
