//! The thread that writes. It owns the writing connection and the right to the file, and gives both up when its queue is
//! closed and empty.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use ff_backend_sql::{WriterHandle, queue, write};
use ff_core::entropy::Entropy;
use ff_core::partition::PartitionConfig;
use tokio::sync::watch;

use crate::owner::Owner;
use crate::session::WriterSession;

/// The writer, as the rest of the store sees it.
pub(crate) struct Writer {
    // Dropped before the thread is waited for: without a sender, the thread ends.
    pub(crate) writer: WriterHandle,
    _thread: WriterThread,
    ended: watch::Receiver<()>,
}

impl Writer {
    /// Starts the thread.
    pub(crate) fn start(
        mut session: WriterSession,
        owner: Owner,
        partitions: PartitionConfig,
        entropy: Arc<dyn Entropy>,
    ) -> io::Result<Self> {
        let (writer, queue) = queue();
        let (running, ended) = watch::channel(());
        let work = move || {
            pollster::block_on(write(&mut session, queue, &partitions, &*entropy));
            if let Err(error) = session.into_connection().checkpoint() {
                tracing::warn!(%error, "the log was left beside the store; the next opening takes it up");
            }
            drop(owner);
            drop(running);
        };
        let thread = thread::Builder::new().name("ff-sqlite-writer".into()).spawn(work)?;
        Ok(Self { writer, _thread: WriterThread(Some(thread)), ended })
    }

    /// Accepts no more operations, waits until the queue is done and the file is free.
    pub(crate) async fn close(&self) {
        self.writer.close().await;
        // Nothing is ever sent: it ends with the thread, and that is the news.
        self.ended.clone().changed().await.ok();
    }
}

/// A thread that is waited for, so that the file is free when the store is gone.
struct WriterThread(Option<JoinHandle<()>>);

impl Drop for WriterThread {
    fn drop(&mut self) {
        if let Some(thread) = self.0.take()
            && thread.join().is_err()
        {
            tracing::error!("the writer panicked");
        }
    }
}
