//! Headers: one function per file, and one place for its signature.

use std::collections::BTreeMap;

use bytes::Bytes;
use ff_script::signature::{
    BufferSignalForPendingWaitpoint, CompleteExecution, DeliverSignal, IssueGrantAndClaim, ReclaimExecution,
    SIGNATURES, Signature,
};
use ff_script::{LibraryClock, library};

use super::files::{LuaFile, functions, lua_files};
use crate::wire::Wire;

fn signature(file: &LuaFile) -> &'static Signature {
    let known = SIGNATURES.iter().find(|signature| signature.name == file.name);
    known.unwrap_or_else(|| panic!("{}/{}.lua is not in the library", file.folder, file.name))
}

#[test]
fn every_file_is_one_function_of_its_own_name_and_room() {
    let files = functions();
    assert_eq!(files.len(), SIGNATURES.len(), "as many files as functions");
    for file in &files {
        assert_eq!(signature(file).domain, file.folder, "{}", file.name);
    }
    for clock in [LibraryClock::Server, LibraryClock::Test] {
        let text = library(clock);
        for Signature { name, .. } in SIGNATURES {
            let times = text.matches(&format!("function_name='{name}'")).count();
            assert_eq!(times, 1, "{name} is registered once");
        }
        assert_eq!(text.matches("register_function").count(), SIGNATURES.len());
    }
}

#[test]
fn a_signature_is_what_the_header_says_in_the_order_it_says_it() {
    for file in functions() {
        let signature = signature(&file);
        assert_eq!(signature.keys, file.named("key"), "keys of {}", file.name);
        assert_eq!(signature.args, file.named("arg"), "arguments of {}", file.name);
        assert_eq!(signature.answers, file.named("ok"), "answers of {}", file.name);
        assert_eq!(signature.refusals, file.named("no"), "refusals of {}", file.name);
        assert_eq!(signature.flags, file.named("flag"), "flags of {}", file.name);
    }
}

#[test]
fn every_shared_piece_is_used() {
    let text = library(LibraryClock::Server);
    for piece in lua_files().iter().filter(|file| file.folder == "lib") {
        let own: Vec<_> = piece.code().collect();
        let (called, field) = (format!("{}(", piece.name), format!("{}.", piece.name));
        let mut others = text.lines().filter(|line| !own.contains(line));
        assert!(others.any(|line| line.contains(&called) || line.contains(&field)), "{} is not called", piece.name);
    }
}

/// The build derives the order of a call from the header; this test spells one order out.
#[test]
fn a_call_sends_its_arguments_in_the_order_of_the_header() {
    let call = CompleteExecution {
        result_type: Some("the type".into()),
        result: Bytes::from_static(b"the result"),
        has_result: true,
        attempt_id: "the attempt".into(),
        lease_epoch: 7,
        lease_id: "the lease".into(),
        core: "the key".into(),
    }
    .call();
    assert_eq!(call.keys, ["the key"]);
    assert_eq!(call.args, ["the lease", "7", "the attempt", "1", "the result", "the type"].map(Bytes::from));
    let named: BTreeMap<_, _> = CompleteExecution::SIGNATURE.args.iter().zip(&call.args).collect();
    assert_eq!(named[&"result_type"], "the type");
}

/// The wrapper of the second function of each pair sends the call of the first one under its own name.
#[test]
fn functions_that_share_a_call_take_the_same() {
    let pairs = [
        (DeliverSignal::SIGNATURE, BufferSignalForPendingWaitpoint::SIGNATURE),
        (IssueGrantAndClaim::SIGNATURE, ReclaimExecution::SIGNATURE),
    ];
    for (one, other) in pairs {
        assert_eq!((one.keys, one.args), (other.keys, other.args), "{} and {}", one.name, other.name);
    }
}

#[tokio::test]
async fn a_server_has_every_function_with_its_flags() {
    let world = Wire::start(LibraryClock::Server).await;
    let expected: BTreeMap<_, Vec<_>> = SIGNATURES
        .iter()
        .map(|signature| (signature.name.to_owned(), signature.flags.iter().map(|flag| (*flag).to_owned()).collect()))
        .collect();
    assert_eq!(world.functions().await, expected);
}
