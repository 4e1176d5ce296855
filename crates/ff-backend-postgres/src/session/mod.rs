//! A connection that writes: one transaction per batch. What is written is sent as it is decided and answered together with
//! the commit, so that a batch crosses the network a few times and not once per table.

mod asking;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ff_backend_sql::{Announcer, Begun, Debts, Key, Load, Put, Session, SqlError, Table, Value};
use ff_core::clock::Clock;
use ff_core::hint::Hint;
use ff_core::types::TimestampMs;

use crate::connection::{Answer, Connection};
use crate::connector::{Connector, WRITER};
use crate::dialect::Phrases;
use crate::hints::Notes;
use crate::meta::{CIRCUMSTANCES, REMEMBER};
use crate::outbox;
use crate::request::{Asked, Request};
use crate::trouble::Trouble;
use crate::value::Parameter;

/// How long to wait before trying again, at first and at most.
const PAUSE: Duration = Duration::from_millis(10);
const PAUSE_MAX: Duration = Duration::from_millis(160);

/// Takes partitions for one transaction, in the order they are given.
const LOCK: &str = "SELECT pg_advisory_xact_lock($1::int4, p) FROM unnest($2::int4[]) AS p";

/// The statements every transaction has.
struct Frame {
    begin: Arc<str>,
    settle: Option<Arc<str>>,
    lock: Arc<str>,
    circumstances: Arc<str>,
    remember: Arc<str>,
    commit: Arc<str>,
    rollback: Arc<str>,
}

/// A connection that writes, made again whenever it is lost.
pub(crate) struct Writing {
    connector: Arc<Connector>,
    connection: Option<Connection>,
    frame: Frame,
    phrases: Phrases,
    /// Statements sent and not yet answered, in order.
    sent: Vec<Answer>,
    /// What is going to be asked, sent and not yet answered, in order.
    ahead: VecDeque<(Load, Asked)>,
    /// Statements that write, not yet sent: they go together. No two are about one row.
    unsent: Vec<(Arc<str>, Vec<Parameter>)>,
    /// The note of the last commit, sent and not yet answered.
    told: Option<Answer>,
    in_transaction: bool,
    /// Names the locks of this store among those of others.
    class: i32,
    /// Which of the remembered moments is this writer's.
    slot: i32,
    clock: Option<Arc<dyn Clock>>,
    announcer: Announcer,
    notes: Notes,
    now: TimestampMs,
    /// How often in a row it did not go well.
    setbacks: u32,
}

impl Writing {
    pub(crate) fn new(
        connector: Arc<Connector>,
        (class, slot): (i32, i32),
        clock: Option<Arc<dyn Clock>>,
        announcer: Announcer,
        notes: Notes,
    ) -> Self {
        let frame = Frame {
            begin: "BEGIN".into(),
            settle: connector.settle(WRITER).map(Into::into),
            lock: LOCK.into(),
            circumstances: CIRCUMSTANCES.into(),
            remember: REMEMBER.into(),
            commit: "COMMIT".into(),
            rollback: "ROLLBACK".into(),
        };
        Self {
            connector,
            connection: None,
            frame,
            phrases: Phrases::default(),
            sent: Vec::new(),
            ahead: VecDeque::new(),
            unsent: Vec::new(),
            told: None,
            in_transaction: false,
            class,
            slot,
            clock,
            announcer,
            notes,
            now: TimestampMs::default(),
            setbacks: 0,
        }
    }

    async fn connection(&mut self) -> Result<&mut Connection, Trouble> {
        if self.connection.as_ref().is_none_or(Connection::is_closed) {
            // What was asked of the one before says nothing about this one.
            self.sent.clear();
            self.told = None;
            self.connection = Some(self.connector.open(WRITER).await?);
        }
        self.connection.as_mut().ok_or_else(|| Trouble::Lost("there is no connection".into()))
    }

    /// Sends a statement whose answer is asked for later.
    async fn send(&mut self, sql: &Arc<str>, parameters: Vec<Parameter>) -> Result<(), Trouble> {
        let Some(connection) = &mut self.connection else {
            return Err(Trouble::Lost("the connection was lost".into()));
        };
        let answer = connection.send(sql, parameters).await?;
        self.sent.push(answer);
        Ok(())
    }

