//! The writers. Each has a queue, a connection and a thread; writer `w` of `W` serves the partitions with remainder `w`. The
//! connection runs on the thread of its writer, so that neither has to wake the other.

use std::sync::Arc;
use std::{io, thread};

use ff_backend_sql::{WriterHandle, queues, write};
use ff_core::backend::entropy::Entropy;
use ff_core::partition::PartitionConfig;
use tokio::runtime::Builder;
use tokio::sync::watch;

use crate::session::WriterSession;

/// Handle of the writers. When it is dropped, they finish their queues and end.
pub(crate) struct Writers {
    pub(crate) writer: WriterHandle,
    ended: watch::Receiver<()>,
}

impl Writers {
    /// Starts a writer for each session.
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

    /// Accepts no more operations, and waits until the queues are done.
    pub(crate) async fn close(&self) {
        self.writer.close().await;
        // No value is ever sent. The channel closes when the last writer ends.
        self.ended.clone().changed().await.ok();
    }
}
