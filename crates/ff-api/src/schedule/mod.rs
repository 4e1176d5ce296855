//! Schedules on the wire.

mod view;

use ff_core::contracts::{BackfillArgs, PauseScheduleArgs, PutScheduleArgs, ScheduleRef, SubmitArgs};
use ff_core::engine_error::Refusal;
use ff_core::schedule::{CatchUp, CronText, Overlap, ScheduleDefinition, ScheduleTarget, Timing, Zone};
use ff_core::types::{Namespace, ScheduleName, TimestampMs};
use serde::{Deserialize, Serialize};

use crate::object::{requests, word};
use crate::query::{Limit, query};
use crate::{Content, Encoding, NewFlow, Strict, Submit, SubmitFlow};

pub use view::{ScheduleView, SchedulesPage};

requests! {
    /// Creates or replaces a schedule. One of `cron`, `every_ms` and `at` sets when it ticks, and one of `execution` and
    /// `flow` what a tick starts. Payloads and tag values may contain `{{tick}}` and `{{schedule}}`.
    #[derive(Clone)]
    pub struct PutSchedule {
        pub namespace: Option<Namespace>,
        pub cron: Option<CronText>,
        /// Interval in milliseconds, counted from `starts_at` or from the creation.
        pub every_ms: Option<u64>,
        /// Ticks once, at this time.
        pub at: Option<TimestampMs>,
        /// Time zone of `cron` (default: `UTC`).
        pub time_zone: Option<Zone>,
        /// Maximum delay added to a tick; always the same for a given tick.
        pub jitter_ms: Option<u64>,
        pub starts_at: Option<TimestampMs>,
        /// No tick after this time.
        pub ends_at: Option<TimestampMs>,
        /// What happens to a tick while the work of the previous tick has not ended (default: `skip`).
        #[serde(deserialize_with = "word")]
        pub overlap: Option<Overlap>,
        /// How late a tick may still start (default: a day).
        pub catch_up_ms: Option<u64>,
        /// Which missed ticks within `catch_up_ms` run (default: `last`).
        #[serde(deserialize_with = "word")]
        pub catch_up: Option<CatchUp>,
        /// A submission, without `namespace`, `idempotency_key` and `uuid`, which the schedule sets.
        pub execution: Option<Strict<Submit>>,
        /// A flow, without `namespace`, `idempotency_key` and `flow_id`, which the schedule sets.
        pub flow: Option<Strict<SubmitFlow>>,
    }
}

impl PutSchedule {
    /// Makes the request form of a definition. JSON payloads are embedded as they are.
    pub fn of(namespace: Option<Namespace>, definition: ScheduleDefinition) -> Result<Self, serde_json::Error> {
        let default = ScheduleDefinition::new(definition.timing.clone(), definition.target.clone());
        let (cron, every_ms, at) = match definition.timing {
            Timing::Cron(cron) => (Some(cron), None, None),
            Timing::EveryMs(every_ms) => (None, Some(every_ms), None),
            Timing::At(at) => (None, None, Some(at)),
        };
        let (execution, flow) = match definition.target {
            ScheduleTarget::Execution(args) => (Some(Strict(template(*args)?)), None),
            ScheduleTarget::Flow(args) => {
                let flow = SubmitFlow::of(*args)?;
                (None, Some(Strict(SubmitFlow { flow_id: None, namespace: None, ..flow })))
            }
        };
        Ok(Self {
            namespace,
            cron,
            every_ms,
            at,
            time_zone: (definition.time_zone != default.time_zone).then_some(definition.time_zone),
            jitter_ms: (definition.jitter_ms != 0).then_some(definition.jitter_ms),
            starts_at: definition.starts_at,
            ends_at: definition.ends_at,
            overlap: (definition.overlap != default.overlap).then_some(definition.overlap),
            catch_up_ms: (definition.catch_up_ms != default.catch_up_ms).then_some(definition.catch_up_ms),
            catch_up: (definition.catch_up != default.catch_up).then_some(definition.catch_up),
            execution,
            flow,
        })
    }

    pub fn into_args(self, name: ScheduleName) -> Result<PutScheduleArgs, Refusal> {
        let namespace = self.namespace.clone().unwrap_or_else(Namespace::default_name);
        let definition = self.into_definition()?;
        Ok(PutScheduleArgs { schedule: ScheduleRef { namespace, name }, definition })
    }

