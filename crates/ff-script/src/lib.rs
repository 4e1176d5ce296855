//! FlowFabric on Valkey: every mutation is one function of one library, atomic on its server.
//!
//! The functions are Lua files, one each, under `lua/<domain>/`, those that only other programs call
//! under `lua/published/`; what they share is under `lua/lib/`. The header of a file is
//! the function's signature: the build makes of it the names its code uses and the struct its caller fills in, so the order
//! of keys and arguments is written once. They mirror the rules of `ff_core` and are held to them by tests.
//!
//! There is one wrapper per function, under the function's name, over anything that can be asked ([`Server`]). Wrappers of
//! published functions take and give what was published; calls that say more, such as signed tokens, are beside them.

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
