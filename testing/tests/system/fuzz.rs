//! Input from outside is accepted or refused and never crashes its reader. Valid inputs are damaged at random, and the
//! damaged inputs that are still accepted are damaged further.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use ff_api::Call;
use ff_core::api_key::SecretKey;
use ff_core::backend::entropy::SystemEntropy;
use ff_core::contracts::{Cursor, FlowCursor};
use ff_core::engine_error::Refusal;
use ff_core::event::EventCursor;
use ff_core::operation::{Ask, Operation};
use ff_core::partition::PartitionConfig;
use ff_core::policy::Policy;
use ff_core::schedule::{CronText, Ticks, Timing, Zone};
use ff_core::signal::FeedCursor;
use ff_core::suspension::{Condition, OperatorDecision, ResumePolicy};
use ff_core::token::WaitpointToken;
use ff_core::trace::TraceContext;
use ff_core::types::{ExecutionId, FlowId, LaneId, QuotaName, ScheduleName, TimestampMs, WorkerInstanceId};
use ff_sdk::Flow;
use ff_testing::{Chance, number};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// Fragments with a special meaning to some reader.
const PIECES: &[&str] = &[
    "\"",
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\\",
    "\\u0000",
    "\\ud800",
    "null",
    "true",
    "-",
    "-1",
    "0",
    "1e999",
    "1e-999",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "\n",
    "\r\n",
    "\t",
    "\u{0}",
    "\u{202e}",
    "é",
    "&a ",
    "*a",
    "<<: ",
    "? ",
    "- ",
    "!!binary ",
    "|\n",
    "%",
    "..",
    "{fp:65535}:",
    ".",
];

/// Number of accepted inputs that are kept and damaged further.
const KEPT: usize = 512;

/// Fuzzes a reader. `FF_FUZZ_MS` sets the duration, `FF_FUZZ_SEED` the seed. `read` returns whether it accepts the
/// input.
fn fuzz(seeds: &[&str], read: impl Fn(&str) -> bool) {
    let mut chance = Chance::new(number("FF_FUZZ_SEED", 1) as u64);
    let mut inputs: Vec<String> = seeds.iter().map(|&seed| seed.to_owned()).collect();
    for seed in seeds {
        assert!(read(seed), "an input to begin with cannot be read: {seed}");
    }
    let until = Instant::now() + Duration::from_millis(number("FF_FUZZ_MS", 500) as u64);
    while Instant::now() < until {
        let mut input = chance.pick(&inputs).clone().into_bytes();
        for _ in 0..=chance.below(4) {
            damage(&mut input, &inputs, &mut chance);
        }
        let Ok(input) = String::from_utf8(input) else { continue };
        match catch_unwind(AssertUnwindSafe(|| read(&input))) {
            Ok(true) if inputs.len() < KEPT => inputs.push(input),
            Ok(true) => {
                let place = seeds.len() + below(&mut chance, KEPT - seeds.len());
                inputs[place] = input;
            }
            Ok(false) => {}
            Err(_) => panic!("the reader panicked on {input:?}"),
        }
    }
}

fn below(chance: &mut Chance, bound: usize) -> usize {
    usize::try_from(chance.below(bound as u64)).unwrap()
}

/// Changes a byte, removes or repeats some bytes, or inserts a fragment or a part of another input.
fn damage(input: &mut Vec<u8>, others: &[String], chance: &mut Chance) {
    let place = below(chance, input.len() + 1);
    let end = (place + 1 + below(chance, 16)).min(input.len());
    let put: Vec<u8> = match chance.below(6) {
        0 => vec![u8::try_from(chance.below(256)).unwrap()],
        1 => Vec::new(),
        2 => input[place.min(end)..end].repeat(2 + below(chance, 20)),
        3 => {
            let other = chance.pick(others).as_bytes();
            let from = below(chance, other.len() + 1);
            other[from..(from + 1 + below(chance, 64)).min(other.len())].to_vec()
        }
        _ => chance.pick(PIECES).as_bytes().to_vec(),
    };
    let until = if chance.one_in(2) { place } else { end.max(place) };
    input.splice(place..until, put);
}

/// Parses a text. The output of an accepted text must parse to the same value.
fn reads_back<T: std::str::FromStr + ToString + PartialEq>(text: &str) -> bool {
    let Ok(read) = text.parse::<T>() else { return false };
    assert!(read.to_string().parse::<T>().is_ok_and(|again| again == read), "{text:?} does not read back");
    true
}

#[test]
fn cursors_and_ids() {
    let uuid = "0199f3a0-7c1e-7b43-9d6e-3c1f0a5b8e21";
    let (cursor, id) = (format!("1759999000000.3.{uuid}"), format!("{{fp:3}}:{uuid}"));
    fuzz(&[&cursor, &id, uuid, "0.0.0", "1-2"], |text| {
        let read = [
            reads_back::<Cursor>(text),
            reads_back::<FlowCursor>(text),
            reads_back::<EventCursor>(text),
            reads_back::<FeedCursor>(text),
            reads_back::<ExecutionId>(text),
            LaneId::parse_key(text).is_ok(),
            text == "0.0.0" || text == "1-2" || text == uuid,
        ];
        read.contains(&true)
    });
}

