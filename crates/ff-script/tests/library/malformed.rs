//! Arguments that no wrapper sends: a function validates before it writes, for every caller.

use bytes::Bytes;
use ff_core::engine_error::Code;
use ff_script::signature::{
    CancelExecution, CompleteExecutions, CreateExecution, CreateExecutions, SIGNATURES, SeedWaitpointHmacSecrets,
    Signature,
};
use ff_script::{Fcall, FcallResult, LibraryClock, ScriptError, Server};
use redis::cmd;

use crate::header::files::functions;
use crate::situation::{Situation, create_call};
use crate::wire::Wire;

const CORE: &str = "ff:exec:{fp:0}:{fp:0}:018f3c5e-7a10-7c31-9c45-0d3f7c1a2b3c:core";
const UUID: &str = "018f3c5e-7a10-7c31-9c45-0d3f7c1a2b3c";

/// Types of arguments, each with a valid value and invalid values.
const TYPES: &[(&str, &str, &[&str])] = &[
    ("text", "word", &[""]),
    ("text?", "", &[]),
    ("uuid", UUID, &["", "short"]),
    ("uuid?", "", &["short"]),
    ("int", "0", &["", "x", "-1", "1.5", "1e300", "nan"]),
    ("int?", "", &["x", "-1", "1.5", "1e300", "nan"]),
    ("flag", "", &[]),
    ("bytes", "", &[]),
    ("free?", "", &[]),
    ("list", "0", &["", "x", "-1", "99"]),
    ("triples", "0", &["", "x", "-1", "99"]),
];

#[tokio::test]
async fn a_malformed_argument_is_refused_by_its_name_and_nothing_is_written() {
    let wire = Wire::start(LibraryClock::Test).await;
    let mut refused = 0;
    for well_formed in calls() {
        let name = well_formed.call.signature.name;
        wire.empty().await;
        assert_ne!(code(ask(&wire, &well_formed.call).await), Some(Code::InvalidArgs), "{name} as it should be called");
        wire.empty().await;
        let before = wire.contents().await;
        for (at, (argument, _, wrong)) in well_formed.types.iter().enumerate() {
            for wrong in *wrong {
                let mut call = well_formed.call.clone();
                call.args[at] = Bytes::from_static(wrong.as_bytes());
                let error = ask(&wire, &call).await.unwrap_err();
                let refusal = error.refusal().unwrap_or_else(|| panic!("{name} {argument}={wrong:?}: {error}"));
                assert_eq!((refusal.code, refusal.field.as_deref()), (Code::InvalidArgs, Some(*argument)), "{name}");
                refused += 1;
            }
        }
        assert_eq!(wire.contents().await, before, "{name} wrote something");
    }
    assert!(refused > 100, "only {refused} malformed arguments were tried");
}

#[tokio::test]
async fn a_call_that_leaves_something_out_is_refused_and_nothing_is_written() {
    let wire = Wire::start(LibraryClock::Test).await;
    let before = wire.contents().await;
    for ValidRequest { call, .. } in calls().into_iter().filter(|one| !one.call.keys.is_empty()) {
        let keys = call.keys[1..call.signature.keys_required].to_vec();
        let mut shorter = vec![Fcall { keys, ..call.clone() }];
        if call.signature.args_required > 0 {
            let args = call.args[1..call.signature.args_required].to_vec();
            shorter.push(Fcall { args, ..call });
        }
        for call in shorter {
            assert_eq!(code(ask(&wire, &call).await), Some(Code::InvalidArgs), "{}", call.signature.name);
        }
    }
    assert_eq!(wire.contents().await, before);
}

