//! Ids, names and times, parsed at the edge and trusted inside.

mod api_key;
mod checked_text;
mod class;
mod execution_id;
mod execution_uuid;
mod names;
mod numbers;
pub(crate) mod schema;
mod text;
mod uuids;

pub use api_key::{KeyId, KeyName};
pub use checked_text::BadText;
pub(crate) use checked_text::{as_text, from_text};
pub use class::RequirementClass;
pub use execution_id::{ExecutionId, ExecutionIdError};
pub use execution_uuid::new_execution_uuid;
pub use names::{
    BudgetName, Channel, Dimension, FrameType, InputName, Kind, LaneId, Namespace, NodeName, QuotaName, ScheduleName,
    SignalName, TagKey, WorkerId, WorkerInstanceId,
};
pub use numbers::{AttemptIndex, BadPriority, LeaseEpoch, Priority, TimestampMs};
pub use text::{
    Capability, ContentType, FairKey, FreeText, IdempotencyKey, Kid, QueueName, SourceIdentity, StepKey, StepName,
    SubmissionKey, TagValue, WaitpointKey,
};
pub use uuids::{
    AttemptId, BudgetId, ClaimId, EdgeId, EngineId, FlowId, LeaseId, NotAUuid, QuotaPolicyId, ScheduleId, SignalId,
    SuspensionId, WaitpointId, is_derived,
};
