//! The rules walked over at random and exhaustively, and the published tables held against the code.

mod errors_doc;
mod keys_golden;
mod walk;
mod walk_exhaustive;
mod walk_flows;
mod walk_lanes;
mod walk_random;
