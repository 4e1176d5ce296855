//! The end of a batch: its writes are committed and its hints are sent.

use std::sync::atomic::Ordering;

use ff_backend_sql::{SqlError, Value};
use ff_core::engine_error::EngineError;
use ff_core::hint::Hint;
use ff_core::outage::OutageLog;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::task::yield_now;

use super::{WriterSession, first_trouble};
use crate::connection::Answer;
use crate::driver_error::DriverError;
use crate::value::Parameter;

/// A commit that is sent and not yet answered.
pub(super) struct UnansweredCommit {
    answer: BoxFuture<'static, Result<(), CommitError>>,
    hints: Vec<Hint>,
}

/// Why a commit failed.
enum CommitError {
    /// A statement before it did.
    Before(DriverError),
    /// It is the one statement that writes: a server takes it for a transaction.
    Within(DriverError),
    /// It is a statement behind those that write.
    Behind(DriverError),
}

impl WriterSession {
    pub(super) async fn commit_and_notify(&mut self, hints: Vec<Hint>) -> Result<(), SqlError> {
        // Preparing it is all that can fail so far.
        let (commit, is_within) = match self.send_commit(&hints).await {
            Ok(commit) => commit,
            Err(error) => return Err(self.before_commit(error).await),
        };
        self.in_transaction = false;
        self.send_note(&hints).await;
        // Hints of work lead to this writer, whose next batch finds the work committed or not there. They are announced
        // while the server is busy, after the connection has sent what it has.
        let (of_work, hints): (Vec<_>, Vec<_>) = hints.into_iter().partition(is_of_work);
        yield_now().await;
        self.announcer.announce(of_work);
        let answer = answer_of(std::mem::take(&mut self.sent), commit, is_within).boxed();
        self.unanswered = Some(UnansweredCommit { answer, hints });
        Ok(())
    }

    pub(super) async fn confirm_commit(&mut self) -> Result<(), SqlError> {
        let Some(UnansweredCommit { answer, .. }) = &mut self.unanswered else { return Ok(()) };
        let answered = answer.await;
        let hints = self.unanswered.take().map(|commit| commit.hints).unwrap_or_default();
        match answered {
            Ok(()) => {}
            Err(CommitError::Before(error)) => {
                self.note_setback(&error);
                return Err(error.with_commit());
            }
            Err(CommitError::Within(error)) => {
                self.note_setback(&error);
                return Err(error.within_commit());
            }
            Err(CommitError::Behind(error)) => {
                self.note_setback(&error);
                self.lose_connection();
                return Err(SqlError::Failed(error.why().to_owned()));
            }
        }
        self.connector.meter.commits.fetch_add(1, Ordering::Relaxed);
        // Callers are answered first: the spawned task begins once this one waits.
        let announcer = self.announcer.clone();
        tokio::spawn(async move { announcer.announce(hints) });
        Ok(())
    }

    /// Sends what is still to be written and what makes it durable, and says whether that is one statement.
    async fn send_commit(&mut self, hints: &[Hint]) -> Result<(Answer, bool), DriverError> {
        let moment = vec![Parameter::one(self.now.into()), Parameter::one(Value::Int(self.slot.into()))];
        self.notes.notice(hints).into_iter().for_each(|note| self.unsent.add(note));
        self.unsent.add((self.frame.remember.clone(), moment));
        let mut writes = self.unsent.take(&mut self.statement_cache);
        if let ([_], false) = (&writes[..], self.in_transaction)
            && let Some((sql, parameters)) = writes.pop()
        {
            return Ok((self.ask_for(&sql, parameters).await?, true));
        }
        for (sql, parameters) in writes {
            self.send_write(&sql, parameters).await?;
        }
        Ok((self.ask_for(&self.frame.commit.clone(), vec![]).await?, false))
    }

    /// Sends the note of a commit right behind it, so that other programs are notified even if this one dies before the
    /// answer. If the commit failed, the note is harmless.
    async fn send_note(&mut self, hints: &[Hint]) {
        if let (Some((sql, note)), Some(connection)) = (self.notes.notification(hints), &mut self.connection) {
            self.sent_note =
                connection.send(&sql, note).await.map_err(|error| log_unsent_note(&self.outages, &error)).ok();
        }
    }
}

/// The outcome of a commit and of the statements before it. The first that failed is why the others did.
async fn answer_of(before: Vec<Answer>, commit: Answer, is_within: bool) -> Result<(), CommitError> {
    let written = first_trouble(before).await;
    let committed = commit.await;
    written.map_err(CommitError::Before)?;
    committed.map(drop).map_err(if is_within { CommitError::Within } else { CommitError::Behind })
}

/// Whether a hint leads only to the writer of its partition.
fn is_of_work(hint: &Hint) -> bool {
    matches!(hint, Hint::Ready { .. } | Hint::Due { .. })
}

/// A server that does not answer says so with every commit, so that belongs to its outage.
pub(super) fn log_unsent_note(outages: &OutageLog, error: &DriverError) {
    let why = format!("other programs were not notified of a commit and find out when they look: {}", error.why());
    match error {
        DriverError::Lost(_) => outages.noted("tell", &EngineError::Unavailable(why)),
        _ => tracing::warn!("{why}"),
    }
}
