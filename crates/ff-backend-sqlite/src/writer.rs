//! The writer thread. It owns the writing connection and the file, and releases both when its queue is closed and empty.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use ff_backend_sql::{WriterHandle, queue, write};
use ff_core::backend::entropy::Entropy;
use ff_core::partition::PartitionConfig;
use tokio::sync::watch;

use crate::owner::Owner;
use crate::session::WriterSession;

/// Handle of the writer thread.
pub(crate) struct Writer {
    // Dropped before the thread is joined: the thread ends when no sender is left.
    pub(crate) writer: WriterHandle,
    _thread: WriterThread,
    ended: watch::Receiver<()>,
}

impl Writer {
    /// Starts the writer thread.
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
                tracing::warn!(%error, "the write-ahead log was not merged into the file; the next start does it");
            }
            drop(owner);
            drop(running);
        };
        let thread = thread::Builder::new().name("ff-sqlite-writer".into()).spawn(work)?;
        Ok(Self { writer, _thread: WriterThread(Some(thread)), ended })
    }

    /// Accepts no more operations, and waits until the queue is done and the file is free.
    pub(crate) async fn close(&self) {
        self.writer.close().await;
        // No value is ever sent. The channel closes when the thread ends.
        self.ended.clone().changed().await.ok();
    }
}

/// A thread that is joined when dropped, so that the file is free once the store is dropped.
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
