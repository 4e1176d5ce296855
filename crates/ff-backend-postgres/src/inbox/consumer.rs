//! Submits the rows that users have inserted into the inbox. Several programs may do so at once: each takes rows that no other
//! has locked.
//!
//! A row is submitted first and removed from the inbox after. If a program dies in between, another takes the row again and finds
//! its execution, because the submitter chose the id.

use std::sync::Arc;
use std::time::Duration;

use ff_backend_sql::{Value, WriterHandle};
use ff_core::backend::Answer;
use ff_core::contracts::{CopyLaneArgs, RegisterClassesArgs, SubmitArgs, SubmittedExecution};
use ff_core::engine_error::EngineError;
use ff_core::lane::is_unknown_class;
use ff_core::payload::Payload;
use ff_core::types::ContentType;
use tokio::sync::Notify;
use tokio::time::timeout;
use tokio_postgres::Row;

use super::row::InboxRow;
use crate::connect::connection::Connection;
use crate::connect::connector::Connector;
use crate::connect::driver_error::DriverError;
use crate::statement::value::Parameter;

/// Interval between polls without a notification.
const SWEEP: Duration = Duration::from_secs(5);
/// Purpose of the connection, the last word of its `application_name`.
const INBOX: &str = "inbox";

/// Takes few rows at once, because their payloads are in memory meanwhile.
const TAKE: &str = "\
    SELECT nth, submission, content_type, bytes FROM inbox WHERE refused IS NULL \
    ORDER BY nth LIMIT 64 FOR UPDATE SKIP LOCKED";
const REMOVE: &str = "DELETE FROM inbox WHERE nth = ANY($1::int8[])";
const REFUSE: &str = "\
    UPDATE inbox SET refused = k.why FROM unnest($1::int8[], $2::text[]) AS k(nth, why) WHERE inbox.nth = k.nth";

/// Submits the rows of the inbox forever: at once when notified, and otherwise once per interval.
pub(crate) async fn consume_inbox(connector: Arc<Connector>, writer: WriterHandle, notified: Arc<Notify>) {
    let mut consumer = InboxConsumer { connector, writer, connection: None };
    loop {
        match consumer.take().await {
            Ok(0) => {}
            Ok(_) => continue,
            Err(error) => {
                tracing::debug!(why = error.why(), "the inbox cannot be looked into");
                consumer.connection = None;
            }
        }
        // A notification and the end of the interval both lead to the next poll.
        timeout(SWEEP, notified.notified()).await.ok();
    }
}

struct InboxConsumer {
    connector: Arc<Connector>,
    writer: WriterHandle,
    connection: Option<Connection>,
}

impl InboxConsumer {
    /// Takes some rows, and returns the number of those that were submitted or refused.
    async fn take(&mut self) -> Result<usize, DriverError> {
        let mut connection = match self.connection.take().filter(|connection| !connection.is_closed()) {
            Some(connection) => connection,
            None => self.connector.open(INBOX).await?,
        };
        let begin = [Some("BEGIN".to_owned()), self.connector.settle(INBOX)];
        let mut sent = Vec::new();
        for sql in begin.into_iter().flatten() {
            sent.push(connection.send(&sql, vec![]).await?);
        }
        let rows = connection.run(TAKE, vec![]).await?;
        for answer in sent {
            answer.await?;
        }
        let (mut done, mut refused) = (Vec::new(), Vec::new());
        if !rows.is_empty() {
            self.submit(&rows, &mut done, &mut refused).await;
        }
        let settled = done.len() + refused.len();
        if !done.is_empty() {
            connection.run(REMOVE, vec![Parameter::each(done.into_iter().map(Value::Int))]).await?;
        }
        if !refused.is_empty() {
            let (nth, why): (Vec<_>, Vec<_>) = refused.into_iter().unzip();
            let why = Parameter::each(why.into_iter().map(Value::Text));
            connection.run(REFUSE, vec![Parameter::each(nth.into_iter().map(Value::Int)), why]).await?;
        }
        connection.run("COMMIT", vec![]).await?;
        self.connection = Some(connection);
        Ok(settled)
    }

    /// Submits rows. Adds those submitted to `done` and those refused to `refused`; all others are tried again.
    async fn submit(&self, rows: &[Row], done: &mut Vec<i64>, refused: &mut Vec<(i64, String)>) {
        let (mut numbers, mut works) = (Vec::new(), Vec::new());
        for row in rows {
            let nth: i64 = row.get(0);
            match open(row) {
                Ok(work) => {
                    numbers.push(nth);
                    works.push(work);
                }
                Err(why) => refused.push((nth, why)),
            }
        }
        let with_requirements = |work: &SubmitArgs| (!work.policy.class().is_plain()).then(|| work.clone());
        let again: Vec<_> = works.iter().map(with_requirements).collect();
        let answers = self.writer.ask_each(works).await;
        for ((nth, again), answer) in numbers.into_iter().zip(again).zip(answers) {
            let answer = match (again, answer) {
                (Some(work), Err(EngineError::Refused(refusal))) if is_unknown_class(&refusal) => {
                    self.register_and_submit(work).await
                }
                (_, answer) => answer,
            };
            match answer {
                Ok(_) => done.push(nth),
                Err(EngineError::Refused(refusal)) => refused.push((nth, refusal.to_string())),
                Err(error) => tracing::debug!(%error, nth, "work stays in the inbox"),
            }
        }
        for (nth, why) in refused {
            tracing::warn!(nth, why, "work in the inbox cannot be submitted");
        }
    }
}

impl InboxConsumer {
    /// Submits work whose requirement class its partition does not know yet.
    async fn register_and_submit(&self, work: SubmitArgs) -> Answer<SubmittedExecution> {
        let (namespace, lane, classes) = (work.namespace.clone(), work.lane.clone(), [work.policy.class()].into());
        let lane = self.writer.ask(RegisterClassesArgs { namespace, lane, classes }).await?;
        let partition = work.execution_id(self.writer.partitions()).partition();
        self.writer.ask(CopyLaneArgs { partition, lane }).await?;
        self.writer.ask(work).await
    }
}

fn open(row: &Row) -> Result<SubmitArgs, String> {
    let text = |error: tokio_postgres::Error| error.to_string();
    let inbox_row: InboxRow =
        serde_json::from_str(row.try_get(1).map_err(text)?).map_err(|error| format!("it cannot be read: {error}"))?;
    let content_type = ContentType::parse(row.try_get(2).map_err(text)?).map_err(|error| error.to_string())?;
    let bytes: Vec<u8> = row.try_get(3).map_err(text)?;
    Ok(inbox_row.with(Payload::new(content_type, bytes)))
}
