//! Waitpoints on the wire, and operators' decisions about suspended executions.

use ff_core::contracts::{CloseWaitpointArgs, ResumeArgs, WaitpointInfo};
use ff_core::engine_error::Refusal;
use ff_core::suspension::OperatorDecision;
use ff_core::token::WaitpointToken;
use ff_core::types::{ContentType, ExecutionId, SourceIdentity, SuspensionId, WaitpointId};
use serde_json::value::RawValue;

use crate::content::present;
use crate::object::{answers, requests};
use crate::{Base64, Content, Encoding};

answers! {
    /// The open waitpoints of an execution, oldest first.
    pub struct Waitpoints {
        pub waitpoints: Vec<WaitpointInfo>,
    }

    /// The token of a waitpoint.
    pub struct WaitpointTokenReply {
        pub waitpoint_token: WaitpointToken,
    }
}

requests! {
    /// Closes a waitpoint that no suspension has used.
    pub struct CloseWaitpoint {
        pub reason: Option<String>,
    }
}

impl CloseWaitpoint {
    pub fn of(args: CloseWaitpointArgs) -> Self {
        Self { reason: args.reason }
    }

    pub fn into_args(self, execution_id: ExecutionId, waitpoint_id: WaitpointId) -> CloseWaitpointArgs {
        CloseWaitpointArgs { execution_id, waitpoint_id, reason: self.reason }
    }
}

requests! {
    /// Ends a suspension; the path names the decision.
    pub struct Decide {
        /// If given, end only this suspension.
        pub suspension_id: Option<SuspensionId>,
        pub reason: Option<String>,
        pub requested_by: Option<SourceIdentity>,
        pub resume_delay_ms: Option<u64>,
        #[serde(deserialize_with = "present")]
        pub payload: Option<Box<RawValue>>,
        pub payload_base64: Option<Base64>,
        pub content_type: Option<ContentType>,
    }
}

impl Decide {
    pub fn of(args: ResumeArgs) -> Self {
        let content = args.payload.map(|payload| Content::of(&payload, Encoding::Base64)).unwrap_or_default();
        Self {
            suspension_id: args.suspension_id,
            reason: args.reason,
            requested_by: args.requested_by,
            resume_delay_ms: args.resume_delay_ms,
            payload: content.json,
            payload_base64: content.base64,
            content_type: content.content_type,
        }
    }

    pub fn into_args(self, execution_id: ExecutionId, decision: OperatorDecision) -> Result<ResumeArgs, Refusal> {
        let content = Content { json: self.payload, base64: self.payload_base64, content_type: self.content_type };
        Ok(ResumeArgs {
            execution_id,
            suspension_id: self.suspension_id,
            decision,
            payload: content.into_payload("payload")?,
            reason: self.reason,
            requested_by: self.requested_by,
            resume_delay_ms: self.resume_delay_ms,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ff_core::json;
    use ff_core::payload::Payload;

    #[test]
    fn a_decision_arrives_as_it_was_sent() {
        let id = ExecutionId::new(7, uuid::Uuid::from_u128(1));
        let full = ResumeArgs {
            suspension_id: Some(SuspensionId::new()),
            payload: Some(Payload::json("{ }")),
            reason: Some("looked at it".into()),
            requested_by: Some(SourceIdentity::parse("ada").unwrap()),
            resume_delay_ms: Some(9),
            ..ResumeArgs::new(id, OperatorDecision::Reject)
        };
        for args in [full, ResumeArgs::new(id, OperatorDecision::Reject)] {
            let text = serde_json::to_vec(&Decide::of(args.clone())).unwrap();
            let back = json::read::<Decide>(&text).and_then(|call| call.into_args(id, OperatorDecision::Reject));
            assert_eq!(back, Ok(args));
        }
    }
}
