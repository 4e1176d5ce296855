//! Who gets what: knows where work is ready, and brings it to the workers that wait for it.

mod claiming;
mod exchange;
mod limits;
mod line;
mod listener;
mod long_poll;
mod ready;
mod runtime;
mod scheduler;
mod shares;

pub use long_poll::LongPolls;
pub use runtime::Runtime;
pub use scheduler::Scheduler;
