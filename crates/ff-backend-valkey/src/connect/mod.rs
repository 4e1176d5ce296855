//! Connecting to a store: its URL, the options, the checks of the server, and the errors.

mod boot;
mod error;
mod options;
mod probe;
mod url;

pub use error::ConnectError;
pub use options::{Durability, ValkeyOptions};
pub use url::StoreLocation;