    fn into_definition(self) -> Result<ScheduleDefinition, Refusal> {
        let timing = match (self.cron, self.every_ms, self.at) {
            (Some(cron), None, None) => Timing::Cron(cron),
            (None, Some(every_ms), None) => Timing::EveryMs(every_ms),
            (None, None, Some(at)) => Timing::At(at),
            (None, None, None) => return Err(Refusal::invalid("cron", "is required, or every_ms, or at")),
            (cron, ..) => {
                let field = if cron.is_some() { "cron" } else { "every_ms" };
                return Err(Refusal::invalid(field, "must be the only one of cron, every_ms and at"));
            }
        };
        let target = match (self.execution, self.flow) {
            (Some(Strict(submit)), None) => execution_target(submit)?,
            (None, Some(Strict(flow))) => flow_target(flow)?,
            (None, None) => return Err(Refusal::invalid("execution", "is required, or flow")),
            (Some(_), Some(_)) => return Err(Refusal::invalid("flow", "cannot be given together with execution")),
        };
        let default = ScheduleDefinition::new(timing, target);
        Ok(ScheduleDefinition {
            time_zone: self.time_zone.unwrap_or_default(),
            jitter_ms: self.jitter_ms.unwrap_or(default.jitter_ms),
            starts_at: self.starts_at,
            ends_at: self.ends_at,
            overlap: self.overlap.unwrap_or_default(),
            catch_up_ms: self.catch_up_ms.unwrap_or(default.catch_up_ms),
            catch_up: self.catch_up.unwrap_or_default(),
            ..default
        })
    }
}

/// Makes the submission of a schedule's view, without the fields that each tick fills in.
fn template(args: SubmitArgs) -> Result<Submit, serde_json::Error> {
    let payload = args.payload.clone();
    let submit = Submit::of(args)?;
    let content = if payload == ff_core::payload::Payload::default() {
        Content::default()
    } else {
        Content::of(&payload, Encoding::Json)
    };
    let (payload, payload_base64, content_type) = (content.json, content.base64, content.content_type);
    Ok(Submit { payload, payload_base64, content_type, namespace: None, uuid: None, idempotency_key: None, ..submit })
}

fn execution_target(submit: Submit) -> Result<ScheduleTarget, Refusal> {
    let given = [
        ("namespace", submit.namespace.is_some()),
        ("idempotency_key", submit.idempotency_key.is_some()),
        ("uuid", submit.uuid.is_some()),
    ];
    check_own("execution", &given)?;
    let args = submit.into_args().map_err(|refusal| within("execution", refusal))?;
    Ok(ScheduleTarget::Execution(Box::new(args)))
}

fn flow_target(flow: SubmitFlow) -> Result<ScheduleTarget, Refusal> {
    let given = [
        ("namespace", flow.namespace.is_some()),
        ("idempotency_key", flow.idempotency_key.is_some()),
        ("flow_id", flow.flow_id.is_some()),
        ("held_open", flow.held_open),
    ];
    check_own("flow", &given)?;
    match flow.into_new().map_err(|refusal| within("flow", refusal))? {
        NewFlow::Whole(args) => Ok(ScheduleTarget::Flow(Box::new(args))),
        NewFlow::HeldOpen(_) => Err(Refusal::invalid("flow.held_open", "must be false in a schedule")),
    }
}

/// Refuses fields that the schedule fills in.
fn check_own(target: &str, given: &[(&str, bool)]) -> Result<(), Refusal> {
    match given.iter().find(|(_, is_given)| *is_given) {
        Some((field, _)) => {
            Err(Refusal::invalid(format!("{target}.{field}"), "must not be given: it is the schedule's to fill in"))
        }
        None => Ok(()),
    }
}

fn within(target: &str, refusal: Refusal) -> Refusal {
    match refusal.field.clone() {
        Some(field) => refusal.at(format!("{target}.{field}")),
        None => refusal.at(target),
    }
}

/// Defines calls about a schedule whose only field is the namespace.
macro_rules! schedule_calls {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Serialize, Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub namespace: Option<Namespace>,
        }

        impl $name {
            pub fn into_ref(self, name: ScheduleName) -> ScheduleRef {
                ScheduleRef { namespace: self.namespace.unwrap_or_else(Namespace::default_name), name }
            }
        }
    )*};
}

schedule_calls! {
    /// Deletes a schedule. Work it has started continues.
    DeleteSchedule;
    /// Resumes a schedule.
    ResumeSchedule;
    /// Runs a tick now.
    TriggerSchedule;
}

requests! {
    /// Pauses a schedule.
    pub struct PauseSchedule {
        pub namespace: Option<Namespace>,
        pub reason: Option<String>,
    }
}

impl PauseSchedule {
    pub fn into_args(self, name: ScheduleName) -> PauseScheduleArgs {
        let namespace = self.namespace.unwrap_or_else(Namespace::default_name);
        PauseScheduleArgs { schedule: ScheduleRef { namespace, name }, reason: self.reason }
    }
}

requests! {
    /// Runs the ticks of a past range, each once.
    pub struct BackfillSchedule {
        pub namespace: Option<Namespace>,
        pub from: TimestampMs,
        /// End of the range, inclusive.
        pub to: TimestampMs,
    }
}

