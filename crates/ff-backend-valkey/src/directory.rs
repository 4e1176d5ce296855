//! Directories: sets that name the partitions on which a namespace or a label has executions, and the lanes. They
//! belong to no partition, so they are written before the executions they refer to. They may name too much, but never
//! too little.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ff_core::backend::Answer;
use ff_core::engine_error::EngineError;
use ff_core::execution::Tags;
use ff_core::keys::{lanes_index_key, namespace_executions_key, tag_index_key};
use ff_core::types::{LaneId, Namespace, TagKey, TagValue};
use futures_util::future::join_all;
use redis::{Cmd, FromRedisValue, cmd};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::link::{CallFailure, Link, call_failed};

/// Number of lanes that one scan step reads before other calls get their turn.
const SCANNED_AT_ONCE: usize = 1_000;

/// Maximum wait for entries that are written again.
const A_MOMENT: Duration = Duration::from_millis(100);

/// The entries that this process knows to be written.
#[derive(Default)]
pub(crate) struct Directory(Arc<Mutex<DirectoryEntry>>);

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Entry {
    /// A namespace has executions on a partition.
    Tenant(Namespace, u16),
    /// Executions on a partition have a label.
    Label(Namespace, TagKey, TagValue, u16),
    /// A lane exists; it has its name in indexes.
    Lane(LaneId),
}

impl Entry {
    /// Returns the entries of an execution.
    pub(crate) fn of<'w>(
        namespace: &'w Namespace,
        lane: &LaneId,
        tags: &'w Tags,
        partition: u16,
    ) -> impl Iterator<Item = Self> + use<'w> {
        let first = [Self::Tenant(namespace.clone(), partition), Self::Lane(lane.within(namespace))];
        first.into_iter().chain(Self::labels(namespace, tags, partition))
    }

    /// Returns the entries of labels.
    pub(crate) fn labels<'w>(
        namespace: &'w Namespace,
        tags: &'w Tags,
        partition: u16,
    ) -> impl Iterator<Item = Self> + use<'w> {
        tags.iter().map(move |(key, value)| Self::Label(namespace.clone(), key.clone(), value.clone(), partition))
    }

    /// Returns the key of the set that has the entry.
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

/// The written entries, each with the era in which it was written. An entry of an earlier era may have been lost since.
/// An entry without an era could not be written again.
#[derive(Default)]
struct DirectoryEntry {
    era: u64,
    entries: HashMap<Entry, Option<u64>>,
}

/// Maximum number of remembered entries, enough for some hundred namespaces on all partitions. Beyond it, all are
/// forgotten.
const KNOWN: usize = 100_000;

impl Directory {
    /// Makes sure that all entries are written.
    ///
    /// An entry of an earlier era most likely still exists. A separate task writes it again, and the caller waits for
    /// that task only a moment: no work is refused or held up while the server of a directory is away.
    pub(crate) async fn note(&self, link: &Arc<Link>, entries: &[Entry]) -> Answer<()> {
        let (doubted, unwritten) = self.unwritten(entries);
        let again = self.write_again(link, doubted);
        // Write all entries at once, so that the first caller is served first, however many it has.
        let answers = join_all(unwritten.iter().map(|(entry, _)| write(link, entry))).await;
        for ((entry, era), answer) in unwritten.into_iter().zip(answers) {
            answer.map_err(|failed| call_failed(&failed))?;
            lock(&self.0).remember(entry.clone(), era);
        }
        if let Some(again) = again {
            timeout(A_MOMENT, again).await.ok();
        }
        Ok(())
    }

    /// Returns whether all entries are known to be written.
    pub(crate) fn has(&self, entries: &[Entry]) -> bool {
        let written = lock(&self.0);
        entries.iter().all(|entry| written.entries.get(entry) == Some(&Some(written.era)))
    }

    /// Writes again the entries that may have been lost. Other callers treat them as written meanwhile.
    fn write_again(&self, link: &Arc<Link>, doubted: Vec<(&Entry, u64)>) -> Option<JoinHandle<()>> {
        if doubted.is_empty() {
            return None;
        }
        let doubted: Vec<_> = doubted.into_iter().map(|(entry, era)| (entry.clone(), era)).collect();
        for (entry, era) in &doubted {
            lock(&self.0).remember(entry.clone(), *era);
        }
        let (link, written) = (link.clone(), self.0.clone());
        Some(tokio::spawn(async move {
            let answers = join_all(doubted.iter().map(|(entry, _)| write(&link, entry))).await;
            for ((entry, _), answer) in doubted.iter().zip(answers) {
                if let Err(failed) = answer {
                    tracing::debug!(error = %call_failed(&failed), "a directory cannot be written again yet");
                    lock(&written).doubt(entry);
                }
            }
        }))
    }

