//! What happens unasked: the pump that fires whatever is due, the sweeps behind the hints, the board that tells waiting
//! callers what happened, and the doctor's round.

mod agenda;
mod backoff;
mod board;
mod doctor;
mod engine;
mod hearing;
mod orchestration;
mod owing;
mod pump;
mod roll_call;
mod router;
mod sweep;

pub use backoff::Backoff;
pub use board::Board;
pub use doctor::{Examined, examine, examine_partition};
pub use engine::Engine;
pub use hearing::Hearing;
pub use orchestration::{Coordinator, Orchestration};
pub use router::PartitionRouter;
pub use sweep::Sweeper;
