//! FlowFabric on Valkey: every mutation is one function of one library, which runs atomically on the server.
//!
//! Each function is a Lua file under `lua/<domain>/`, or under `lua/published/` if only other programs call it. Shared
//! helpers are under `lua/lib/`, by domain. The header of a file is the function's signature. The build generates from it the Lua
//! code that reads the arguments and the Rust struct that sends them, so the order of keys and arguments is written
//! once. The functions mirror the rules of `ff_core`, and tests compare the two.
//!
//! Each function has a wrapper of the same name, over any [`Server`]. The wrappers of published functions have the
//! published arguments and answers; calls with further arguments, such as signed tokens, are beside them.

pub mod budget;
mod bundle;
pub mod engine;
mod error;
pub mod event;
pub mod execution;
mod fcall;
pub mod flow;
mod hint;
pub mod lane;
pub mod lease;
mod loader;
pub mod published;
pub mod quota;
mod record;
mod reply;
pub mod schedule;
mod server;
pub mod signal;
pub mod signature;
pub mod step;
pub mod stream;
pub mod suspension;
mod value;
pub mod worker;

pub use bundle::{LIBRARY, LibraryClock, VERSION, Version, library, test_clock_key};
pub use error::ScriptError;
pub use fcall::Fcall;
pub use hint::{hints, message};
pub use lane::lane_of_index;
pub use loader::{LoadError, check_library, ensure_library};
pub use record::StoredExecution;
pub use reply::{FcallResult, Fields, FromFcallResult};
pub use server::{Primary, Server, ask_fields};
pub use value::Value;
