//! Claimed executions on the wire: the answer to a claim.

use ff_core::contracts::{self, Head, Resumption, Task, TaskFlow};
use ff_core::engine_error::Refusal;
use ff_core::execution::{Origin, Tags};
use ff_core::lease::Fence;
use ff_core::policy::Policy;
use ff_core::trace::TraceContext;
use ff_core::types::{
    AttemptId, AttemptIndex, ContentType, ExecutionId, InputName, Kind, LaneId, LeaseEpoch, LeaseId, Namespace,
    Priority, TimestampMs,
};
use serde_json::value::RawValue;

use crate::content::present;
use crate::object::answers;
use crate::{Base64, Content, Encoding, ReceivedSignal, Step};

answers! {
    /// Claimed executions; empty when no work arrived in time.
    pub struct Claims {
        pub executions: Vec<ClaimedExecution>,
        /// First execution still waiting; only with `partition`.
        pub next: Option<Head>,
        /// True when the lane's concurrency limit holds back waiting work.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub limited: bool,
    }
}

impl Claims {
    pub fn of(claims: contracts::Claims, encoding: Encoding) -> Self {
        let executions = claims.claimed.into_iter().map(|claimed| ClaimedExecution::of(claimed, encoding)).collect();
        Self { executions, next: claims.next, limited: claims.limited }
    }

    pub fn into_claims(self) -> Result<contracts::Claims, Refusal> {
        let claimed = self.executions.into_iter().map(ClaimedExecution::into_claimed).collect::<Result<_, _>>()?;
        Ok(contracts::Claims { claimed, next: self.next, limited: self.limited, admissions: Vec::new() })
    }
}

answers! {
    /// An execution claimed by a worker. The worker sends `lease_id`, `lease_epoch` and `attempt_id` back with its calls.
    pub struct ClaimedExecution {
        pub execution_id: ExecutionId,
        pub lease_id: LeaseId,
        pub lease_epoch: LeaseEpoch,
        pub attempt_id: AttemptId,
        pub namespace: Namespace,
        pub lane_id: LaneId,
        pub kind: Kind,
        pub priority: Priority,
        #[serde(default, skip_serializing_if = "Tags::is_empty")]
        pub tags: Tags,
        pub policy: Policy,
        pub attempt_index: AttemptIndex,
        pub attempt: Origin,
        pub resumed: bool,
        pub lease_ttl_ms: u64,
        pub lease_expires_at: TimestampMs,
        pub created_at: TimestampMs,
        pub deadline_at: Option<TimestampMs>,
        /// How its last suspension ended, when there was one.
        pub resumption: Option<Resumption>,
        /// Signals of the resumption, in the same order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub signals: Vec<ReceivedSignal>,
        /// Its place in a flow, when it is in one.
        pub flow: Option<TaskFlow>,
        /// The trace it was submitted in; the same for every attempt.
        pub trace: Option<Box<TraceContext>>,
        /// Results of upstreams, passed on by name.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub inputs: Vec<Input>,
        /// Recorded steps from the first on, as many as fit into a claim.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub steps: Vec<Step>,
        /// The `after` for listing the remaining steps; absent when these are all.
        pub steps_next: Option<u32>,
        #[serde(deserialize_with = "present")]
        pub payload: Option<Box<RawValue>>,
        pub payload_base64: Option<Base64>,
        pub content_type: Option<ContentType>,
    }
}

impl ClaimedExecution {
    pub fn of(claimed: contracts::ClaimedExecution, encoding: Encoding) -> Self {
        let contracts::ClaimedExecution { task, payload, signals, inputs, steps } = claimed;
        let content = Content::of(&payload, encoding);
        Self {
            execution_id: task.execution_id,
            lease_id: task.fence.lease_id,
            lease_epoch: task.fence.lease_epoch,
            attempt_id: task.fence.attempt_id,
            namespace: task.namespace,
            lane_id: task.lane_id,
            kind: task.kind,
            priority: task.priority,
            tags: task.tags,
            policy: task.policy,
            attempt_index: task.attempt_index,
            attempt: task.attempt,
            resumed: task.resumed,
            lease_ttl_ms: task.lease_ttl_ms,
            lease_expires_at: task.lease_expires_at,
            created_at: task.created_at,
            deadline_at: task.deadline_at,
            resumption: task.resumption,
            signals: signals.into_iter().map(|signal| ReceivedSignal::of(signal, encoding)).collect(),
            flow: task.flow,
            trace: task.trace,
            inputs: inputs.into_iter().map(|input| Input::of(input, encoding)).collect(),
            steps: steps.steps.into_iter().map(Step::of).collect(),
            steps_next: steps.next,
            payload: content.json,
            payload_base64: content.base64,
            content_type: content.content_type,
        }
    }

