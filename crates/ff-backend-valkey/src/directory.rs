//! Directories: on which partitions a namespace has executions, and a label, and which lanes there are. They lie outside the
//! partitions, so they are written before the executions they speak of; they may say too much and never too little.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ff_core::backend::Answer;
use ff_core::engine_error::EngineError;
use ff_core::execution::Tags;
use ff_core::keys::{lanes_index_key, namespace_executions_key, tag_index_key};
use ff_core::types::{LaneId, Namespace, TagKey, TagValue};
use futures_util::future::join_all;
use redis::{FromRedisValue, cmd};

use crate::calls::Calls;

/// What this process knows to be written.
#[derive(Default)]
pub(crate) struct Directory(Mutex<Written>);

/// What a directory says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Entry {
    /// A namespace has executions on a partition.
    Tenant(Namespace, u16),
    /// Executions on a partition have a label.
    Label(Namespace, TagKey, TagValue, u16),
    /// There is a lane, named as indexes name it.
    Lane(LaneId),
}

impl Entry {
    /// Everything that is said of an execution.
    pub(crate) fn of<'w>(
        namespace: &'w Namespace,
        lane: &LaneId,
        tags: &'w Tags,
        partition: u16,
    ) -> impl Iterator<Item = Self> + use<'w> {
        let first = [Self::Tenant(namespace.clone(), partition), Self::Lane(lane.within(namespace))];
        first.into_iter().chain(Self::labels(namespace, tags, partition))
    }

    /// What is said of labels.
    pub(crate) fn labels<'w>(
        namespace: &'w Namespace,
        tags: &'w Tags,
        partition: u16,
    ) -> impl Iterator<Item = Self> + use<'w> {
        tags.iter().map(move |(key, value)| Self::Label(namespace.clone(), key.clone(), value.clone(), partition))
    }

    /// The set that says it.
    fn key(&self) -> String {
        match self {
            Self::Tenant(namespace, _) => namespace_executions_key(namespace.as_str()),
            Self::Label(namespace, key, value, _) => tag_index_key(namespace.as_str(), key.as_str(), value.as_str()),
            Self::Lane(_) => lanes_index_key(),
        }
    }

    fn member(&self) -> String {
        match self {
            Self::Tenant(_, partition) | Self::Label(_, _, _, partition) => partition.to_string(),
            Self::Lane(lane) => lane.to_string(),
        }
    }
}

/// What was written, and in which era. An entry of an era before this one may have been lost since.
#[derive(Default)]
struct Written {
    era: u64,
    entries: HashMap<Entry, u64>,
}

/// Entries known before they are all forgotten: some hundred namespaces on all partitions.
const KNOWN: usize = 100_000;

impl Directory {
    /// Makes sure that all of this is said.
    ///
    /// What was written in an era before is most likely still there, so no work is refused while it cannot be written
    /// again.
    pub(crate) async fn note(&self, calls: &Calls, entries: &[Entry]) -> Answer<()> {
        let unwritten = self.unwritten(entries);
        // All at once: who comes first is asked first, whatever there is to write for it.
        let writing = unwritten.iter().map(|(entry, ..)| {
            let key = entry.key();
            async move { calls.plain(&key, cmd("SADD").arg(&key).arg(entry.member()).clone()).await }
        });
        let answers = join_all(writing).await;
        for ((entry, era, before), answer) in unwritten.into_iter().zip(answers) {
            match answer {
                Ok(_) => self.written().remember(entry.clone(), era),
                Err(error) if before => tracing::debug!(%error, "a directory cannot be written again yet"),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The partitions on which a namespace may have executions.
    pub(crate) async fn partitions(&self, calls: &Calls, namespace: &Namespace) -> Answer<Vec<u16>> {
        self.members(calls, &namespace_executions_key(namespace.as_str())).await
    }

    /// The partitions on which executions may have a label.
    pub(crate) async fn labelled(
        &self,
        calls: &Calls,
        namespace: &Namespace,
        (key, value): (&TagKey, &TagValue),
    ) -> Answer<Vec<u16>> {
        self.members(calls, &tag_index_key(namespace.as_str(), key.as_str(), value.as_str())).await
    }

    /// The lanes there may be, named as indexes name them.
    pub(crate) async fn lanes(&self, calls: &Calls) -> Answer<Vec<String>> {
        self.members(calls, &lanes_index_key()).await
    }

    /// What was written until now may be lost, and is written again when it is needed.
    pub(crate) fn doubt(&self) {
        self.written().era += 1;
    }

    async fn members<T: FromRedisValue + Ord>(&self, calls: &Calls, key: &str) -> Answer<Vec<T>> {
        let reply = calls.plain(key, cmd("SMEMBERS").arg(key).clone()).await?;
        let mut members = Vec::<T>::from_redis_value(reply)
            .map_err(|_| EngineError::Corrupt(format!("{key} names something that it cannot")))?;
        members.sort_unstable();
        Ok(members)
    }

    /// The entries that are not written in this era, which that is, and whether they were in one before.
    fn unwritten<'e>(&self, entries: &'e [Entry]) -> Vec<(&'e Entry, u64, bool)> {
        let written = self.written();
        let of = |entry: &'e Entry| {
            let known = written.entries.get(entry).copied();
            (known != Some(written.era)).then_some((entry, written.era, known.is_some()))
        };
        entries.iter().filter_map(of).collect()
    }

    fn written(&self) -> MutexGuard<'_, Written> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Written {
    fn remember(&mut self, entry: Entry, era: u64) {
        if self.entries.len() >= KNOWN {
            self.entries.clear();
        }
        self.entries.insert(entry, era);
    }
}
