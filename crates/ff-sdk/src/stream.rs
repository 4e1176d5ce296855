//! Readers of the output of an execution.

use std::collections::VecDeque;
use std::time::Duration;

use ff_core::contracts::{ReadStreamArgs, StreamItem, StreamTokenArgs};
use ff_core::execution::Outcome;
use ff_core::limits;
use ff_core::stream::StreamCursor;
use ff_core::token::StreamToken;
use ff_core::types::{AttemptIndex, ExecutionId};

use crate::{Client, Error};

impl Client {
    /// Follows the output of an execution across all its attempts, from the beginning or from a cursor.
    pub fn output(&self, id: &ExecutionId, from: Option<StreamCursor>) -> OutputReader {
        OutputReader::new(self, ReadStreamArgs { execution_id: *id, attempt: None, from, limit: limits::PAGE })
    }

    /// Creates a token with which a reader without an API key, such as a web page, reads an execution's output. A token is
    /// valid for at most a day.
    pub async fn stream_token(&self, id: &ExecutionId, valid_for: Duration) -> Result<StreamToken, Error> {
        let expires_in_ms = u64::try_from(valid_for.as_millis()).unwrap_or(u64::MAX);
        Ok(self.backend().stream_token(StreamTokenArgs { execution_id: *id, expires_in_ms }).await?)
    }

    /// Follows the output of one attempt at an execution.
    pub fn output_of(&self, id: &ExecutionId, attempt: AttemptIndex, from: Option<StreamCursor>) -> OutputReader {
        let attempt = Some(attempt);
        OutputReader::new(self, ReadStreamArgs { execution_id: *id, attempt, from, limit: limits::PAGE })
    }
}

/// The output of an execution, item by item.
pub struct OutputReader {
    client: Client,
    args: ReadStreamArgs,
    /// The cursor after the last item returned.
    read: StreamCursor,
    items: VecDeque<StreamItem>,
    ended: bool,
    outcome: Option<Outcome>,
}

impl OutputReader {
    fn new(client: &Client, args: ReadStreamArgs) -> Self {
        let read = args.start();
        Self { client: client.clone(), args, read, items: VecDeque::new(), ended: false, outcome: None }
    }

    /// Waits for the next item, without a time limit; `None` once all items are read and no more follow. After an error
    /// it can be called again, and continues at the same place.
    pub async fn next(&mut self) -> Result<Option<StreamItem>, Error> {
        loop {
            if let Some(item) = self.items.pop_front() {
                self.read = item.next(&self.read);
                return Ok(Some(item));
            }
            if self.ended {
                return Ok(None);
            }
            let args = ReadStreamArgs { from: Some(self.read), ..self.args.clone() };
            let page = self.client.long_poll().next_frames(args, limits::LONG_POLL_MS).await?;
            (self.items, self.ended, self.outcome) = (page.items.into(), page.ended, page.outcome);
        }
    }

    /// Returns the cursor after the last item returned, for continuing now or after a restart.
    pub fn cursor(&self) -> StreamCursor {
        self.read
    }

    /// Returns the outcome of the execution, once all items are read.
    pub fn outcome(&self) -> Option<Outcome> {
        self.outcome.filter(|_| self.items.is_empty())
    }
}
