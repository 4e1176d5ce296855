//! The writers: each has a queue, a connection and a thread, and serves the partitions whose remainder is its number. The
//! connection lives on the thread of its writer, so that neither waits for the other to be woken.

use std::io;
use std::sync::Arc;
use std::thread;

use ff_backend_sql::{Asker, queues, write};
use ff_core::dice::Dice;
use ff_core::partition::PartitionConfig;
use tokio::runtime::Builder;
use tokio::sync::watch;

use crate::session::Writing;

/// The writers, as the rest of the store sees them. Without anybody to ask them they finish what is queued, and end.
pub(crate) struct Writers {
    pub(crate) asker: Asker,
    ended: watch::Receiver<()>,
}

impl Writers {
    /// Starts a writer with each of these connections.
    pub(crate) fn start(sessions: Vec<Writing>, partitions: PartitionConfig, dice: &Arc<dyn Dice>) -> io::Result<Self> {
        let (asker, queues) = queues(sessions.len(), partitions);
        let (running, ended) = watch::channel(());
        let running = Arc::new(running);
        for (mut session, queue) in sessions.into_iter().zip(queues) {
            let (dice, running) = (dice.clone(), running.clone());
            let runtime = Builder::new_current_thread().enable_all().build()?;
            let work = move || {
                runtime.block_on(write(&mut session, queue, &partitions, &*dice));
                drop(running);
            };
            thread::Builder::new().name("ff-pg-writer".into()).spawn(work)?;
        }
        Ok(Self { asker, ended })
    }

    /// Has what is queued done, lets nobody else in, and waits for the last of it.
    pub(crate) async fn close(&self) {
        self.asker.close().await;
        // Nothing is ever sent: it ends with the last writer, and that is the news.
        self.ended.clone().changed().await.ok();
    }
}
