//! The functions as their headers say them: one struct each, with the keys and arguments as fields.

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
    /// How many of the keys must be sent: those after them came later than the function was published.
    pub keys_required: usize,
    /// How many of the arguments must be sent, likewise.
    pub args_required: usize,
    /// The fields of its answer.
    pub answers: &'static [&'static str],
    /// The codes it may refuse with.
    pub refusals: &'static [&'static str],
    pub flags: &'static [&'static str],
}

include!(concat!(env!("OUT_DIR"), "/signatures.rs"));
