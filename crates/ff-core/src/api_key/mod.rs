//! API keys: the permissions of their owners, and the namespace that they act in.

pub mod contracts;
mod create;
mod hash;
mod record;
mod revoke;
mod role;
mod text;
mod verify;

pub use create::create;
pub use hash::{BadHash, KeyHash};
pub use record::{ApiKey, KeyInfo};
pub use revoke::revoke;
pub use role::{BadRole, Role};
pub use text::{BadKey, SecretKey};
pub use verify::{check_validity, unauthenticated, unknown_key, verify};
