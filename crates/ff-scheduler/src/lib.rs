//! The scheduler: knows where work is ready, and hands it out to the workers that wait for it.

mod claimer;
mod limits;
mod listener;
mod long_poll;
mod matchmaker;
mod ready;
mod runtime;
mod scheduler;
mod shares;
mod waiter_queue;

pub use ff_engine::EngineOptions;
pub use long_poll::LongPolls;
pub use runtime::Runtime;
pub use scheduler::Scheduler;
