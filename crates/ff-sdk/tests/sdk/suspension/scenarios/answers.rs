//! Answers from people, operators and other services, and their delivery to followers of the feed.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ff_sdk::core::backend::clock::{Clock, SystemClock};
use ff_sdk::core::contracts::DeliveriesArgs;
use ff_sdk::core::signal::Effect;
use ff_sdk::core::suspension::{Condition, Distinct, SuspendReason};
use ff_sdk::core::types::WaitpointKey;
use ff_sdk::{
    Callback, CallbackError, CallbackRejection, CallbackSecret, Context, Decision, Fault, FlowFabric, Signal, WaitError,
};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use tokio::sync::mpsc;

use super::{WaitpointSender, World, in_time};

/// A handler whose result describes the decision on an approval.
async fn ask(ctx: Context) -> Result<String, Fault> {
    let sender = ctx.state::<WaitpointSender>()?;
    let wait = ctx.wait_for_approval("Deploy 1.4?").asking("All checks are green.").announce(sender.to());
    match wait.await? {
        Decision::Approved(verdict) => Ok(format!("yes from {}: {}", verdict.by, verdict.comment.unwrap_or_default())),
        Decision::Rejected(verdict) => Ok(format!("no from {}: {}", verdict.by, verdict.comment.unwrap_or_default())),
    }
}

pub(crate) async fn an_approval_is_heard_with_its_comment(ff: FlowFabric) {
    let mut world = World::start(ff, ask);
    let id = world.submit().await;
    let waitpoint = world.next_waitpoint().await;
    world.waits(&id).await;
    let info = world.client().get(&id).await.unwrap();
    assert_eq!(info.progress.unwrap().message.as_deref(), Some("All checks are green."));
    assert_eq!(info.suspension.unwrap().reason, SuspendReason::WaitingForApproval);
    let comment = serde_json::json!({ "comment": "go ahead" });
    let yes = Signal::new(&waitpoint, "approved").source("chat", Some("ada")).json(&comment);
    world.client().signal(yes).await.unwrap();
    assert_eq!(world.end(&id).await.json::<String>().unwrap(), "yes from chat:ada: go ahead");

    let id = world.submit().await;
    world.next_waitpoint().await;
    world.waits(&id).await;
    world.client().approve(&id, Some("looked at it")).await.unwrap();
    assert_eq!(world.end(&id).await.json::<String>().unwrap(), "yes from operator: looked at it");
}

pub(crate) async fn a_rejection_is_never_taken_for_an_approval(ff: FlowFabric) {
    let mut world = World::start(ff, |ctx: Context| async move {
        let sender = ctx.state::<WaitpointSender>()?;
        ctx.wait_for_approval("deploy").announce(sender.to()).await?.approved()?;
        Ok::<_, Fault>("deployed")
    });
    for operator in [false, true] {
        let id = world.submit().await;
        let waitpoint = world.next_waitpoint().await;
        world.waits(&id).await;
        if operator {
            world.client().reject(&id, Some("not today")).await.unwrap();
        } else {
            let comment = serde_json::json!({ "comment": "not today" });
            world.client().signal(Signal::new(&waitpoint, "rejected").json(&comment)).await.unwrap();
        }
        let failure = world.end(&id).await.0.failure.unwrap();
        assert_eq!((failure.category.as_str(), failure.permanent), ("rejected", true));
        assert!(failure.message.ends_with(": not today"), "{}", failure.message);
    }
    let id = world.submit().await;
    world.next_waitpoint().await;
    world.waits(&id).await;
    world.client().resume(&id, None).await.unwrap();
    assert_eq!(world.end(&id).await.0.failure.unwrap().category.as_str(), "undecided");
}

pub(crate) async fn of_two_early_answers_the_first_counts(ff: FlowFabric) {
    let client = ff.client();
    let world = World::start(ff, move |ctx: Context| {
        let client = client.clone();
        async move {
            let Some(waitpoint) = ctx.create_waitpoint("deploy").await? else { return Ok("again".to_owned()) };
            client.signal(Signal::new(&waitpoint, "rejected")).await?;
            client.signal(Signal::new(&waitpoint, "approved")).await?;
            let decision = ctx.wait_for_approval("deploy").await?;
            Ok::<_, Fault>(if decision.is_approved() { "yes" } else { "no" }.to_owned())
        }
    });
    let id = world.submit().await;
    assert_eq!(world.end(&id).await.json::<String>().unwrap(), "no");
}

pub(crate) async fn an_operator_stands_for_a_signal_unless_he_rejects(ff: FlowFabric) {
    let world = World::start(ff, |ctx: Context| async move {
        match ctx.wait_for_signal("paid").await {
            Ok(signal) => Ok(format!("{} {}", signal.name(), signal.source())),
            Err(WaitError::Rejected { by, .. }) => Ok(format!("rejected {by}")),
            Err(error) => Err(Fault::from(error)),
        }
    });
    for (decision, answer) in
        [("resume", "resumed operator"), ("approve", "approved operator"), ("", "rejected operator")]
    {
        let id = world.submit().await;
        world.waits(&id).await;
        let decided = match decision {
            "resume" => world.client().resume(&id, None).await,
            "approve" => world.client().approve(&id, None).await,
            _ => world.client().reject(&id, None).await,
        };
        assert!(!decided.unwrap().already);
        assert_eq!(world.end(&id).await.json::<String>().unwrap(), answer);
    }
}

