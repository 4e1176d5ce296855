//! Real processes: the server and workers as a user runs them, stopped, killed and restarted.

mod browser;
mod ledger;
mod process;
mod server;
mod worker;

pub use browser::{Browser, Tab};
pub use ledger::{Line, StepRun};
pub use process::{Process, Signal, within};
pub use server::{ServerProcess, doctor};
pub use worker::WorkerProcess;