/// Lists whose items belong together must be complete.
#[tokio::test]
async fn half_a_pair_is_refused_and_nothing_is_written() {
    let wire = Wire::start(LibraryClock::Test).await;
    for _ in 0..2 {
        Situation::Waiting.arrange(&wire).await;
    }
    let before = wire.contents().await;
    let tags = vec!["region".into(), "eu".into(), "order".into()];
    let create = CreateExecution { tags, ..create_call(CORE.into()) };
    let attempt = format!("1 {UUID}");
    let ends = |attempt: &str, rest: &[&'static str]| {
        let mut ends = vec!["an id".into(), UUID.into(), Bytes::copy_from_slice(attempt.as_bytes())];
        ends.extend(rest.iter().map(|item| Bytes::from_static(item.as_bytes())));
        CompleteExecutions { core: CORE.into(), ends }.call()
    };
    let fixed = ["default", "default", "resize", "", "5", "", "2", "2", "1", "{fp:0}:an id", "1", "a digest"];
    let works = |more: &[&'static str]| {
        let items = fixed.iter().chain(more).map(|item| Bytes::from_static(item.as_bytes()));
        CreateExecutions { core: CORE.into(), works: items.collect() }.call()
    };
    let secrets = "ff:sec:{fp:0}:waitpoint_hmac".to_owned();
    let seed = SeedWaitpointHmacSecrets { waitpoint_hmac_secrets: secrets, fields: vec!["current_kid".into()] };
    for (call, field) in [
        (create.call(), "tags"),
        (ends(&attempt, &[""]), "ends"),
        (ends(UUID, &["", ""]), "ends"),
        (works(&["region", "eu", "start_at"]), "works"),
        (works(&["region", "eu", "start_at", "1", "more"]), "works"),
        (seed.call(), "fields"),
    ] {
        let name = call.signature.name;
        let error = ask(&wire, &call).await.unwrap_err();
        let refusal = error.refusal().unwrap_or_else(|| panic!("{name}: {error}"));
        assert_eq!((refusal.code, refusal.field.as_deref()), (Code::InvalidArgs, Some(field)), "{name}");
        assert_eq!(wire.contents().await, before, "{name} wrote something");
    }
}

/// A function that fails midway must not spoil the next call.
#[tokio::test]
async fn a_call_that_breaks_off_leaves_nothing_for_the_next() {
    let wire = Wire::start(LibraryClock::Test).await;
    let broken = Situation::Waiting.arrange(&wire).await;
    let core = format!("ff:exec:{{fp:0}}:{}:core", broken.id);
    let before = wire.contents().await;
    wire.ask::<()>(cmd("DEL").arg(&core)).await;
    wire.ask::<()>(cmd("SET").arg(&core).arg("not a hash")).await;
    assert!(matches!(ask(&wire, &cancel(&core)).await, Err(ScriptError::Server(_))));
    wire.ask::<()>(cmd("DEL").arg(&core)).await;
    wire.ask::<()>(cmd("RESTORE").arg(&core).arg(0).arg(&before[&core].0)).await;
    assert_eq!(wire.contents().await, before);
    ask(&wire, &cancel(&core)).await.unwrap();
}

fn cancel(core: &str) -> Fcall {
    CancelExecution { core: core.into(), reason: None, requested_by: None }.call()
}

/// A call with valid arguments, and the name, valid value and invalid values of each.
struct ValidRequest {
    call: Fcall,
    types: Vec<(&'static str, &'static str, &'static [&'static str])>,
}

/// Returns one valid call of every function.
fn calls() -> Vec<ValidRequest> {
    let mut calls = Vec::new();
    for signature in SIGNATURES {
        let types = types(signature);
        let keys = vec![CORE.to_owned(); signature.keys.len()];
        let args = types.iter().map(|(_, right, _)| Bytes::from_static(right.as_bytes())).collect();
        calls.push(ValidRequest { call: Fcall { signature, keys, args }, types });
    }
    calls
}

fn types(signature: &'static Signature) -> Vec<(&'static str, &'static str, &'static [&'static str])> {
    let file = functions().into_iter().find(|file| file.name == signature.name).unwrap();
    // A list that takes all arguments has its own tests.
    let kinds = file.header("arg").filter(|words| words[1] != "all").map(|words| {
        let known = TYPES.iter().find(|(kind, ..)| *kind == words[1]);
        known.unwrap_or_else(|| panic!("{} has an argument of type {}", signature.name, words[1]))
    });
    signature.args.iter().zip(kinds).map(|(name, (_, right, wrong))| (*name, *right, *wrong)).collect()
}

pub(crate) async fn ask(wire: &Wire, call: &Fcall) -> Result<(), ScriptError> {
    let reply = wire.fcall(call.clone()).await?;
    FcallResult::parse(call.signature, reply).map(drop)
}

fn code(answer: Result<(), ScriptError>) -> Option<Code> {
    answer.err().and_then(|error| error.refusal().map(|refusal| refusal.code))
}
