//! API keys: the permissions of their owners, and the namespace that they act in.

pub mod contracts;
mod create;
mod hash;
mod judge;
mod record;
mod revoke;
mod role;
mod text;

pub use create::create;
pub use hash::{BadHash, KeyHash};
pub use judge::{check_validity, judge, unauthenticated, unknown_key};
pub use record::{ApiKey, KeyInfo};
pub use revoke::revoke;
pub use role::{BadRole, Role};
pub use text::{BadKey, SecretKey};
