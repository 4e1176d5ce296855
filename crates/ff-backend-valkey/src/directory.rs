//! Directories: on which partitions a namespace has executions. They lie outside the partitions, so they are written before
//! the executions they speak of; they may say too much and never too little.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ff_core::backend::Answer;
use ff_core::engine_error::EngineError;
use ff_core::keys::namespace_executions_key;
use ff_core::types::Namespace;
use redis::{FromRedisValue, cmd};

use crate::calls::Calls;

/// What this process knows to be written.
#[derive(Default)]
pub(crate) struct Directory(Mutex<Written>);

/// What was written, and in which era. An entry of an era before this one may have been lost since.
#[derive(Default)]
struct Written {
    era: u64,
    entries: HashMap<(Namespace, u16), u64>,
}

/// Entries known before they are all forgotten: some hundred namespaces on all partitions.
const KNOWN: usize = 100_000;

impl Directory {
    /// Makes sure a namespace is known to have executions on a partition.
    ///
    /// What was written in an era before is most likely still there, so no work is refused while it cannot be written
    /// again.
    pub(crate) async fn note(&self, calls: &Calls, namespace: &Namespace, partition: u16) -> Answer<()> {
        let entry = (namespace.clone(), partition);
        let (era, written) = {
            let written = self.written();
            (written.era, written.entries.get(&entry).copied())
        };
        if written == Some(era) {
            return Ok(());
        }
        let key = namespace_executions_key(namespace.as_str());
        match calls.plain(&key, cmd("SADD").arg(&key).arg(partition).clone()).await {
            Ok(_) => self.written().remember(entry, era),
            Err(error) if written.is_some() => tracing::debug!(%error, "a directory cannot be written again yet"),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// The partitions on which a namespace may have executions.
    pub(crate) async fn partitions(&self, calls: &Calls, namespace: &Namespace) -> Answer<Vec<u16>> {
        let key = namespace_executions_key(namespace.as_str());
        let reply = calls.plain(&key, cmd("SMEMBERS").arg(&key).clone()).await?;
        let mut partitions = Vec::<u16>::from_redis_value(reply)
            .map_err(|_| EngineError::Corrupt(format!("{key} names something that is not a partition")))?;
        partitions.sort_unstable();
        Ok(partitions)
    }

    /// What was written until now may be lost, and is written again when it is needed.
    pub(crate) fn doubt(&self) {
        self.written().era += 1;
    }

    fn written(&self) -> MutexGuard<'_, Written> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Written {
    fn remember(&mut self, entry: (Namespace, u16), era: u64) {
        if self.entries.len() >= KNOWN {
            self.entries.clear();
        }
        self.entries.insert(entry, era);
    }
}
