//! The published tables, compared with the code.

mod errors_doc;
mod keys_golden;