impl BackfillSchedule {
    pub fn into_args(self, name: ScheduleName) -> BackfillArgs {
        let namespace = self.namespace.unwrap_or_else(Namespace::default_name);
        BackfillArgs { schedule: ScheduleRef { namespace, name }, from: self.from, to: self.to }
    }
}

query! {
    /// Parameters of the list of schedules.
    SchedulesQuery within namespace {
        /// The namespace (default: `default`).
        namespace: Namespace,
        /// Only schedules after this one, by name.
        after: ScheduleName,
        /// Maximum number of results.
        limit: Limit,
    }
}

query! {
    /// Parameters of the list of a schedule's next ticks.
    NextTicksQuery within namespace {
        /// The namespace (default: `default`).
        namespace: Namespace,
        /// Maximum number of ticks (default: 5).
        count: usize,
    }
}

#[cfg(test)]
mod tests {
    use ff_core::contracts::ScheduleInfo;
    use ff_core::engine_error::Code;
    use ff_core::json;
    use ff_core::schedule::Schedule;
    use ff_core::types::ScheduleId;

    use super::*;

    fn name() -> ScheduleName {
        ScheduleName::parse("nightly").unwrap()
    }

    fn read(text: &str) -> Result<PutScheduleArgs, Refusal> {
        json::read::<PutSchedule>(text.as_bytes()).and_then(|put| put.into_args(name()))
    }

    #[test]
    fn a_schedule_arrives_as_it_was_sent() {
        for text in [
            r#"{"cron":"0 9 * * *","time_zone":"Europe/Berlin","execution":{"kind":"k","payload":{ "a" : 1 }}}"#,
            r#"{"every_ms":5000,"jitter_ms":7,"overlap":"queue_one","catch_up":"all","catch_up_ms":10000,
                "execution":{"kind":"k","lane":"l","priority":3,"tags":{"t":"{{tick}}"},"singleton":{"key":"x"}}}"#,
            r#"{"at":99,"starts_at":1,"ends_at":100,"flow":{"kind":"f","nodes":{"a":{"kind":"k"},"b":{"kind":"k","after":["a"]}}}}"#,
        ] {
            let args = read(text).unwrap();
            let info = ScheduleInfo::of(
                Schedule::create(
                    ScheduleId::new(),
                    (args.schedule.namespace, args.schedule.name),
                    args.definition,
                    TimestampMs(50),
                )
                .unwrap(),
            );
            let view = serde_json::to_string(&ScheduleView::of(info.clone()).unwrap()).unwrap();
            let back = serde_json::from_str::<ScheduleView>(&view).unwrap().into_info();
            assert_eq!(back, Ok(info), "{view}");
        }
    }

    #[test]
    fn an_invalid_schedule_is_refused_with_its_full_path() {
        let target = r#""execution":{"kind":"k"}"#;
        for (text, field) in [
            (format!(r#"{{"cron":"61 * * * *",{target}}}"#), "cron"),
            (format!(r#"{{"cron":"0 9 * * *","time_zone":"Europe/Berln",{target}}}"#), "time_zone"),
            (format!(r#"{{"cron":"0 9 * * *","every_ms":5000,{target}}}"#), "cron"),
            (format!(r#"{{"every_ms":5000,"at":1,{target}}}"#), "every_ms"),
            (format!("{{{target}}}"), "cron"),
            (format!(r#"{{"every_ms":5000,"overlap":"never",{target}}}"#), "overlap"),
            (r#"{"every_ms":5000}"#.into(), "execution"),
            (r#"{"every_ms":5000,"execution":{"kind":"k k"}}"#.into(), "execution.kind"),
            (r#"{"every_ms":5000,"execution":{"kind":"k","namespace":"a"}}"#.into(), "execution.namespace"),
            (r#"{"every_ms":5000,"execution":{"kind":"k","idempotency_key":"a"}}"#.into(), "execution.idempotency_key"),
            (r#"{"every_ms":5000,"execution":{"kind":"k","policy":{"x":1}}}"#.into(), "execution.policy.x"),
            (r#"{"every_ms":5000,"flow":{"kind":"k","held_open":true}}"#.into(), "flow.held_open"),
            (r#"{"every_ms":5000,"flow":{"kind":"k","nodes":{"a":{"kind":"k k"}}}}"#.into(), "flow.nodes.a.kind"),
        ] {
            let refusal = read(&text).unwrap_err();
            assert_eq!(refusal.field.as_deref(), Some(field), "{text}: {refusal:?}");
            assert!(matches!(refusal.code, Code::InvalidInput | Code::InvalidPolicyJson), "{text}: {refusal:?}");
        }
    }
}
