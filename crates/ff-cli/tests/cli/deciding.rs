//! `ff suspensions`, `ff signal`, `ff approve`, `ff reject`, `ff resume`, `ff secrets`.

use std::time::Duration;

use ff_core::suspension::{Condition, TimeoutBehavior};
use ff_core::types::WaitpointKey;
use ff_sdk::{Context, Decision, Fault};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::world::{CommandRun, World};

/// A server, and a worker whose handlers suspend. Dropping it stops both.
struct SuspendedWork {
    world: World,
    _working: Runtime,
}

impl SuspendedWork {
    fn start() -> Self {
        Self::at(World::start())
    }

    fn at(world: World) -> Self {
        let working = Runtime::new().unwrap();
        let server = world.server.clone();
        working.spawn(async move {
            let ff = ff_sdk::connect(&server).await.unwrap();
            let worker = ff.worker("w").on("deploy", deploy).on("order", order).on("sign", sign).on("hurry", hurry);
            let worker = worker.on("spend", spend);
            worker.concurrency(4).run_until(std::future::pending()).await.unwrap();
        });
        Self { world, _working: working }
    }

    /// Submits an execution, and returns its id once it is suspended.
    fn waits(&self, kind: &str) -> String {
        let id = self.world.ok(&["submit", kind]);
        let suspended = |_: &usize| self.world.json(&["get", &id])["public_state"] == "suspended";
        assert!((0..500).find(suspended).is_some(), "{id} does not wait");
        id
    }

    fn result(&self, id: &str) -> String {
        self.world.ok(&["result", id, "--wait", "--timeout", "20s"])
    }
}

async fn deploy(ctx: Context) -> Result<String, Fault> {
    let wait =
        ctx.wait_for_approval("Deploy 1.4?").asking("All checks\nare green.").timeout(Duration::from_secs(7_200));
    Ok(match wait.await? {
        Decision::Approved(verdict) => format!("yes from {}: {}", verdict.by, verdict.comment.unwrap_or_default()),
        Decision::Rejected(verdict) => format!("no from {}: {}", verdict.by, verdict.comment.unwrap_or_default()),
    })
}

async fn order(ctx: Context) -> Result<Value, Fault> {
    let paid = ctx.wait_for_signal("paid").await?;
    Ok(json!({"name": paid.name(), "from": paid.source().to_string(), "payload": paid.json::<Value>()?}))
}

async fn sign(ctx: Context) -> Result<usize, Fault> {
    let people = ["ada", "bob"];
    let member = |name| Condition::Signal { waitpoint: WaitpointKey::parse(name).unwrap(), name: None };
    let both = Condition::AllOf { members: people.map(member).to_vec() };
    Ok(ctx.suspend("sign-off").until(people, both).await?.signals.len())
}

async fn hurry(ctx: Context) -> Result<(), Fault> {
    let wait = ctx.wait_for_signal("now").timeout(Duration::from_millis(1));
    wait.on_timeout(TimeoutBehavior::Expire).await?;
    Ok(())
}

async fn spend(ctx: Context) -> Result<&'static str, Fault> {
    ctx.usage().add("tokens", 11).report().await?;
    ctx.usage().add("tokens", 1).report().await?;
    Ok("done")
}

