//! Statements: their texts, their parameters and their answers.

pub(crate) mod dialect;
pub(crate) mod request;
pub(crate) mod value;
