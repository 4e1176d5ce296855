//! Workers: who is there to do the work.

pub mod contracts;
mod heartbeat;
mod leave;
mod record;
mod register;
mod sweep;

pub use heartbeat::heartbeat;
pub use leave::leave;
pub use record::{Worker, WorkerChange};
pub use register::register;
pub use sweep::sweep;