#[test]
fn an_execution_over_its_budget_waits_for_more_of_it() {
    let asking = SuspendedWork::start();
    let budget = ["--scope", "kind:spend", "--hard", "tokens=10", "--on-hard-limit", "suspend"];
    asking.world.ok(&[&["budgets", "create", "agent"], &budget[..]].concat());
    let id = asking.waits("spend");
    let shown = asking.world.ok(&["suspensions"]);
    assert!(shown.contains("May it go on? budget agent is exceeded: tokens"), "{shown}");
    for (wrong, code, why) in [
        ("tokens=5", 2, "agent:tokens=50000"),
        ("agent:calls=5", 2, "budget agent has no hard limit of calls"),
        ("none:tokens=5", 1, "budget_not_found"),
    ] {
        asking.world.run(&["approve", &id, "--add", wrong]).refused(code, why);
    }
    assert_eq!(asking.world.json(&["get", &id])["public_state"], "suspended");
    asking.world.ok(&["approve", &id, "--add", "agent:tokens=40", "--reason", "worth it"]);
    assert_eq!(asking.result(&id), r#""done""#);
    asking.world.run(&["approve", &id, "--add", "agent:tokens=40"]).refused(1, "execution_not_suspended");
    let info = asking.world.json(&["budgets", "show", "agent"]);
    assert_eq!((&info["balance"]["tokens"]["hard"], &info["balance"]["tokens"]["used"]), (&json!(50), &json!(12)));

    asking.world.ok(&["budgets", "set", "agent", "--hard", "tokens=20"]);
    let id = asking.waits("spend");
    asking.world.ok(&["reject", &id, "--reason", "too dear"]);
    let failed = asking.world.run(&["result", &id, "--wait", "--timeout", "20s"]);
    assert!(failed.stderr.contains("too dear"), "{}", failed.stderr);
    assert_eq!(asking.world.json(&["get", &id])["failure"]["category"], "budget_exceeded");
}

#[test]
fn suspensions_are_listed_with_their_reason_and_age() {
    let asking = SuspendedWork::start();
    let empty = asking.world.ok(&["suspensions"]);
    assert!(empty.starts_with("ID") && empty.lines().count() == 1, "{empty}");
    let id = asking.waits("deploy");
    asking.world.ok(&["submit", "nobody.does.this"]);
    let shown = asking.world.ok(&["suspensions"]);
    assert_eq!(shown.lines().count(), 2, "{shown}");
    for text in [
        id.as_str(),
        "deploy",
        "approval",
        "Deploy 1.4?",
        "in 1h, then auto resume",
        "All checks / are green.",
        "WAITS FOR",
        "SINCE",
    ] {
        assert!(shown.contains(text), "{text} is not in {shown}");
    }
    let page = asking.world.json(&["suspensions"]);
    assert_eq!(page["executions"][0]["suspension"]["reason"], "waiting_for_approval");
    let got = asking.world.ok(&["get", &id]);
    for text in ["suspended", "waits for    approval", "waits at     Deploy 1.4?", "times out"] {
        assert!(got.contains(text), "{text} is not in {got}");
    }
    assert_eq!(asking.world.json(&["list", "--state", "suspended"])["executions"][0]["execution_id"], json!(id));
}

#[test]
fn suspensions_are_paged_like_any_listing() {
    let asking = SuspendedWork::start();
    (0..3).for_each(|_| drop(asking.waits("order")));
    let first = asking.world.run(&["suspensions", "--limit", "2"]);
    assert_eq!((first.code, first.text().lines().count()), (Some(0), 3));
    let cursor = first.stderr.split("--cursor ").nth(1).unwrap().split(',').next().unwrap().to_owned();
    assert_eq!(asking.world.ok(&["suspensions", "--limit", "2", "--cursor", &cursor]).lines().count(), 2);
    assert_eq!(asking.world.json(&["suspensions", "--all"])["executions"].as_array().unwrap().len(), 3);
    assert_eq!(asking.world.ok(&["suspensions", "--lane", "mail"]).lines().count(), 1);
}

#[test]
fn an_operator_approves_rejects_or_lets_go_on() {
    let asking = SuspendedWork::start();
    let id = asking.waits("deploy");
    let done = asking.world.ok(&["approve", &id, "--by", "ada", "--reason", "looked at it"]);
    assert_eq!(done, format!("{id} was approved, and is waiting"));
    assert_eq!(asking.result(&id), r#""yes from operator:ada: looked at it""#);
    let again = asking.world.ok(&["approve", &id]);
    assert_eq!(again, format!("{id} had already been approved, and is completed"));
    asking.world.run(&["reject", &id]).refused(1, "execution_not_suspended: the execution is completed");

    let id = asking.waits("deploy");
    let decided = asking.world.json(&["reject", &id, "--by", "bob"]);
    assert_eq!((&decided["already"], &decided["public_state"]), (&json!(false), &json!("waiting")));
    assert_eq!(asking.result(&id), r#""no from operator:bob: ""#);

    let id = asking.waits("order");
    let suspension = asking.world.json(&["get", &id])["suspension"]["suspension_id"].as_str().unwrap().to_owned();
    let other = "018f3c5e-7a10-7c31-9c45-0d3f7c1a2b3c";
    asking.world.run(&["resume", &id, "--suspension", other]).refused(1, "execution_not_suspended");
    asking.world.ok(&["resume", &id, "--suspension", &suspension, "--by", "cyd", "--payload", "[1]"]);
    let result: Value = serde_json::from_str(&asking.result(&id)).unwrap();
    assert_eq!(result, json!({"name": "resumed", "from": "operator:cyd", "payload": [1]}));
    let attempts = asking.world.ok(&["attempts", &id]);
    assert!(attempts.contains("suspended") && attempts.contains("success"), "{attempts}");
}

#[test]
fn a_signal_is_delivered_with_a_token_or_as_an_operator() {
    let asking = SuspendedWork::start();
    let id = asking.waits("order");
    asking.world.run(&["signal", &id, "paid", "--waitpoint", "paid", "--token", "k1:00"]).refused(1, "invalid_token");
    asking.world.run(&["signal", &id, "paid", "--waitpoint", "elsewhere"]).refused(1, "open are: paid");
    asking.world.run(&["signal", &id, "no spaces"]).refused(2, "may hold only letters");
    asking.world.run(&["signal", &id, "paid", "--source", "operator"]).refused(2, "operator is reserved");
    let other = asking.world.ok(&["signal", &id, "refunded"]);
    assert!(other.ends_with(": recorded, but the execution waits for a signal of another name"), "{other}");
    let args = ["signal", &id, "paid", "--payload", r#"{"n":5}"#, "--source", "bank:b-7", "--idempotency-key", "once"];
    let paid = asking.world.ok(&args);
    assert!(paid.ends_with(": counted, and the execution resumes"), "{paid}");
    let result: Value = serde_json::from_str(&asking.result(&id)).unwrap();
    assert_eq!(result, json!({"name": "paid", "from": "bank:b-7", "payload": {"n": 5}}));
    asking.world.run(&["signal", &id, "paid"]).refused(1, "has no open waitpoint");

    let id = asking.waits("sign");
    asking.world.run(&["signal", &id, "yes"]).refused(1, "name one with --waitpoint: ada, bob");
    assert!(asking.world.ok(&["signal", &id, "yes", "--waitpoint", "bob"]).contains("waits for more"));
    assert_eq!(
        asking.world.json(&["signal", &id, "yes", "--waitpoint", "ada"])["effect"],
        "resume_condition_satisfied"
    );
    assert_eq!(asking.result(&id), "2");
}

#[test]
fn links_lead_to_the_public_address_and_work_after_a_rotation() {
    let asking = SuspendedWork::at(World::with(&["--public-url", "https://ff.example.org/"]));
    let id = asking.waits("deploy");
    let token = || {
        let links = asking.world.json(&["suspensions", "--links"])["links"].clone();
        let link = links[0]["approval_url"].as_str().unwrap().to_owned();
        assert!(link.starts_with("https://ff.example.org/approvals/%7Bfp:"), "{link}");
        link.split_once("?token=").unwrap().1.replace("%3A", ":")
    };
    let old = token();
    asking.world.ok(&["secrets", "rotate", "--kid", "k2", "--grace", "0s"]);
    let answer = |token: &str, name: &str| {
        let mut signal = asking.world.command(&["signal", &id, name, "--waitpoint", "Deploy 1.4?"]);
        signal.env("FF_TOKEN", token);
        CommandRun::of(signal)
    };
    answer(&old, "rejected").refused(1, "retired");
    assert!(answer(&token(), "rejected").ok().contains("resumes"));
    assert_eq!(asking.result(&id), r#""no from cli: ""#);
    asking.world.run(&["dev", "--public-url", "ff.example.org"]).refused(2, "must be an address such as https://");
}

#[test]
fn suspensions_are_listed_with_approval_links_on_request() {
    let asking = SuspendedWork::start();
    let id = asking.waits("deploy");
    let links = asking.world.json(&["suspensions", "--links"])["links"].clone();
    let link = links[0]["approval_url"].as_str().unwrap();
    assert!(link.starts_with(&format!("{}/approvals/%7Bfp:", asking.world.server)), "{link}");
    let shown = asking.world.ok(&["suspensions", "--links"]);
    assert!(shown.contains(link) && shown.contains(&id) && shown.contains("Deploy 1.4?"), "{shown}");
    let token = link.split_once("?token=").unwrap().1.replace("%3A", ":");
    assert!(!asking.world.ok(&["suspensions"]).contains(&token), "only who asks for links sees tokens");
    let mut signal = asking.world.command(&["signal", &id, "approved", "--waitpoint", "Deploy 1.4?"]);
    signal.env("FF_TOKEN", token);
    assert!(CommandRun::of(signal).ok().contains("resumes"));
    assert_eq!(asking.result(&id), r#""yes from cli: ""#);
}

#[test]
fn a_suspension_timeout_is_reported_as_such() {
    let asking = SuspendedWork::start();
    let id = asking.world.ok(&["submit", "hurry"]);
    asking.world.run(&["result", &id, "--wait"]).refused(5, "expired: what it waited for did not come in time");
    assert!(asking.world.ok(&["attempts", &id]).contains("suspension timed out"));
}

#[test]
fn secrets_are_rotated_and_never_shown() {
    let world = World::start();
    let listed = world.ok(&["secrets", "list"]);
    assert!(listed.contains("signs and verifies") && listed.contains("256 of 256"), "{listed}");
    let secret = "c0ffee5ec4e7c0ffee5ec4e7c0ffee5e";
    std::fs::write(world.folder.path().join("secret"), format!("{secret}\n")).unwrap();
    let args = ["secrets", "rotate", "--kid", "k2", "--secret-file", "secret", "--grace", "2h"];
    let first = world.run(&[&args[..], &["-vvv"]].concat());
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    assert_eq!(first.text().trim(), "k2 signs new tokens on 256 of 256 partitions; older tokens stay good for 2h");
    assert!(!first.stderr.contains(secret), "{}", first.stderr);
    assert_eq!(world.ok(&args), "k2 was there already on 256 of 256 partitions");
    let listed = world.ok(&["secrets", "list"]);
    assert!(listed.contains("k2") && listed.contains("k1") && listed.contains("in 1h"), "{listed}");
    assert!(!listed.contains(secret));

    let piped = world.command(&["secrets", "rotate", "--kid", "k2", "--secret-file", "-"]);
    let conflict = CommandRun::fed(piped, b"facadefacadefacadefacadefacadefa");
    assert_eq!(conflict.code, Some(1));
    assert!(
        conflict.stderr.contains("rotation_conflict") && conflict.stderr.contains("another --kid"),
        "{}",
        conflict.stderr
    );
    let drawn = world.json(&["secrets", "rotate"]);
    assert_eq!((drawn["rotated"].as_array().unwrap().len(), &drawn["failed"]), (256, &json!([])));
    assert!(drawn["rotated"][0]["new_kid"].as_str().unwrap().starts_with('k'));

    std::fs::write(world.folder.path().join("bad"), "not hex").unwrap();
    world.run(&["secrets", "rotate", "--secret-file", "bad"]).refused(2, "secret: must be hexadecimal");
    std::fs::write(world.folder.path().join("short"), "00".repeat(15)).unwrap();
    world.run(&["secrets", "rotate", "--secret-file", "short"]).refused(2, "of 16 to 1024 bytes");
    world.run(&["secrets", "rotate", "--secret-file", "missing"]).refused(1, "cannot open missing");
    world.run(&["secrets", "rotate", "--kid", "a:b"]).refused(2, "colon");
    let unsaid = world.run(&["secrets"]);
    assert!(unsaid.code == Some(2) && unsaid.stderr.contains("rotate"), "{}", unsaid.stderr);
}
