//! Calls with exactly the published keys and arguments: programs that know no others still get their answer.

use bytes::Bytes;
use ff_core::contracts::GrantedWaitpoint;
use ff_core::execution::Phase;
use ff_core::keys::{ExecKeyContext, IndexKeys};
use ff_core::partition::Partition;
use ff_core::suspension::TimeoutBehavior;
use ff_core::token::{KeyRing, Secret, WaitpointToken};
use ff_core::types::{AttemptIndex, Kid, LaneId, WaitpointId};
use ff_script::execution::{ExtraReads, ff_read_execution};
use ff_script::published::ff_expire_suspension;
use ff_script::signature::{CloseWaitpoint, ResumeExecution, Signature, SuspendExecution};
use ff_script::suspension::{
    ExpireSuspensionArgs, ExpireSuspensionOpKeys, ExpireSuspensionResult, ListWaitpointHmacKidsArgs,
    ff_list_waitpoint_hmac_kids, ff_seed_waitpoint_hmac_secrets,
};
use ff_script::{Fcall, LibraryClock};
use redis::cmd;

use super::scene::{Scene, Stand};
use crate::situation::Situation;
use crate::wire::Wire;

/// Returns the call without the keys and arguments that were added after publication.
fn published(mut call: Fcall) -> Fcall {
    let Signature { keys_required, args_required, .. } = call.signature;
    call.keys.truncate(*keys_required);
    call.args.truncate(*args_required);
    call
}

/// A token that the server signs has the same bytes as one that is signed here, and both open the same waitpoint.
#[tokio::test]
async fn a_suspension_without_a_token_gets_the_one_that_is_signed_here() {
    let wire = Wire::start(LibraryClock::Test).await;
    for secret in ["00", "c0ffee5ec4e7c0ffee5ec4e7c0ffee5e", &"5a".repeat(64), &"a5".repeat(65), &"ff".repeat(1_024)] {
        for text in
            ["a", "a key of sixty-four bytes, which is what one block of SHA has:::", "für Zoë 🌙", &"k".repeat(256)]
        {
            wire.empty().await;
            let mut scene = Stand::WithoutSecrets.arrange(&wire).await;
            scene.ring = KeyRing::of(Kid::first(), Secret::from_hex(secret).unwrap());
            ff_seed_waitpoint_hmac_secrets(&wire, 0, &scene.ring).await.unwrap();
            let call = published(under(text, scene.suspend_call()).call());
            assert_eq!((call.keys.len(), call.args.len()), (17, 17));
            let reply = scene.wire.answer(call).await;
            let token = scene.token(&reply[3].parse().unwrap(), text);
            assert_eq!(reply[..2], ["1", "OK"]);
            assert_eq!(reply[4..6], [text, &token]);
            scene.granted = Some(granted(&reply[3..6]));
            scene.deliver().await;
        }
    }
}

fn under(text: &str, call: SuspendExecution) -> SuspendExecution {
    let resume_condition_json = serde_json::json!({ "type": "signal", "waitpoint": text }).to_string();
    SuspendExecution { waitpoint_key: text.to_owned().into(), resume_condition_json, ..call }
}

pub(super) fn granted(reply: &[String]) -> GrantedWaitpoint {
    let (waitpoint_id, waitpoint_key) = (reply[0].parse().unwrap(), reply[1].parse().unwrap());
    GrantedWaitpoint { waitpoint_id, waitpoint_key, waitpoint_token: WaitpointToken::parse(&reply[2]).unwrap() }
}

#[tokio::test]
async fn a_waitpoint_is_made_ahead_by_the_index_of_the_attempt() {
    let wire = Wire::start(LibraryClock::Test).await;
    let mut scene = Stand::Plain(Situation::Held).arrange(&wire).await;
    let mut call = scene.create_call("b");
    call.expires_at = Some(wire.now() + 1_000);
    let call = published(call.call());
    assert_eq!((call.keys.len(), call.args.len()), (3, 5));
    let reply = scene.wire.answer(call.clone()).await;
    let token = scene.token(&reply[2].parse().unwrap(), "b");
    assert_eq!([&reply[..2], &reply[3..]].concat(), ["1", "OK", "b", &token]);
    assert_eq!(scene.wire.answer(call).await, reply, "asked again it is the same one");
    scene.granted = Some(granted(&reply[2..]));
    scene.deliver().await;
}