    /// Sends what is written so far, as one statement where that is known how to be put.
    async fn flush(&mut self) -> Result<(), Trouble> {
        let unsent = std::mem::take(&mut self.unsent);
        if unsent.is_empty() {
            return Ok(());
        }
        // What was asked before does not know of this.
        self.ahead.clear();
        let texts: Vec<_> = unsent.iter().map(|(sql, parameters)| (sql.clone(), parameters.len())).collect();
        match self.phrases.combine(&texts) {
            Some(sql) => self.send(&sql, unsent.into_iter().flat_map(|(_, parameters)| parameters).collect()).await,
            None => {
                for (sql, parameters) in unsent {
                    self.send(&sql, parameters).await?;
                }
                Ok(())
            }
        }
    }

    /// Waits for everything sent so far. The first that went wrong is why the others did.
    async fn answers(&mut self) -> Result<Vec<tokio_postgres::Row>, Trouble> {
        let mut last = Vec::new();
        let mut first_trouble = None;
        for answer in std::mem::take(&mut self.sent) {
            match answer.await {
                Ok(rows) => last = rows,
                Err(trouble) => first_trouble = first_trouble.or(Some(trouble)),
            }
        }
        first_trouble.map_or(Ok(last), Err)
    }

    /// Says what became of a transaction that had not got to its commit.
    async fn before_commit(&mut self, trouble: Trouble) -> SqlError {
        self.unsent.clear();
        self.ahead.clear();
        let trouble = self.answers().await.err().unwrap_or(trouble);
        self.note_setback(&trouble);
        trouble.before_commit()
    }

    fn note_setback(&mut self, trouble: &Trouble) {
        self.setbacks += 1;
        if trouble.is_lost() {
            self.connection = None;
            self.in_transaction = false;
        }
    }

    async fn open_transaction(&mut self, partitions: &[u16], first: Vec<Load>) -> Result<Begun, Trouble> {
        self.connection().await?;
        self.in_transaction = true;
        let begin = self.frame.begin.clone();
        self.send(&begin, vec![]).await?;
        if let Some(settle) = self.frame.settle.clone() {
            self.send(&settle, vec![]).await?;
        }
        let partitions = partitions.iter().map(|partition| Value::from(*partition));
        let class = Parameter::one(Value::Int(self.class.into()));
        let lock = self.frame.lock.clone();
        self.send(&lock, vec![class, Parameter::each(partitions)]).await?;
        // A statement of its own: it sees what those have written who had the partitions before.
        let circumstances = self.frame.circumstances.clone();
        self.send(&circumstances, vec![]).await?;
        self.send_ahead(first).await?;
        if let Some(told) = self.told.take() {
            told.await.map_or_else(|trouble| not_told(&trouble), drop);
        }
        let rows = self.answers().await?;
        let odd = |error: tokio_postgres::Error| Trouble::Failed(error.to_string());
        let row = rows.first().ok_or_else(|| Trouble::Failed("the server has no clock".into()))?;
        let (time, latest): (i64, i64) = (row.try_get(0).map_err(odd)?, row.try_get(1).map_err(odd)?);
        let time = self.clock.as_ref().map_or(time, |clock| clock.now().0);
        let now = TimestampMs(time.max(latest));
        let (until, has_lanes): (i64, bool) = (row.try_get(2).map_err(odd)?, row.try_get(3).map_err(odd)?);
        Ok(Begun { now, is_followed: now.0 < until, has_lanes })
    }

    async fn close_transaction(&mut self, hints: &[Hint]) -> Result<(), Trouble> {
        let remember = self.frame.remember.clone();
        let moment = vec![Parameter::one(self.now.into()), Parameter::one(Value::Int(self.slot.into()))];
        self.unsent.extend(self.notes.to_put_up(hints));
        self.unsent.push((remember, moment));
        self.flush().await
    }

    /// Sends the note of a commit right behind it, so that others are told even if this program is no more by then. Of what
    /// did not happen after all they are told in vain.
    async fn tell(&mut self, hints: &[Hint]) {
        if let (Some((sql, note)), Some(connection)) = (self.notes.to_tell(hints), &mut self.connection) {
            self.told = connection.send(&sql, note).await.map_err(|trouble| not_told(&trouble)).ok();
        }
    }