#[test]
fn tokens_and_keys() {
    let hex = "0f".repeat(32);
    let parent = format!("00-{}-{}-01", "0a".repeat(16), "0b".repeat(8));
    fuzz(&[&format!("k1:{hex}"), &format!("ff_a1_{hex}"), &parent], |text| {
        let token = WaitpointToken::parse(text).is_ok_and(|token| {
            assert_eq!(token.expose(), text, "a token has one spelling");
            true
        });
        let key = SecretKey::parse(text).is_ok_and(|key| {
            assert_eq!(key.expose(), text, "a key has one spelling");
            true
        });
        token || key || TraceContext::parse(text, Some(text)).is_ok() || TraceContext::parse(text, None).is_ok()
    });
}

#[test]
fn conditions_and_policies() {
    let seeds = [
        r#"{"type": "operator_only"}"#,
        r#"{"type": "signal", "waitpoint": "a", "name": "approved", "count": 2}"#,
        r#"{"type": "all_of", "conditions": [{"type": "any_of", "conditions": [{"type": "operator_only"}]}]}"#,
        r#"{"max_retries": 3, "backoff": {"type": "exponential", "initial_delay_ms": 5, "max_delay_ms": 50, "multiplier": 2.0}}"#,
        "{}",
    ];
    let read = |text: &str| {
        let json = text.as_bytes();
        let condition = Condition::parse(json).is_ok();
        condition | ResumePolicy::parse(json).is_ok() | Policy::parse(json).is_ok()
    };
    let readable: Vec<_> = seeds.into_iter().filter(|seed| read(seed)).collect();
    assert!(readable.len() >= 2, "only {readable:?} can be read");
    fuzz(&readable, read);
}

#[test]
fn flow_files() {
    let yaml = "kind: etl\nnodes:\n  extract:\n    kind: fetch\n    payload: {table: orders}\n  load:\n    kind: store\n    \
                after:\n      - {node: extract, passes: payload}\n";
    let json = r#"{"kind": "etl", "nodes": {"a": {"kind": "f"}, "b": {"kind": "s", "after": [{"node": "a"}]}}}"#;
    fuzz(&[yaml, json], |text| {
        let built = |flow: Flow| drop(flow.build());
        Flow::from_yaml(text).map(built).is_ok() | Flow::from_json(text).map(built).is_ok()
    });
}

/// An accepted schedule has ticks in ascending order, from any start.
#[test]
fn cron_expressions() {
    let zones: Vec<Zone> = ["UTC", "Europe/Berlin", "Pacific/Apia"].iter().map(|name| name.parse().unwrap()).collect();
    let seeds = ["0 9 * * *", "*/5 8-18/2 1,15,L JAN-JUN MON-FRI", "15 30 2 29 2 ?", "@weekly", "0 0 31 * 7"];
    fuzz(&seeds, |text| {
        let Ok(cron) = text.parse::<CronText>() else { return false };
        let timing = Timing::Cron(cron);
        for zone in &zones {
            for from in [0, 1_325_200_000_000, 1_774_744_200_000, 253_402_300_799_000] {
                let anchor = TimestampMs(from);
                let ticks = Ticks { timing: &timing, zone, anchor, starts_at: None, ends_at: None };
                let next = ticks.following(anchor, 3);
                assert!(next.first().is_none_or(|first| *first > anchor), "{text}");
                assert!(next.windows(2).all(|pair| pair[0] < pair[1]), "{text}");
            }
        }
        true
    });
}

#[test]
fn http_bodies() {
    let uuid = "0199f3a0-7c1e-7b43-9d6e-3c1f0a5b8e21";
    let fence = format!("\"lease_id\": \"{uuid}\", \"lease_epoch\": 1, \"attempt_id\": \"{uuid}\"");
    let seeds = [
        r#"{"kind": "k", "payload": {"a": [1, 2.5, "x"]}, "priority": 5, "delay_ms": 10, "tags": {"a": "b"}}"#
            .to_owned(),
        r#"{"cron": "0 9 * * *", "time_zone": "Europe/Berlin", "overlap": "allow", "execution": {"kind": "k"}}"#
            .to_owned(),
        r#"{"executions": [{"kind": "k"}, {"kind": "l", "payload_base64": "AAEC"}]}"#.to_owned(),
        r#"{"worker_id": "w", "lanes": ["a"], "kinds": ["k"], "max": 5, "lease_ttl_ms": 1000, "wait_ms": 5}"#
            .to_owned(),
        format!("{{{fence}, \"result\": {{\"a\": 1}}}}"),
        format!("{{{fence}, \"message\": \"m\", \"category\": \"c\"}}"),
        format!("{{{fence}, \"delay_ms\": 5}}"),
        format!("{{{fence}, \"waitpoints\": [{{\"key\": \"a\"}}], \"timeout_in_ms\": 5}}"),
        format!("{{\"waitpoint_id\": \"{uuid}\", \"waitpoint_token\": \"k1:00\", \"name\": \"n\", \"payload\": 1}}"),
        r#"{"kind": "f", "nodes": {"a": {"kind": "k"}}}"#.to_owned(),
        r#"{"kid": "k2", "secret_hex": "00112233445566778899aabbccddeeff"}"#.to_owned(),
        r#"{"name": "ci", "roles": ["operate"]}"#.to_owned(),
        "{}".to_owned(),
    ];
    let mut documented = documented_bodies();
    documented.retain(|body| read_as_every_body(body.as_bytes()));
    assert!(documented.contains(&json!({"priority": 7}).to_string()), "{documented:?}");
    let seeds: Vec<_> = seeds.iter().chain(&documented).map(String::as_str).collect();
    fuzz(&seeds, |text| read_as_every_body(text.as_bytes()));
}