pub(crate) async fn a_wait_for_several_returns_what_met_it(ff: FlowFabric) {
    let (tell, mut receiver) = mpsc::unbounded_channel();
    let world = World::start(ff, move |ctx: Context| {
        let tell = tell.clone();
        async move {
            let people = ["ada", "bob", "cyd"];
            let waitpoints = people.map(|name| WaitpointKey::parse(name).unwrap()).to_vec();
            let two = Condition::Count { n: 2, of: Distinct::Waitpoints, waitpoints, name: None };
            let wait = ctx.suspend("sign-off").until(people, two).announce(|waitpoints| async move {
                tell.send(waitpoints).unwrap();
                Ok(())
            });
            let woken = wait.await?;
            let answers = woken.signals.iter().map(|signal| signal.json::<String>());
            Ok::<_, Fault>(answers.collect::<Result<Vec<_>, _>>()?)
        }
    });
    let id = world.submit().await;
    let waitpoints = in_time(receiver.recv()).await.unwrap();
    assert_eq!(waitpoints.len(), 3);
    for (nth, effect) in [(2, Effect::Appended), (2, Effect::Recounted), (0, Effect::Satisfied)] {
        let waitpoint = &waitpoints[nth];
        let signal = Signal::new(waitpoint, "signed").json(&waitpoint.waitpoint_key);
        world.waits(&id).await;
        assert_eq!(world.client().signal(signal).await.unwrap().effect, effect);
    }
    assert_eq!(world.end(&id).await.json::<Vec<String>>().unwrap(), ["cyd", "ada"]);
}

pub(crate) async fn a_callback_is_believed_once_and_only_when_signed(ff: FlowFabric) {
    let mut world = World::start(ff, |ctx: Context| async move {
        let sender = ctx.state::<WaitpointSender>()?;
        let wait = ctx.wait_for_signal("paid").reason(SuspendReason::WaitingForCallback).announce(sender.to());
        Ok::<_, Fault>(wait.await?.json::<serde_json::Value>()?)
    });
    let id = world.submit().await;
    let waitpoint = world.next_waitpoint().await;
    world.waits(&id).await;

    let secret = CallbackSecret::parse("whsec_c2VjcmV0").unwrap();
    let (body, timestamp) = (r#"{"order":17}"#, (SystemClock.now().0 / 1_000).to_string());
    let mut mac = Hmac::<Sha256>::new_from_slice(b"secret").unwrap();
    mac.update(format!("msg_1.{timestamp}.{body}").as_bytes());
    let signature = format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()));
    let sent = |signature| Callback { id: "msg_1", timestamp: &timestamp, signature, body: body.into() };
    let client = world.client();
    let deliver = |signature| client.verify_and_deliver(&secret, sent(signature), &waitpoint, "paid");

    let forged = deliver("v1,AAAA").await.unwrap_err();
    assert!(matches!(forged, CallbackError::Unbelieved(CallbackRejection::WrongSignature)), "{forged}");
    let first = deliver(&signature).await.unwrap();
    assert_eq!(first.effect, Effect::Satisfied);
    let again = deliver(&signature).await.unwrap();
    assert_eq!((again.effect, again.signal_id), (Effect::Duplicate, first.signal_id));
    assert_eq!(world.end(&id).await.json::<serde_json::Value>().unwrap()["order"], 17);
}

pub(crate) async fn followers_receive_deliveries(ff: FlowFabric) {
    let mut world = World::start(ff, |ctx: Context| async move {
        let sender = ctx.state::<WaitpointSender>()?;
        ctx.wait_for_signal("go").announce(sender.to()).await?;
        Ok::<_, Fault>(())
    });
    let from = {
        let args = DeliveriesArgs { after: None, limit: 1 };
        world.ff.backend().deliveries(args).await.unwrap().next
    };
    let id = world.submit().await;
    let waitpoint = world.next_waitpoint().await;
    let client = world.client();
    let (page, sent) =
        tokio::join!(in_time(client.deliveries(Some(from))), client.signal(Signal::new(&waitpoint, "go")));
    let page = page.unwrap();
    assert_eq!(page.deliveries[0].signal_id, sent.unwrap().signal_id);
    assert_eq!((page.deliveries[0].execution_id, page.missed), (id, false));
    let received = client.received(&id, &page.deliveries[0].signal_id).await.unwrap();
    assert_eq!((received.name(), received.payload().bytes.len()), ("go", 0));
    world.end(&id).await.payload().unwrap();
}
