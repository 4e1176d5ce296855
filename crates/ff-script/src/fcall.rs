//! A call of a function: its keys and arguments in order, and their encoding.

use bytes::Bytes;

use crate::signature::Signature;

/// A call of one function of the library.
#[derive(Clone)]
pub struct Fcall {
    /// The signature of the function.
    pub signature: &'static Signature,
    /// The keys, all in one slot.
    pub keys: Vec<String>,
    /// The encoded arguments.
    pub args: Vec<Bytes>,
}

/// Absent values are empty, flags are `1` or empty, numbers and times are text.
impl Fcall {
    pub(crate) fn new(signature: &'static Signature) -> Self {
        Self { signature, keys: Vec::with_capacity(1), args: Vec::with_capacity(signature.args.len()) }
    }

    pub(crate) fn key(&mut self, key: String) {
        self.keys.push(key);
    }

    pub(crate) fn text(&mut self, text: String) {
        self.args.push(text.into());
    }

    pub(crate) fn maybe_text(&mut self, text: Option<String>) {
        self.text(text.unwrap_or_default());
    }

    pub(crate) fn int(&mut self, number: u64) {
        self.text(number.to_string());
    }

    pub(crate) fn maybe_int(&mut self, number: Option<u64>) {
        self.maybe_text(number.map(|number| number.to_string()));
    }

    pub(crate) fn flag(&mut self, set: bool) {
        self.args.push(Bytes::from_static(if set { b"1" } else { b"" }));
    }

    pub(crate) fn bytes(&mut self, bytes: Bytes) {
        self.args.push(bytes);
    }

    /// Appends text that may be present and empty: the prefix `=` distinguishes it from absent text.
    pub(crate) fn maybe_free(&mut self, text: Option<String>) {
        self.maybe_text(text.map(|text| format!("={text}")));
    }

    pub(crate) fn list(&mut self, items: Vec<Bytes>) {
        self.int(items.len() as u64);
        self.args.extend(items);
    }

    /// Replaces the arguments with these items.
    pub(crate) fn all(&mut self, items: Vec<Bytes>) {
        self.args = items;
    }

    /// Appends the number of triples, and then their items.
    pub(crate) fn triples(&mut self, triples: Vec<[Bytes; 3]>) {
        self.int(triples.len() as u64);
        self.args.extend(triples.into_iter().flatten());
    }
}
