//! The trait of the resources in a section of the file: each has a name, and can be listed, written and deleted.

use std::collections::BTreeMap;
use std::fmt::Display;

use ff_core::engine_error::Refusal;
use ff_core::types::Namespace;
use ff_sdk::Client;
use serde::Serialize;

/// A namespace, with the client that reaches its resources.
#[derive(Clone)]
pub(super) struct Tenant {
    pub(super) client: Client,
    pub(super) namespace: Namespace,
}

/// The entry of one resource in its section. Entries are compared in their serialized form.
pub(super) trait Resource: Clone + Serialize {
    type Name: Clone + Ord + Display;

    /// The name of the section in the file.
    const SECTION: &'static str;

    /// The singular noun for messages.
    const NOUN: &'static str;

    /// Refuses an invalid entry.
    fn check(&self, namespace: &Namespace, name: &Self::Name) -> Result<(), Refusal>;

    /// Returns the entries of all stored resources of a namespace.
    async fn stored(tenant: &Tenant) -> anyhow::Result<BTreeMap<Self::Name, Self>>;

    /// Returns the entry as the store would return it once it is applied: with defaults filled in.
    fn completed(self, _stored: Option<&Self>) -> anyhow::Result<Self> {
        Ok(self)
    }

    /// Returns the entry of a resource that was never written, if resources of this kind exist by default.
    fn unwritten() -> Option<Self> {
        None
    }

    /// Returns the entry that pruning leaves in place of a stored one; `None` if pruning deletes the resource.
    fn pruned(&self) -> Option<Self> {
        None
    }

    /// Writes `to`, or deletes the resource if it is `None`. `from` is the stored entry.
    async fn write(tenant: &Tenant, name: Self::Name, from: Option<Self>, to: Option<Self>) -> anyhow::Result<()>;
}
