//! Commits the writes of a batch and sends its hints.

use std::sync::atomic::Ordering;

use ff_backend_sql::{SqlError, Value};
use ff_core::backend::hint::Hint;
use ff_core::backend::outage::OutageLog;
use ff_core::engine_error::EngineError;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::task::yield_now;

use super::{WriterSession, first_trouble};
use crate::connect::connection::Answer;
use crate::connect::driver_error::DriverError;
use crate::meta::REMEMBER;
use crate::statement::value::Parameter;

/// A commit that is sent and not yet answered.
pub(super) struct UnansweredCommit {
    answer: BoxFuture<'static, Result<(), CommitError>>,
    hints: Vec<Hint>,
}

/// Error of a commit.
enum CommitError {
    /// A statement before the commit failed.
    Before(DriverError),
    /// The single write statement failed, which is a transaction by itself.
    Within(DriverError),
    /// The `COMMIT` after the writes failed.
    Behind(DriverError),
}

impl WriterSession {
    pub(super) async fn commit_and_notify(&mut self, hints: Vec<Hint>) -> Result<(), SqlError> {
        // So far, only preparing the statements can fail.
        let sent = self.send_commit(&hints).await;
        let (commit, is_within) = self.checked(sent).await?;
        self.in_transaction = false;
        self.send_note(&hints).await;
        // Hints of work lead to this writer, whose next batch finds the work either committed or absent. They are announced while
        // the server is busy, after the connection has sent its buffer.
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
        // Callers are answered first: the spawned task begins once this task waits.
        let announcer = self.announcer.clone();
        tokio::spawn(async move { announcer.announce(hints) });
        Ok(())
    }

    /// Sends the buffered writes and their commit. Returns the answer, and whether all of it is one statement.
    async fn send_commit(&mut self, hints: &[Hint]) -> Result<(Answer, bool), DriverError> {
        let moment = vec![Parameter::one(self.now.into()), Parameter::one(Value::Int(self.slot.into()))];
        self.notes.notice(hints).into_iter().for_each(|note| self.unsent.add(note));
        self.unsent.add((self.statement_cache.alone(REMEMBER), moment));
        let mut writes = self.unsent.take(&mut self.statement_cache);
        if let ([_], false) = (&writes[..], self.in_transaction)
            && let Some((sql, parameters)) = writes.pop()
        {
            return Ok((self.ask_for(&sql, parameters).await?, true));
        }
        for (sql, parameters) in writes {
            self.send_write(&sql, parameters).await?;
        }
        Ok((self.ask_for("COMMIT", vec![]).await?, false))
    }

    /// Sends the note right after its commit, so that other programs are notified even if this one dies before the answer. The
    /// note of a failed commit is harmless.
    async fn send_note(&mut self, hints: &[Hint]) {
        if let (Some((sql, note)), Some(connection)) = (self.notes.notification(hints), &mut self.connection) {
            self.sent_note =
                connection.send(&sql, note).await.map_err(|error| log_unsent_note(&self.outages, &error)).ok();
        }
    }
}

/// Waits for the statements before a commit and for the commit. Returns the first error, which is the cause of the later ones.
async fn answer_of(before: Vec<Answer>, commit: Answer, is_within: bool) -> Result<(), CommitError> {
    let written = first_trouble(before).await;
    let committed = commit.await;
    written.map_err(CommitError::Before)?;
    committed.map(drop).map_err(if is_within { CommitError::Within } else { CommitError::Behind })
}

/// Returns whether a hint leads only to the writer of its partition.
fn is_of_work(hint: &Hint) -> bool {
    matches!(hint, Hint::Ready { .. } | Hint::Due { .. })
}

/// Logs that a note was not sent. If the server does not answer, every commit fails to send one, so the failure belongs to its
/// outage.
pub(super) fn log_unsent_note(outages: &OutageLog, error: &DriverError) {
    let why = format!("other programs were not notified of a commit and find out when they look: {}", error.why());
    match error {
        DriverError::Lost(_) => outages.log_failure("tell", &EngineError::Unavailable(why)),
        _ => tracing::warn!("{why}"),
    }
}
