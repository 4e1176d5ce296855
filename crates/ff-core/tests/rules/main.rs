//! The published tables held against the code.

mod errors_doc;
mod keys_fairness;
mod keys_golden;
