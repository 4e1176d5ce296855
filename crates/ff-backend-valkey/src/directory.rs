//! Directories: on which partitions a namespace has executions, and a label, and which lanes there are. They lie outside the
//! partitions, so they are written before the executions they speak of; they may say too much and never too little.

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

/// Lanes the server names before it lets others in.
const SCANNED_AT_ONCE: usize = 1_000;

/// How long what is written again is waited for.
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

    /// The entries of labels.
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

/// The entries that were written, and in which era. An entry of an era before this one may have been lost since, and
/// one of none could not be written again.
#[derive(Default)]
struct DirectoryEntry {
    era: u64,
    entries: HashMap<Entry, Option<u64>>,
}

/// Entries known before they are all forgotten: some hundred namespaces on all partitions.
const KNOWN: usize = 100_000;

impl Directory {
    /// Makes sure that all of this is said.
    ///
    /// An entry of an earlier era is most likely still there. It is written again by a task of its own, which is
    /// waited for only a moment: no work is refused or held up while a directory's server is away.
    pub(crate) async fn note(&self, link: &Arc<Link>, entries: &[Entry]) -> Answer<()> {
        let (doubted, unwritten) = self.unwritten(entries);
        let again = self.write_again(link, doubted);
        // All at once: the first caller is served first, however much there is to write for it.
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

    /// Whether all of this is known to be said.
    pub(crate) fn has(&self, entries: &[Entry]) -> bool {
        let written = lock(&self.0);
        entries.iter().all(|entry| written.entries.get(entry) == Some(&Some(written.era)))
    }

    /// Writes again what may have been lost. Others take it for written meanwhile.
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

    /// The partitions on which a namespace may have executions.
    pub(crate) async fn partitions(&self, link: &Arc<Link>, namespace: &Namespace) -> Answer<Vec<u16>> {
        self.members(link, &namespace_executions_key(namespace.as_str())).await
    }

    /// The partitions on which executions may have a label.
    pub(crate) async fn labelled(
        &self,
        link: &Arc<Link>,
        namespace: &Namespace,
        (key, value): (&TagKey, &TagValue),
    ) -> Answer<Vec<u16>> {
        self.members(link, &tag_index_key(namespace.as_str(), key.as_str(), value.as_str())).await
    }

    /// The lanes there may be, named as indexes name them, in no order. There may be many, so the server is asked for some
    /// of them at a time.
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

    /// Entries written until now may be lost, and are written again when they are needed.
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

    /// The entries that are not written in this era, and which that is: those that were in one before, and those of which
    /// that is not known.
    #[allow(clippy::type_complexity, reason = "two lists of the same kind")]
    fn unwritten<'e>(&self, entries: &'e [Entry]) -> (Vec<(&'e Entry, u64)>, Vec<(&'e Entry, u64)>) {
        let written = lock(&self.0);
        let of_now = |entry: &&'e Entry| written.entries.get(*entry) != Some(&Some(written.era));
        let unwritten = entries.iter().filter(of_now).map(|entry| (entry, written.era));
        unwritten.partition(|(entry, _)| written.entries.contains_key(*entry))
    }
}

/// Asks a directory.
async fn ask(link: &Link, key: &str, command: Cmd) -> Answer<redis::Value> {
    link.send(key, &[command]).await.map_err(|failed| call_failed(&failed))
}

/// Has a directory say something.
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

    /// It could not be written again.
    fn doubt(&mut self, entry: &Entry) {
        if let Some(era) = self.entries.get_mut(entry) {
            *era = None;
        }
    }
}
