//! Who gets what: knows where work is ready, and brings it to the workers that wait for it.

mod claiming;
mod exchange;
mod limits;
mod line;
mod listener;
mod ready;
mod scheduler;
mod shares;
mod wanted;

pub use scheduler::Scheduler;
