//! The resources of a section of the file: they have a name, and can be listed, written and removed.

use std::collections::BTreeMap;
use std::fmt::Display;

use ff_core::engine_error::Refusal;
use ff_core::types::Namespace;
use ff_sdk::Client;
use serde::Serialize;

/// The entry of one resource in its section. Entries are compared as they are written into a file.
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

    /// The entry as the store would show it once it is applied: with the store's defaults filled in.
    fn completed(self, _stored: Option<&Self>) -> anyhow::Result<Self> {
        Ok(self)
    }

    /// The entry of a resource that was never written, for resources that exist by default.
    fn unwritten() -> Option<Self> {
        None
    }

    /// The entry that pruning leaves of a stored one; `None` when it is deleted.
    fn pruned(&self) -> Option<Self> {
        None
    }

    /// Writes `to`, or deletes the resource. `from` is the entry in the store.
    async fn write(
        client: &Client,
        namespace: &Namespace,
        name: Self::Name,
        from: Option<Self>,
        to: Option<Self>,
    ) -> anyhow::Result<()>;
}
