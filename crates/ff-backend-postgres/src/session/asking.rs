//! The queries of a transaction. Predicted queries are sent before earlier ones are answered.

use async_trait::async_trait;
use ff_backend_sql::{Load, Read, Row, SqlError};

use super::WriterSession;
use crate::connect::driver_error::DriverError;
use crate::statement::request::{PendingRequest, Request};

#[async_trait]
impl Read for WriterSession {
    fn asks_ahead(&self) -> bool {
        true
    }

    async fn ask_ahead(&mut self, next: Vec<Load>) -> Result<(), SqlError> {
        // A single load is sent at once anyway. Loads that were sent already are not sent again.
        if next.len() < 2 || self.ahead.iter().map(|(load, _)| load).eq(&next) {
            return Ok(());
        }
        self.send_all().await?;
        let sent = self.send_ahead(next).await;
        self.checked(sent).await
    }

    async fn answer(&mut self, request: Load) -> Result<Vec<Vec<Row>>, SqlError> {
        self.send_all().await?;
        let answer = self.answer_to(request).await;
        self.checked(answer).await?
    }
}

impl WriterSession {
    /// Waits for the answer to a load that was sent ahead, or sends the load now. An unforeseen load makes the loads sent ahead
    /// useless.
    async fn answer_to(&mut self, load: Load) -> Result<Result<Vec<Vec<Row>>, SqlError>, DriverError> {
        match self.ahead.pop_front().filter(|(ahead, _)| *ahead == load) {
            Some((_, answer)) => answer.rows().await,
            None => {
                self.ahead.clear();
                let request = self.request(&load).await?;
                self.ask(request).await?.rows().await
            }
        }
    }

    /// Sends queries in the order in which they will be asked. All are prepared before the first is sent: a long answer that is
    /// not read yet blocks all later answers, including that to a prepare.
    pub(super) async fn send_ahead(&mut self, next: Vec<Load>) -> Result<(), DriverError> {
        self.ahead.clear();
        let mut requests = Vec::with_capacity(next.len());
        for load in next {
            requests.push((self.request(&load).await?, load));
        }
        for (request, load) in requests {
            let answer = self.ask(request).await?;
            self.ahead.push_back((load, answer));
        }
        Ok(())
    }

    async fn ask(&mut self, request: Request) -> Result<PendingRequest, DriverError> {
        match &mut self.connection {
            Some(connection) => request.send(connection).await,
            None => Err(DriverError::Lost("the connection was lost".into())),
        }
    }

    /// Returns the request for a load, with its statement prepared.
    async fn request(&mut self, load: &Load) -> Result<Request, DriverError> {
        let Some(connection) = &mut self.connection else {
            return Err(DriverError::Lost("the connection was lost".into()));
        };
        let request = Request::of(&mut self.statement_cache, connection, load).await?;
        connection.prepare(&request.sql).await?;
        Ok(request)
    }
}
