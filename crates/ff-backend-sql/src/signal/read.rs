//! Reading the signals of an execution.

use async_trait::async_trait;
use ff_core::backend::Answer;
use ff_core::contracts::{ReceivedSignal, SignalsArgs, SignalsPage};
use ff_core::engine_error::Code;
use ff_core::query::ReadSignal;

use super::{key_of_signal, read_signal};
use crate::error::SqlError;
use crate::execution::found;
use crate::queries::SIGNALS_PAGE;
use crate::schema::SIGNAL;
use crate::session::{Question, Read, key_of};
use crate::value::Value;
use crate::{ReadContext, record};

#[async_trait]
impl Question for SignalsArgs {
    type Answer = SignalsPage;

    async fn ask(self, reader: &mut dyn Read, _: &ReadContext) -> Answer<SignalsPage> {
        let SignalsArgs { execution_id, skip, limit } = self;
        found(reader, &execution_id).await?;
        // Signals are numbered without gaps, so passing over some is starting at a number. One more than a page tells
        // whether another page follows.
        let parameters = [key_of(&execution_id), vec![Value::number(skip), Value::number(limit + 1)]].concat();
        let rows: Vec<_> = reader.query(SIGNALS_PAGE, &[parameters]).await?.into_iter().flatten().collect();
        let next = (rows.len() > limit).then(|| skip.saturating_add(limit));
        let signals = rows.iter().take(limit).map(|row| record::read(row.text(0)?));
        Ok(SignalsPage { signals: signals.collect::<Result<_, SqlError>>()?, next })
    }
}

#[async_trait]
impl Question for ReadSignal {
    type Answer = ReceivedSignal;

    async fn ask(self, reader: &mut dyn Read, _: &ReadContext) -> Answer<ReceivedSignal> {
        found(reader, &self.execution_id).await?;
        let wanted = SIGNAL.named(&["record", "content_type", "bytes"]);
        let rows = reader.load(&SIGNAL, wanted, &[key_of_signal(&self.execution_id, &self.signal_id)]).await?;
        let row = rows.into_iter().flatten().next().ok_or(Code::NotFound)?;
        Ok(read_signal(&row)?)
    }
}
