//! Polls for the notes of other programs behind a pooler, because listening needs a server connection of its own.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use ff_backend_sql::{Announcer, Value};
use ff_core::backend::hint::Hint;
use tokio::sync::Notify;

use super::{Announcements, note};
use crate::connect::connection::Connection;
use crate::connect::connector::Connector;
use crate::connect::driver_error::DriverError;
use crate::statement::value::Parameter;

/// Interval between polls.
const EVERY: Duration = Duration::from_millis(100);
/// Number of polls after which old notes are deleted.
const TIDY_AFTER: u32 = 300;
/// Number of ids below the highest one that every poll reads again: a note may become visible after one with a higher id.
const BACK: i64 = 256;

/// Polls forever. After a failure, reports a miss.
pub(crate) async fn poll(
    connector: Arc<Connector>,
    announcer: Announcer,
    mut announcements: Announcements,
    ourselves: String,
    inbox: Arc<Notify>,
) {
    let mut board = NoticeTable::new(connector);
    let mut failed = false;
    loop {
        let announced: Vec<_> = std::iter::from_fn(|| announcements.try_recv().ok()).flatten().collect();
        match board.exchange((!announced.is_empty()).then(|| note::write(&ourselves, &announced))).await {
            Ok(NoticePage { notes, has_inbox_rows }) => {
                if std::mem::take(&mut failed) {
                    announcer.announce(vec![Hint::Missed]);
                }
                notes.iter().for_each(|text| announcer.announce(note::read(&ourselves, text)));
                if has_inbox_rows {
                    inbox.notify_one();
                }
            }
            Err(error) => {
                tracing::debug!(why = error.why(), "hints cannot be looked for");
                (board.connection, failed) = (None, true);
            }
        }
        #[allow(clippy::disallowed_methods, reason = "nothing can be signalled through a pooler")]
        tokio::time::sleep(EVERY).await;
    }
}

/// The notices found by one poll.
struct NoticePage {
    notes: Vec<String>,
    /// Whether the inbox has rows to submit.
    has_inbox_rows: bool,
}

/// Access to the table of notices.
struct NoticeTable {
    connector: Arc<Connector>,
    connection: Option<Connection>,
    look: String,
    tidy: String,
    put_up: String,
    looks: u32,
    /// The highest id seen, `None` before the first poll.
    highest: Option<i64>,
    seen_ids: BTreeSet<i64>,
}

impl NoticeTable {
    fn new(connector: Arc<Connector>) -> Self {
        let schema = &connector.place.schema;
        let look = format!(
            "SELECT id, note FROM {schema}.notice WHERE id > $1 UNION ALL \
             SELECT 0, '' WHERE EXISTS (SELECT 1 FROM {schema}.inbox WHERE refused IS NULL)"
        );
        let tidy = format!("DELETE FROM {schema}.notice WHERE at < now() - '1 minute'::interval");
        let put_up = format!("INSERT INTO {schema}.notice (note) VALUES ($1)");
        Self { connector, connection: None, look, tidy, put_up, looks: 0, highest: None, seen_ids: BTreeSet::new() }
    }

    /// Polls for the notes of other programs and writes the given one.
    async fn exchange(&mut self, note: Option<String>) -> Result<NoticePage, DriverError> {
        let mut connection = match self.connection.take().filter(|connection| !connection.is_closed()) {
            Some(connection) => connection,
            None => self.connector.open("board").await?,
        };
        let from = self.highest.map_or(0, |highest| highest - BACK);
        let rows = connection.run(&self.look, vec![Parameter::one(Value::Int(from))]).await?;
        if let Some(note) = note {
            connection.run(&self.put_up, vec![Parameter::one(Value::Text(note))]).await?;
        }
        self.looks += 1;
        if self.looks.is_multiple_of(TIDY_AFTER) {
            connection.run(&self.tidy, vec![]).await?;
        }
        self.connection = Some(connection);
        let first = self.highest.is_none();
        let mut page = NoticePage { notes: Vec::new(), has_inbox_rows: false };
        for row in rows {
            let (id, text): (i64, String) = (row.get(0), row.get(1));
            page.has_inbox_rows |= id == 0;
            // Notices found by the first poll are older than this program.
            if id > 0 && self.seen_ids.insert(id) && !first {
                page.notes.push(text);
            }
        }
        let highest = self.seen_ids.last().copied().unwrap_or(0).max(self.highest.unwrap_or(0));
        self.highest = Some(highest);
        self.seen_ids = self.seen_ids.split_off(&(highest - BACK));
        Ok(page)
    }
}