    /// Has the server know of everything that is written, before something that counts on it.
    async fn send_all(&mut self) -> Result<(), SqlError> {
        match self.flush().await {
            Ok(()) => Ok(()),
            Err(trouble) => Err(self.before_commit(trouble).await),
        }
    }

    /// Sends a statement after everything that was written before it.
    async fn write_next(&mut self, sql: &Arc<str>, parameters: Vec<Parameter>) -> Result<(), SqlError> {
        self.send_all().await?;
        self.ahead.clear();
        match self.send(sql, parameters).await {
            Ok(()) => Ok(()),
            Err(trouble) => Err(self.before_commit(trouble).await),
        }
    }
}

impl Session for Writing {
    fn is_alone(&self) -> bool {
        false
    }

    async fn begin(&mut self, partitions: &[u16], first: Vec<Load>) -> Result<Begun, SqlError> {
        self.rollback().await?;
        if self.setbacks > 0 {
            #[allow(clippy::disallowed_methods, reason = "nothing signals that a server is back, or less busy")]
            tokio::time::sleep((PAUSE * 2_u32.pow(self.setbacks.min(8) - 1)).min(PAUSE_MAX)).await;
        }
        match self.open_transaction(partitions, first).await {
            Ok(begun) => {
                (self.now, self.setbacks) = (begun.now, 0);
                Ok(begun)
            }
            Err(trouble) => Err(self.before_commit(trouble).await),
        }
    }

    async fn put(&mut self, table: &'static Table, rows: &[Put]) -> Result<(), SqlError> {
        let requests = Request::put(&mut self.phrases, table, rows).into_iter();
        self.unsent.extend(requests.map(|request| (request.sql, request.parameters)));
        Ok(())
    }

    async fn delete(&mut self, table: &'static Table, keys: &[Key]) -> Result<(), SqlError> {
        let request = Request::delete(&mut self.phrases, table, keys);
        self.write_next(&request.sql, request.parameters).await
    }

    async fn note_debts(&mut self, debts: &Debts) -> Result<(), SqlError> {
        for (sql, parameters) in outbox::requests(debts, self.now) {
            let sql = self.phrases.alone(sql);
            self.write_next(&sql, parameters).await?;
        }
        Ok(())
    }

    async fn commit(&mut self, hints: Vec<Hint>) -> Result<(), SqlError> {
        if let Err(trouble) = self.close_transaction(&hints).await {
            return Err(self.before_commit(trouble).await);
        }
        let commit = self.frame.commit.clone();
        let committed = match &mut self.connection {
            Some(connection) => connection.send(&commit, vec![]).await,
            None => Err(Trouble::Lost("the connection was lost".into())),
        };
        // Preparing it is all that can have failed so far.
        let committed = match committed {
            Ok(committed) => committed,
            Err(trouble) => return Err(self.before_commit(trouble).await),
        };
        self.tell(&hints).await;
        if let Err(trouble) = self.answers().await {
            self.in_transaction = false;
            self.note_setback(&trouble);
            committed.await.ok();
            return Err(trouble.with_commit());
        }
        self.in_transaction = false;
        if let Err(trouble) = committed.await {
            self.note_setback(&trouble);
            self.connection = None;
            return Err(SqlError::Failed(trouble.why().to_owned()));
        }
        self.connector.meter.commits.fetch_add(1, Ordering::Relaxed);
        self.announcer.announce(hints);
        Ok(())
    }

    async fn rollback(&mut self) -> Result<(), SqlError> {
        self.unsent.clear();
        self.ahead.clear();
        if std::mem::take(&mut self.in_transaction) && self.connection.is_some() {
            let rollback = self.frame.rollback.clone();
            if let Err(trouble) = self.send(&rollback, vec![]).await {
                // Without a connection there is nothing to undo: the server has.
                tracing::debug!(why = trouble.why(), "a transaction ended with its connection");
                self.connection = None;
                self.sent.clear();
            }
        }
        Ok(())
    }
}

fn not_told(trouble: &Trouble) {
    tracing::warn!(why = trouble.why(), "other programs were not told of a commit; they find out when they look");
}