#[tokio::test]
async fn words_of_a_callers_own_are_kept() {
    let wire = Wire::start(LibraryClock::Test).await;
    let scene = Stand::Plain(Situation::Held).arrange(&wire).await;
    let mut call = scene.suspend_call();
    (call.reason_code, call.requested_by) = ("waits for Zoë".into(), "a robot".into());
    assert_eq!(scene.wire.answer(published(call.call())).await[..2], ["1", "OK"]);
    let snapshot = ff_read_execution(&wire, &scene.subject.id, ExtraReads::default()).await.unwrap();
    let Phase::Suspended { suspension } = snapshot.execution.phase else { panic!("it is suspended") };
    assert_eq!((suspension.reason.as_str(), suspension.requested_by.as_str()), ("waits for Zoë", "a robot"));
    let call = ResumeExecution { trigger_type: "a nod".into(), ..scene.resume_call() };
    assert_eq!(scene.wire.answer(published(call.call())).await[..2], ["1", "OK"]);
    let last = ExecKeyContext::new(&Partition::of(&scene.subject.id), &scene.subject.id).suspension_last();
    let fields: Vec<String> = wire.ask(cmd("HMGET").arg(last).arg("decision").arg("trigger_type")).await;
    assert_eq!(fields, ["resume", "a nod"]);
}

#[tokio::test]
async fn a_suspension_on_a_waitpoint_made_ahead_needs_no_more_than_was_published() {
    let wire = Wire::start(LibraryClock::Test).await;
    let scene = Stand::Pending.arrange(&wire).await;
    let granted = scene.granted();
    let call = scene.suspend_on_granted();
    let suspension = call.suspension_id.clone();
    let reply = scene.wire.answer(published(call.call())).await;
    let (id, token) = (granted.waitpoint_id.to_string(), granted.waitpoint_token.expose());
    assert_eq!(reply, ["1", "OK", &suspension, &id, "a", &token, "0"]);
    let core = ExecKeyContext::new(&Partition::of(&scene.subject.id), &scene.subject.id).core();
    let shown: Vec<String> = wire.ask(cmd("HMGET").arg(core).arg("public_state").arg("current_waitpoint_id")).await;
    assert_eq!(shown, ["suspended", &id]);
}

#[tokio::test]
async fn an_operator_ends_a_suspension_with_three_arguments() {
    let wire = Wire::start(LibraryClock::Test).await;
    let scene = Stand::Suspended.arrange(&wire).await;
    let mut call = scene.resume_call();
    call.trigger_type = "operator".into();
    call.resume_delay_ms = Some(5);
    let call = published(call.call());
    assert_eq!((call.keys.len(), call.args.len()), (8, 3));
    assert_eq!(scene.wire.answer(call.clone()).await[..3], ["1", "OK", "delayed"]);
    assert_eq!(scene.wire.answer(call).await[..3], ["1", "OK", "delayed"]);
}

#[tokio::test]
async fn a_waitpoint_is_closed_once() {
    let wire = Wire::start(LibraryClock::Test).await;
    let scene = Stand::Pending.arrange(&wire).await;
    let call = published(CloseWaitpoint { reason: Bytes::from("not needed"), ..scene.close_call() }.call());
    assert_eq!((call.keys.len(), call.args.len()), (3, 2));
    assert_eq!(scene.wire.answer(call.clone()).await, ["1", "OK"]);
    assert_eq!(scene.wire.answer(call).await, ["1", "OK", "already_closed"]);
}

