//! The published tables, compared with the code.

mod errors_doc;
mod keys_fairness;
mod keys_golden;