/// Returns request bodies made from docs/openapi.json: the required fields of each request, with small values.
fn documented_bodies() -> Vec<String> {
    let document: Value = serde_json::from_str(include_str!("../../../docs/openapi.json")).unwrap();
    let resolve = |schema: &Value| match schema["$ref"].as_str() {
        Some(reference) => document.pointer(reference.trim_start_matches('#')).unwrap().clone(),
        None => schema.clone(),
    };
    let value = |schema: &Value| match resolve(schema)["type"].as_str() {
        Some("integer") => json!(7),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!("a"),
    };
    let posts = document["paths"].as_object().unwrap().values().map(|methods| &methods["post"]["requestBody"]);
    let schemas = posts.map(|body| resolve(&body["content"]["application/json"]["schema"]));
    let required = |schema: Value| {
        let names = schema["required"].as_array().into_iter().flatten().map(|name| name.as_str().unwrap());
        let fields: Map<_, _> = names.map(|name| (name.to_owned(), value(&schema["properties"][name]))).collect();
        (!fields.is_empty()).then(|| Value::from(fields).to_string())
    };
    schemas.filter_map(required).collect()
}

/// The names in the paths of calls.
struct Subjects {
    execution_id: ExecutionId,
    flow_id: FlowId,
    worker_instance_id: WorkerInstanceId,
}

macro_rules! read_calls {
    ($($path:literal $access:ident $name:path:
        $body:ident($args:ty, $subject:ident: $type:ty) -> $answer:ty, at most $bytes:ident $(within $namespace:ident)?,
        refused [$($status:literal),*] $($mark:ident)*, $does:literal => $says:literal;)*) => {
        /// Reads a body as the body of every call, and checks its operation. Returns whether any call can read it.
        fn read_as_every_call(body: &[u8], subjects: &Subjects) -> bool {
            let check = |args: Result<Operation, Refusal>| args.and_then(|operation| operation.check(&PartitionConfig::default()));
            let read = [$(read(body, |body: ff_api::$body| {
                check(Call::into_args(body, subjects.$subject.clone()).map(Ask::into_operation))
            })),*];
            read.contains(&true)
        }
    };
}

ff_api::calls!(read_calls);

/// Reads a body as the body of every route, and builds its arguments. Returns whether any route can read it.
fn read_as_every_body(body: &[u8]) -> bool {
    let id: ExecutionId = "{fp:0}:0199f3a0-7c1e-7b43-9d6e-3c1f0a5b8e21".parse().unwrap();
    let (flow, lane) = (FlowId::new(), LaneId::default_name());
    let instance = WorkerInstanceId::parse("w-1").unwrap();
    let read = [
        read(body, |body: ff_api::Submit| body.into_args().map(|args| args.check())),
        read(body, |body: ff_api::Batch| body),
        read(body, |body: ff_api::Claim| body.into_args(instance.clone())),
        read(body, |body: ff_api::Suspend| body.into_args(id)),
        read(body, |body: ff_api::Deliver| body.into_args(id)),
        read(body, |body: ff_api::Decide| body.into_args(id, OperatorDecision::Approve)),
        read(body, |body: ff_api::Bulk| body.into_args()),
        read(body, |body: ff_api::ConfigureLane| body.into_args(lane.clone())),
        read(body, |body: ff_api::PutQuota| body.into_args(QuotaName::parse("q").unwrap()).check()),
        read(body, |body: ff_api::PutSchedule| body.into_args(ScheduleName::parse("s").unwrap())),
        read(body, |body: ff_api::BackfillSchedule| body.into_args(ScheduleName::parse("s").unwrap()).check()),
        read(body, |body: ff_api::SubmitFlow| body.into_new()),
        read(body, |body: ff_api::GrowFlow| body.into_args(flow)),
        read(body, |body: ff_api::CancelFlow| body.into_args(flow)),
        read(body, |body: ff_api::RotateSecret| body.into_args()),
        read(body, |body: ff_api::CreateKey| body.into_args(&SystemEntropy)),
    ];
    let subjects = Subjects { execution_id: id, flow_id: flow, worker_instance_id: instance };
    read_as_every_call(body, &subjects) || read.contains(&true)
}

fn read<T: DeserializeOwned, U>(body: &[u8], into: impl FnOnce(T) -> U) -> bool {
    ff_api::object(body).map(into).is_ok()
}
