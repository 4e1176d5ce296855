//! The signatures of the functions, and one generated struct each, with the keys and arguments as fields.

use bytes::Bytes;

use crate::Fcall;

/// The header of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    pub name: &'static str,
    /// The domain it belongs to.
    pub domain: &'static str,
    pub keys: &'static [&'static str],
    pub args: &'static [&'static str],
    /// Number of keys that must be sent; later keys were added after the function was published.
    pub keys_required: usize,
    /// Number of arguments that must be sent, likewise.
    pub args_required: usize,
    /// The fields of the answer.
    pub answers: &'static [&'static str],
    /// The codes of its refusals.
    pub refusals: &'static [&'static str],
    pub flags: &'static [&'static str],
}

include!(concat!(env!("OUT_DIR"), "/signatures.rs"));
