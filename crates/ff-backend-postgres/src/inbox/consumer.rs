//! Taking up what users have left in the inbox. Any program may, and several may at once: each takes what nobody else has.
//!
//! Work is submitted first and taken out of the inbox after. Who dies in between leaves it for another, who then finds it
//! submitted already: the submitter chose its id.

use std::sync::Arc;
use std::time::Duration;

use ff_backend_sql::{Value, WriterHandle};
use ff_core::contracts::SubmitArgs;
use ff_core::engine_error::EngineError;
use ff_core::payload::Payload;
use ff_core::types::ContentType;
use tokio::sync::Notify;
use tokio::time::timeout;
use tokio_postgres::Row;

use super::row::InboxRow;
use crate::connection::Connection;
use crate::connector::Connector;
use crate::driver_error::DriverError;
use crate::value::Parameter;

/// How often to look without being told.
const SWEEP: Duration = Duration::from_secs(5);
/// What its connection is for, as the server shows it to who asks.
const INBOX: &str = "inbox";

/// Few letters at once, since their payloads are in memory meanwhile.
const TAKE: &str = "\
    SELECT nth, submission, content_type, bytes FROM inbox WHERE refused IS NULL \
    ORDER BY nth LIMIT 64 FOR UPDATE SKIP LOCKED";
const REMOVE: &str = "DELETE FROM inbox WHERE nth = ANY($1::int8[])";
const REFUSE: &str = "\
    UPDATE inbox SET refused = k.why FROM unnest($1::int8[], $2::text[]) AS k(nth, why) WHERE inbox.nth = k.nth";

/// Takes up what is left in the inbox for ever: at once when told, and now and then without.
pub(crate) async fn take_up(connector: Arc<Connector>, writer: WriterHandle, told: Arc<Notify>) {
    let mut taker = InboxConsumer { connector, writer, connection: None };
    loop {
        match taker.take().await {
            Ok(0) => {}
            Ok(_) => continue,
            Err(error) => {
                tracing::debug!(why = error.why(), "the inbox cannot be looked into");
                taker.connection = None;
            }
        }
        // Either way it is time to look.
        timeout(SWEEP, told.notified()).await.ok();
    }
}

struct InboxConsumer {
    connector: Arc<Connector>,
    writer: WriterHandle,
    connection: Option<Connection>,
}

impl InboxConsumer {
    /// Takes up some letters, and says how many are done with.
    async fn take(&mut self) -> Result<usize, DriverError> {
        let mut connection = match self.connection.take().filter(|connection| !connection.is_closed()) {
            Some(connection) => connection,
            None => self.connector.open(INBOX).await?,
        };
        let begin = [Some("BEGIN".to_owned()), self.connector.settle(INBOX)];
        let mut sent = Vec::new();
        for sql in begin.into_iter().flatten() {
            sent.push(connection.send(&sql.into(), vec![]).await?);
        }
        let rows = connection.run(&TAKE.into(), vec![]).await?;
        for answer in sent {
            answer.await?;
        }
        let (mut done, mut refused) = (Vec::new(), Vec::new());
        if !rows.is_empty() {
            self.submit(&rows, &mut done, &mut refused).await;
        }
        let settled = done.len() + refused.len();
        if !done.is_empty() {
            connection.run(&REMOVE.into(), vec![Parameter::each(done.into_iter().map(Value::Int))]).await?;
        }
        if !refused.is_empty() {
            let (nth, why): (Vec<_>, Vec<_>) = refused.into_iter().unzip();
            let why = Parameter::each(why.into_iter().map(Value::Text));
            connection.run(&REFUSE.into(), vec![Parameter::each(nth.into_iter().map(Value::Int)), why]).await?;
        }
        connection.run(&"COMMIT".into(), vec![]).await?;
        self.connection = Some(connection);
        Ok(settled)
    }

    /// Submits letters, and tells apart those that are done with and those that cannot be. The others are tried again.
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
        for (nth, answer) in numbers.into_iter().zip(self.writer.ask_each(works).await) {
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

fn open(row: &Row) -> Result<SubmitArgs, String> {
    let said = |error: tokio_postgres::Error| error.to_string();
    let inbox_row: InboxRow =
        serde_json::from_str(row.try_get(1).map_err(said)?).map_err(|error| format!("it cannot be read: {error}"))?;
    let content_type = ContentType::parse(row.try_get(2).map_err(said)?).map_err(|error| error.to_string())?;
    let bytes: Vec<u8> = row.try_get(3).map_err(said)?;
    Ok(inbox_row.with(Payload::new(content_type, bytes)))
}
