//! The room of lanes: their rows, what is read of them, and the steps that configure them and hold them to a limit.

mod depths;
mod read;
mod row;

pub(crate) use row::{key_of_lane, lane_of_record};