    pub fn into_claimed(self) -> Result<contracts::ClaimedExecution, Refusal> {
        let content = Content { json: self.payload, base64: self.payload_base64, content_type: self.content_type };
        let task = Task {
            execution_id: self.execution_id,
            namespace: self.namespace,
            lane_id: self.lane_id,
            kind: self.kind,
            priority: self.priority,
            tags: self.tags,
            policy: self.policy,
            fence: Fence { lease_id: self.lease_id, lease_epoch: self.lease_epoch, attempt_id: self.attempt_id },
            attempt_index: self.attempt_index,
            attempt: self.attempt,
            resumed: self.resumed,
            lease_ttl_ms: self.lease_ttl_ms,
            lease_expires_at: self.lease_expires_at,
            created_at: self.created_at,
            deadline_at: self.deadline_at,
            resumption: self.resumption,
            flow: self.flow,
            trace: self.trace,
        };
        let signals = self.signals.into_iter().map(ReceivedSignal::into_received).collect::<Result<_, _>>()?;
        let inputs = self.inputs.into_iter().map(Input::into_input).collect::<Result<_, _>>()?;
        let payload = content.into_payload("payload")?.unwrap_or_default();
        let steps = self.steps.into_iter().map(Step::into_step).collect::<Result<_, _>>()?;
        let steps = contracts::StepsPage { steps, next: self.steps_next };
        Ok(contracts::ClaimedExecution { task, payload, signals, inputs, steps })
    }
}

answers! {
    /// Result of an upstream, under the name its edge gave it; without its bytes when they did not fit.
    pub struct Input {
        pub name: InputName,
        pub from: ExecutionId,
        #[serde(deserialize_with = "present")]
        pub payload: Option<Box<RawValue>>,
        pub payload_base64: Option<Base64>,
        pub content_type: Option<ContentType>,
    }
}

impl Input {
    pub fn of(contracts::Input { name, from, payload }: contracts::Input, encoding: Encoding) -> Self {
        let content = payload.map(|payload| Content::of(&payload, encoding)).unwrap_or_default();
        let (payload, payload_base64, content_type) = (content.json, content.base64, content.content_type);
        Self { name, from, payload, payload_base64, content_type }
    }

    pub fn into_input(self) -> Result<contracts::Input, Refusal> {
        let content = Content { json: self.payload, base64: self.payload_base64, content_type: self.content_type };
        Ok(contracts::Input { name: self.name, from: self.from, payload: content.into_payload("payload")? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ff_core::payload::Payload;
    use ff_core::signal::{Effect, Signal, Source};
    use ff_core::step::{StepOutcome, StepRef};
    use ff_core::suspension::ResumedBy;
    use ff_core::types::{FlowId, NodeName, SignalId, SignalName, StepName, SuspensionId};

    #[test]
    fn claimed_work_arrives_as_it_was_sent() {
        let (lease_id, attempt_id) = (LeaseId::new(), AttemptId::new());
        let task = Task {
            execution_id: ExecutionId::new(7, uuid::Uuid::from_u128(1)),
            namespace: Namespace::default_name(),
            lane_id: LaneId::default_name(),
            kind: Kind::parse("k").unwrap(),
            priority: Priority::default(),
            tags: Tags::new(),
            policy: Policy::default(),
            fence: Fence { lease_id, lease_epoch: LeaseEpoch(2), attempt_id },
            attempt_index: AttemptIndex(1),
            attempt: Origin::Retry { of: AttemptIndex(0) },
            resumed: false,
            lease_ttl_ms: 30_000,
            lease_expires_at: TimestampMs(5),
            created_at: TimestampMs(4),
            deadline_at: None,
            resumption: Some(Resumption {
                suspension_id: SuspensionId::new(),
                by: ResumedBy::Signals,
                at: TimestampMs(4),
                continuation: Some("page 7".into()),
                signals: vec![SignalId::new()],
                with_payload: 1,
            }),
            flow: Some(TaskFlow { flow_id: FlowId::new(), node: NodeName::parse("n").unwrap(), inputs: 2 }),
            trace: TraceContext::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", Some("congo=1"))
                .ok()
                .map(Box::new),
        };
        let signal = Signal {
            id: SignalId::new(),
            execution_id: task.execution_id,
            waitpoint_id: None,
            name: SignalName::parse("paid").unwrap(),
            source: Source::external(),
            idempotency_key: None,
            received_at: TimestampMs(3),
            effect: Effect::Satisfied,
            payload_bytes: 3,
        };
        let signals = vec![contracts::ReceivedSignal { signal, payload: Some(Payload::json("[1]")) }];
        let input = |name, payload| contracts::Input {
            name: InputName::parse(name).unwrap(),
            from: ExecutionId::new(7, uuid::Uuid::from_u128(2)),
            payload,
        };
        let inputs = vec![input("rows", Some(Payload::default())), input("too-large", None)];
        let step = ff_core::step::Step {
            seq: 4,
            step: StepRef::new(StepName::parse("a").unwrap()),
            attempt: AttemptIndex(0),
            started_at: TimestampMs(1),
            recorded_at: TimestampMs(2),
            outcome: StepOutcome::Succeeded { result: Payload::bytes("[ ]") },
        };
        let steps = contracts::StepsPage { steps: vec![step], next: Some(4) };
        let claimed = contracts::ClaimedExecution { task, payload: Payload::json("[ ]"), signals, inputs, steps };
        let head = Head::new(Priority::default(), TimestampMs(4));
        let claims = contracts::Claims { claimed: vec![claimed], next: Some(head), ..contracts::Claims::default() };
        for encoding in [Encoding::Json, Encoding::Base64] {
            let text = serde_json::to_string(&Claims::of(claims.clone(), encoding)).unwrap();
            assert!(text.contains(&format!("\"lease_id\":\"{lease_id}\"")), "{text}");
            assert_eq!(serde_json::from_str::<Claims>(&text).unwrap().into_claims(), Ok(claims.clone()));
        }
    }
}
