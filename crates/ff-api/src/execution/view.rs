//! Views of executions on the wire: listings, payloads and results.

use ff_core::contracts::{self, ExecutionInfo};
use ff_core::engine_error::Refusal;
use ff_core::execution::{Failure, FinishedBy, Outcome};
use ff_core::payload::Payload;
use ff_core::types::{ContentType, ExecutionId, TimestampMs};
use serde_json::value::RawValue;

use crate::content::present;
use crate::object::answers;
use crate::{Base64, Content, Encoding};

answers! {
    /// One page of a listing.
    pub struct Page {
        pub executions: Vec<ExecutionInfo>,
        /// The `cursor` of the next page; absent on the last one.
        pub next_cursor: Option<String>,
    }
}

impl From<contracts::Page> for Page {
    fn from(page: contracts::Page) -> Self {
        Self { executions: page.executions, next_cursor: page.next.map(|cursor| cursor.to_string()) }
    }
}

impl Page {
    /// Returns the page. Refuses an invalid cursor.
    pub fn into_page(self) -> Result<contracts::Page, Refusal> {
        let next = self.next_cursor.map(|cursor| cursor.parse()).transpose()?;
        Ok(contracts::Page { executions: self.executions, next })
    }
}

answers! {
    /// A payload as JSON.
    pub struct PayloadView {
        #[serde(deserialize_with = "present")]
        pub payload: Option<Box<RawValue>>,
        pub payload_base64: Option<Base64>,
        pub content_type: Option<ContentType>,
    }
}

impl PayloadView {
    /// Makes the wire form of a payload.
    pub fn of(payload: &Payload, encoding: Encoding) -> Self {
        let content = Content::of(payload, encoding);
        Self { payload: content.json, payload_base64: content.base64, content_type: content.content_type }
    }

    /// Returns the payload; an empty one if the answer has none.
    pub fn into_payload(self) -> Result<Payload, Refusal> {
        let content = Content { json: self.payload, base64: self.payload_base64, content_type: self.content_type };
        Ok(content.into_payload("payload")?.unwrap_or_default())
    }
}

answers! {
    /// How an execution ended, with its result.
    pub struct ExecutionEnd {
        pub execution_id: ExecutionId,
        pub outcome: Outcome,
        pub finished_at: TimestampMs,
        pub finished_by: FinishedBy,
        #[serde(deserialize_with = "present")]
        pub result: Option<Box<RawValue>>,
        pub result_base64: Option<Base64>,
        pub content_type: Option<ContentType>,
        pub failure: Option<Failure>,
    }
}

impl ExecutionEnd {
    pub fn of(ended: contracts::ExecutionEnd, encoding: Encoding) -> Self {
        let content = ended.result.map(|result| Content::of(&result, encoding)).unwrap_or_default();
        Self {
            execution_id: ended.execution_id,
            outcome: ended.outcome,
            finished_at: ended.at,
            finished_by: ended.by,
            result: content.json,
            result_base64: content.base64,
            content_type: content.content_type,
            failure: ended.failure,
        }
    }

    pub fn into_ended(self) -> Result<contracts::ExecutionEnd, Refusal> {
        let content = Content { json: self.result, base64: self.result_base64, content_type: self.content_type };
        Ok(contracts::ExecutionEnd {
            execution_id: self.execution_id,
            outcome: self.outcome,
            at: self.finished_at,
            by: self.finished_by,
            result: content.into_payload("result")?,
            failure: self.failure,
        })
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn an_end_arrives_as_it_was_sent() {
        let ended = contracts::ExecutionEnd {
            execution_id: ExecutionId::new(3, Uuid::from_u128(9)),
            outcome: Outcome::Success,
            at: TimestampMs(17),
            by: FinishedBy::Holder,
            result: Some(Payload::json("{ }")),
            failure: None,
        };
        for encoding in [Encoding::Json, Encoding::Base64] {
            let text = serde_json::to_string(&ExecutionEnd::of(ended.clone(), encoding)).unwrap();
            let back = serde_json::from_str::<ExecutionEnd>(&text).unwrap().into_ended();
            assert_eq!(back, Ok(ended.clone()), "{text}");
        }
    }
}
