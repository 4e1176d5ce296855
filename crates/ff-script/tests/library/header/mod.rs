//! The headers of the Lua files: signatures, refusals and flags, compared with the code and with what was published.

mod codes;
mod contract;
pub(crate) mod files;
mod flags;
mod signatures;
