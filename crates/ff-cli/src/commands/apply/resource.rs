//! What a section of the file is about: things with a name that can be listed, written and removed.

use std::collections::BTreeMap;
use std::fmt::Display;

use ff_core::engine_error::Refusal;
use ff_core::types::Namespace;
use ff_sdk::Client;
use serde::Serialize;

/// The entry of one thing in its section. What is compared is what it writes into a file.
pub(super) trait Resource: Clone + Serialize {
    type Name: Clone + Ord + Display;

    /// The section's name in the file.
    const SECTION: &'static str;

    /// One of it in a sentence.
    const NOUN: &'static str;

    /// Refuses an entry that no store would accept.
    fn check(&self, namespace: &Namespace, name: &Self::Name) -> Result<(), Refusal>;

    /// All of them in a namespace, as a file would have them.
    async fn stored(client: &Client, namespace: &Namespace) -> anyhow::Result<BTreeMap<Self::Name, Self>>;

    /// The entry as the store would show it, once it is made so: what it leaves to the store is filled in.
    fn completed(self, _stored: Option<&Self>) -> anyhow::Result<Self> {
        Ok(self)
    }

    /// What one is like that was never written, for things that exist without being made.
    fn unwritten() -> Option<Self> {
        None
    }

    /// What is left of a stored one that the file does not name: nothing when it is deleted.
    fn pruned(&self) -> Option<Self> {
        None
    }

    /// Makes it so, or deletes it. `from` is what the store had.
    async fn write(
        client: &Client,
        namespace: &Namespace,
        name: Self::Name,
        from: Option<Self>,
        to: Option<Self>,
    ) -> anyhow::Result<()>;
}
