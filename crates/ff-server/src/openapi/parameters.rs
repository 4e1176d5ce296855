//! Parameters that several routes have.

use ff_core::limits;
use ff_core::types::{
    BudgetName, ExecutionId, FlowId, KeyId, LaneId, NodeName, QuotaName, ScheduleName, SignalId, WaitpointId,
    WorkerInstanceId,
};
use schemars::SchemaGenerator;
use serde_json::{Value, json};

use super::builder::Route;

/// What a part of a path is, by the name its route gives it.
pub(super) fn in_path(generator: &mut SchemaGenerator, name: &str) -> (Value, &'static str) {
    match name {
        "id" => (json!(generator.subschema_for::<ExecutionId>()), "The execution."),
        "flow" => (json!(generator.subschema_for::<FlowId>()), "The flow."),
        "node" => (json!(generator.subschema_for::<NodeName>()), "What a member of the flow is called within it."),
        "waitpoint" => (json!(generator.subschema_for::<WaitpointId>()), "The waitpoint."),
        "signal" => (json!(generator.subschema_for::<SignalId>()), "The signal."),
        "key" => (json!(generator.subschema_for::<KeyId>()), "The public part of an API key."),
        "lane" => (json!(generator.subschema_for::<LaneId>()), "The lane."),
        "schedule" => (json!(generator.subschema_for::<ScheduleName>()), "The schedule."),
        "budget" => (json!(generator.subschema_for::<BudgetName>()), "The budget."),
        "quota" => (json!(generator.subschema_for::<QuotaName>()), "The quota policy."),
        "instance" => (json!(generator.subschema_for::<WorkerInstanceId>()), "The running copy of a worker."),
        _ => (json!({ "type": "string", "minLength": 1 }), "A code of an error."),
    }
}

impl Route<'_> {
    /// How many of something a page has.
    pub(super) fn limit(self) -> Self {
        let schema =
            json!({ "type": "integer", "minimum": 1, "maximum": limits::PAGE, "default": limits::PAGE_DEFAULT });
        self.query_of("limit", schema, "How many at most.")
    }

    /// How long to wait for something.
    pub(super) fn wait(self) -> Self {
        let schema = json!({ "type": "integer", "minimum": 0, "maximum": limits::LONG_POLL_MS, "default": 0 });
        self.query_of("wait_ms", schema, "How long to wait when there is nothing to tell yet.")
    }

    /// Where a page begins, as the one before said.
    pub(super) fn cursor(self, name: &str) -> Self {
        self.query_of(name, json!({ "type": "string" }), "Where the page before ended.")
    }

    /// A number that counts from zero.
    pub(super) fn count(self, name: &str, default: u64, says: &str) -> Self {
        self.query_of(name, json!({ "type": "integer", "minimum": 0, "default": default }), says)
    }

    /// The same as a stream, for callers that accept one.
    pub(super) fn streams(self, says: &str) -> Self {
        self.header_of("Last-Event-ID", json!({ "type": "string" }), "What was heard last; a stream goes on after it.")
            .answers_a(200, "text/event-stream", json!({ "type": "string" }), says)
            .answers_nothing(204, "There is nothing to come back for.")
            .refused(&[429])
    }
}
