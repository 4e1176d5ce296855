//! Refusal codes: Lua and Rust use one table.

use std::collections::BTreeSet;

use ff_core::engine_error::{Code, Refusal};
use ff_core::state::PublicState;
use ff_script::signature::{SIGNATURES, Signature};
use ff_script::{FcallResult, ScriptError, Value};

use super::files::{LuaFile, lua_files};

#[test]
fn every_code_is_read_from_a_reply_with_what_it_says() {
    let signature = refusing_with_anything();
    for code in Code::ALL {
        assert_eq!(refusal(signature, &[code.as_str()]).refusal(), Some(&Refusal::new(*code)));
        let read = refusal(signature, &[code.as_str(), "field", "tags", "detail", "is odd"]);
        assert_eq!(read.refusal(), Some(&Refusal::new(*code).at("tags").because("is odd")));
        let read = refusal(signature, &[code.as_str(), "field", "replays", "limit", "3", "sent", "4"]);
        assert_eq!(read.refusal(), Some(&Refusal::over_limit(*code, "replays", 3, 4)));
        let read = refusal(signature, &[code.as_str(), "state", "delayed"]);
        let expected = Refusal::new(*code).in_state(PublicState::Delayed).because("the execution is delayed");
        assert_eq!(read.refusal(), Some(&expected));
    }
}

#[test]
fn an_unexpected_reply_is_a_parse_error_and_not_a_refusal() {
    let signature = &Signature { refusals: &["stale_lease"], ..*refusing_with_anything() };
    let signature: &'static Signature = Box::leak(Box::new(*signature));
    for words in [&["nonsense"][..], &["lease_expired"], &["stale_lease", "mood", "bad"], &["stale_lease", "limit"]] {
        assert!(matches!(refusal(signature, words), ScriptError::Parse(_)), "{words:?}");
    }
    for reply in [Value::Nil, Value::from("OK"), Value::List(vec![]), Value::List(vec![Value::Int(1)])] {
        assert!(matches!(FcallResult::parse(signature, reply), Err(ScriptError::Parse(_))));
    }
    let other = Value::List(vec![Value::Int(1), Value::from("MAYBE")]);
    assert!(matches!(FcallResult::parse(signature, other), Err(ScriptError::Parse(_))));
}

#[test]
fn every_code_of_a_header_is_in_the_table() {
    for signature in SIGNATURES {
        for code in signature.refusals {
            assert!(Code::from_code(code).is_some(), "{} refuses with {code}", signature.name);
        }
    }
}

/// Lua has no function for a code that no header names, so such a call would fail.
#[test]
fn lua_refuses_only_with_codes_that_headers_name() {
    let files = lua_files();
    let named: Vec<_> = SIGNATURES.iter().flat_map(|signature| signature.refusals).copied().collect();
    let mut used = BTreeSet::new();
    for file in &files {
        let own = if file.is_function() { file.named("no") } else { named.clone() };
        for code in file.refusals() {
            assert!(own.contains(&code), "{}/{}.lua refuses with {code}", file.folder, file.name);
            used.insert(code);
        }
    }
    assert_eq!(used, named.into_iter().collect(), "every code a header names is used somewhere");
}

#[test]
fn a_refusal_in_the_code_is_found() {
    let text = "--- no.comment()\nreturn no.stale_lease()\nif x then return (no.lease_expired('state', s)) end\n";
    let file = LuaFile { folder: "lib".into(), name: "a".into(), text: format!("{text}local piano.key('a')\n") };
    assert_eq!(file.refusals(), ["stale_lease", "lease_expired"]);
}

fn refusal(signature: &'static Signature, words: &[&str]) -> ScriptError {
    let mut reply = vec![Value::Int(0)];
    reply.extend(words.iter().map(|word| Value::from(*word)));
    match FcallResult::parse(signature, Value::List(reply)) {
        Ok(_) => panic!("{words:?} was read as done"),
        Err(error) => error,
    }
}

fn refusing_with_anything() -> &'static Signature {
    let codes: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
    Box::leak(Box::new(Signature {
        name: "ff_refuse",
        domain: "execution",
        keys: &[],
        args: &[],
        keys_required: 0,
        args_required: 0,
        answers: &[],
        refusals: codes.leak(),
        flags: &[],
    }))
}