    /// Returns the partitions on which a namespace may have executions.
    pub(crate) async fn partitions(&self, link: &Arc<Link>, namespace: &Namespace) -> Answer<Vec<u16>> {
        self.members(link, &namespace_executions_key(namespace.as_str())).await
    }

    /// Returns the partitions on which executions may have a label.
    pub(crate) async fn labelled(
        &self,
        link: &Arc<Link>,
        namespace: &Namespace,
        (key, value): (&TagKey, &TagValue),
    ) -> Answer<Vec<u16>> {
        self.members(link, &tag_index_key(namespace.as_str(), key.as_str(), value.as_str())).await
    }

    /// Returns the lanes that may exist, by their names in indexes, in no order. There may be many, so the server is
    /// asked for some at a time.
    pub(crate) async fn lanes(&self, link: &Arc<Link>) -> Answer<Vec<String>> {
        let key = lanes_index_key();
        let (mut lanes, mut cursor) = (BTreeSet::new(), 0_u64);
        loop {
            let scan = cmd("SSCAN").arg(&key).arg(cursor).arg("COUNT").arg(SCANNED_AT_ONCE).clone();
            let reply = ask(link, &key, scan).await?;
            let (next, some) = <(u64, Vec<String>)>::from_redis_value(reply)
                .map_err(|_| EngineError::Corrupt(format!("{key} names something that it cannot")))?;
            lanes.extend(some);
            if next == 0 {
                return Ok(lanes.into_iter().collect());
            }
            cursor = next;
        }
    }

    /// Marks all written entries as possibly lost, so that they are written again when needed.
    pub(crate) fn doubt(&self) {
        lock(&self.0).era += 1;
    }

    async fn members<T: FromRedisValue + Ord>(&self, link: &Arc<Link>, key: &str) -> Answer<Vec<T>> {
        let reply = ask(link, key, cmd("SMEMBERS").arg(key).clone()).await?;
        let mut members = Vec::<T>::from_redis_value(reply)
            .map_err(|_| EngineError::Corrupt(format!("{key} names something that it cannot")))?;
        members.sort_unstable();
        Ok(members)
    }

    /// Returns the entries that were not written in this era, each with the number of the era: first those that were
    /// written before or could not be written again, then the unknown ones.
    #[allow(clippy::type_complexity, reason = "two lists of the same kind")]
    fn unwritten<'e>(&self, entries: &'e [Entry]) -> (Vec<(&'e Entry, u64)>, Vec<(&'e Entry, u64)>) {
        let written = lock(&self.0);
        let of_now = |entry: &&'e Entry| written.entries.get(*entry) != Some(&Some(written.era));
        let unwritten = entries.iter().filter(of_now).map(|entry| (entry, written.era));
        unwritten.partition(|(entry, _)| written.entries.contains_key(*entry))
    }
}

/// Sends a command to the server of a directory.
async fn ask(link: &Link, key: &str, command: Cmd) -> Answer<redis::Value> {
    link.send(key, &[command]).await.map_err(|failed| call_failed(&failed))
}

/// Adds an entry to its directory.
async fn write(link: &Link, entry: &Entry) -> Result<redis::Value, CallFailure> {
    let key = entry.key();
    link.send(&key, &[cmd("SADD").arg(&key).arg(entry.member()).clone()]).await
}

fn lock(written: &Mutex<DirectoryEntry>) -> MutexGuard<'_, DirectoryEntry> {
    written.lock().unwrap_or_else(PoisonError::into_inner)
}

impl DirectoryEntry {
    fn remember(&mut self, entry: Entry, era: u64) {
        if self.entries.len() >= KNOWN {
            self.entries.clear();
        }
        self.entries.insert(entry, Some(era));
    }

    /// Marks an entry that could not be written again.
    fn doubt(&mut self, entry: &Entry) {
        if let Some(era) = self.entries.get_mut(entry) {
            *era = None;
        }
    }
}
