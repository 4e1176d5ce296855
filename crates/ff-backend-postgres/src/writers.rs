//! The writers: each has a queue, a connection and a thread, and serves the partitions whose remainder is its number. The
//! connection lives on the thread of its writer, so that neither waits for the other to be woken.

use std::sync::Arc;
use std::{io, thread};

use ff_backend_sql::{WriterHandle, queues, write};
use ff_core::entropy::Entropy;
use ff_core::partition::PartitionConfig;
use tokio::runtime::Builder;
use tokio::sync::watch;

use crate::session::WriterSession;

/// The handle of the writers. When it is dropped, they finish the queue and end.
pub(crate) struct Writers {
    pub(crate) writer: WriterHandle,
    ended: watch::Receiver<()>,
}

impl Writers {
    /// Starts a writer with each of these connections.
    pub(crate) fn start(
        sessions: Vec<WriterSession>,
        partitions: PartitionConfig,
        entropy: &Arc<dyn Entropy>,
    ) -> io::Result<Self> {
        let (writer, queues) = queues(sessions.len(), partitions);
        let (running, ended) = watch::channel(());
        let running = Arc::new(running);
        for (mut session, queue) in sessions.into_iter().zip(queues) {
            let (entropy, running) = (entropy.clone(), running.clone());
            let runtime = Builder::new_current_thread().enable_all().build()?;
            let work = move || {
                runtime.block_on(write(&mut session, queue, &partitions, &*entropy));
                drop(running);
            };
            thread::Builder::new().name("ff-pg-writer".into()).spawn(work)?;
        }
        Ok(Self { writer, ended })
    }

    /// Accepts no more operations, and waits until the queue is done.
    pub(crate) async fn close(&self) {
        self.writer.close().await;
        // Nothing is ever sent: it ends with the last writer, and that is the news.
        self.ended.clone().changed().await.ok();
    }
}