#[tokio::test]
async fn a_suspension_expires_when_its_time_has_come_and_says_why_it_does_not() {
    let wire = Wire::start(LibraryClock::Test).await;
    let why = async |scene: &Scene<'_>| {
        let id = scene.subject.id;
        let ((ctx, idx), lane, waitpoint) = (scene.keys(), LaneId::new("default"), WaitpointId::new());
        let (lane_id, waitpoint_id, attempt_index) = (&lane, &waitpoint, AttemptIndex::new(0));
        let keys = ExpireSuspensionOpKeys { ctx: &ctx, idx: &idx, lane_id, waitpoint_id, attempt_index };
        ff_expire_suspension(&wire, &keys, &ExpireSuspensionArgs { execution_id: id }).await.unwrap()
    };
    let reason = |reason: &str| ExpireSuspensionResult::AlreadySatisfied { reason: reason.into() };
    let absent = Stand::Plain(Situation::Absent).arrange(&wire).await;
    assert_eq!(why(&absent).await, reason("not_found_cleaned"));
    let held = Stand::Plain(Situation::Held).arrange(&wire).await;
    assert_eq!(why(&held).await, reason("not_suspended_cleaned"));
    let mut call = held.suspend_call();
    (call.timeout_in_ms, call.timeout_behavior) = (Some(100), "escalate".into());
    assert_eq!(held.wire.answer(call.call()).await[..2], ["1", "OK"]);
    assert_eq!(why(&held).await, reason("not_yet_due"));
    wire.advance(100).await;
    assert_eq!(why(&held).await, ExpireSuspensionResult::Expired { behavior_applied: TimeoutBehavior::Escalate });
    assert_eq!(why(&held).await, reason("not_yet_due"));
    let partition = Partition::of(&held.subject.id);
    let current = ExecKeyContext::new(&partition, &held.subject.id).suspension_current();
    wire.ask::<()>(cmd("DEL").arg(current)).await;
    let timeouts = IndexKeys::new(&partition).suspension_timeout();
    wire.ask::<()>(cmd("ZADD").arg(&timeouts).arg(1).arg(held.subject.id.to_string())).await;
    assert_eq!(why(&held).await, reason("no_active_suspension_cleaned"));
    assert_eq!(wire.ask::<i64>(cmd("EXISTS").arg(timeouts)).await, 0);
}

#[tokio::test]
async fn a_rotation_says_what_it_did_in_the_published_words() {
    let wire = Wire::start(LibraryClock::Test).await;
    let scene = Stand::Plain(Situation::Held).arrange(&wire).await;
    let rotate = |kid: &str, secret: &str, grace_ms: &str| {
        let mut call = scene.rotate_call();
        (call.new_kid, call.new_secret_hex) = (kid.to_owned().into(), secret.to_owned().into());
        call.grace_ms = grace_ms.to_owned().into();
        call.call()
    };
    assert_eq!(scene.wire.answer(rotate("k2", "C0FFEE", "0")).await, ["1", "OK", "rotated", "k1", "k2", "0"]);
    assert_eq!(scene.wire.answer(rotate("k2", "c0ffee", "5")).await, ["1", "OK", "noop", "k2"]);
    assert_eq!(scene.wire.answer(rotate("k2", "facade", "0")).await, ["0", "rotation_conflict", "field", "kid"]);
    assert_eq!(scene.wire.answer(rotate("k3", "facade", "700")).await, ["1", "OK", "rotated", "k2", "k3", "1"]);
    assert_eq!(scene.wire.answer(rotate("k2", "c0ffee", "9")).await, ["1", "OK", "rotated", "k3", "k2", "0"]);
    assert_eq!(scene.wire.answer(rotate("k3", "facade", "700")).await, ["1", "OK", "rotated", "k2", "k3", "0"]);
    let kids = ff_list_waitpoint_hmac_kids(&wire, &scene.keys().1, &ListWaitpointHmacKidsArgs).await.unwrap();
    assert_eq!(kids.current_kid.as_deref(), Some("k3"));
    assert_eq!(kids.verifying.iter().map(|retired| retired.kid.as_str()).collect::<Vec<_>>(), ["k2"]);
    wire.advance(700).await;
    let kids = ff_list_waitpoint_hmac_kids(&wire, &scene.keys().1, &ListWaitpointHmacKidsArgs).await.unwrap();
    assert_eq!(kids.verifying, []);
}
