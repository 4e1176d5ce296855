//! The approval link: a page that shows the question, and a form that takes the answer, in any browser.

use std::sync::Arc;

use ff_backend_memory::MemoryBackend;
use ff_server::ServerOptions;
use reqwest::Method;
use reqwest::header::HeaderMap;
use serde_json::{Value, json};

use crate::world::{LeasedExecution, World};

/// A page, as a browser receives it.
#[derive(Debug)]
struct Page {
    status: u16,
    headers: HeaderMap,
    html: String,
}

impl Page {
    async fn of(request: reqwest::RequestBuilder) -> Self {
        let response = request.send().await.unwrap();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Self { status, headers, html: response.text().await.unwrap() }
    }

    /// Asserts that this is the expected page, and that it leaks nothing.
    fn assert_is(&self, status: u16, heading: &str) {
        assert_eq!(self.status, status, "{self:?}");
        assert!(self.html.contains(&format!("<h1>{heading}</h1>")), "{}", self.html);
        for (header, value) in [
            ("content-type", "text/html; charset=utf-8"),
            ("referrer-policy", "same-origin"),
            ("cache-control", "no-store"),
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
        ] {
            assert_eq!(self.headers[header], value, "{header}");
        }
        let policy = self.headers["content-security-policy"].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
        for text in ["<script", "http://", "https://", " src=", "@import", "url("] {
            assert!(!self.html.contains(text), "{text} is in {}", self.html);
        }
    }
}

/// A suspended execution, and the waitpoint of its approval link.
struct PendingApproval {
    held: LeasedExecution,
    granted: Value,
}

impl PendingApproval {
    async fn start(world: &World, body: Value) -> Self {
        let held = world.running("deploy").await;
        let granted = held.suspend(world, body).await["waitpoints"][0].clone();
        Self { held, granted }
    }

    fn path(&self) -> String {
        let id = self.held.0["execution_id"].as_str().unwrap();
        format!("/approvals/{id}/{}", self.granted["waitpoint_id"].as_str().unwrap())
    }

    fn token(&self) -> String {
        self.granted["waitpoint_token"].as_str().unwrap().to_owned()
    }

    async fn look(&self, world: &World) -> Page {
        Page::of(world.request(Method::GET, &format!("{}?token={}", self.path(), self.token()))).await
    }

    async fn send(&self, world: &World, form: &str) -> Page {
        Page::of(posted(world, &self.path(), form)).await
    }

    async fn answer(&self, world: &World, decision: &str) -> Page {
        self.send(world, &format!("token={}&comment=&decision={decision}", self.token())).await
    }

    /// Claims the resumed execution, and returns its first signal.
    async fn claim_signal(&self, world: &World) -> Value {
        world.claim_next().await.0["signals"][0].clone()
    }
}

/// Returns a request with a form, as the page of this server sends it.
fn posted(world: &World, path: &str, form: &str) -> reqwest::RequestBuilder {
    posted_from(&world.url, world, path, form)
}

fn posted_from(origin: &str, world: &World, path: &str, form: &str) -> reqwest::RequestBuilder {
    let request = world.request(Method::POST, path).header("content-type", "application/x-www-form-urlencoded");
    request.header("origin", origin).body(form.to_owned())
}

fn approval(key: &str) -> Value {
    let named = |name| json!({"type": "signal", "waitpoint": key, "name": name});
    json!({
        "waitpoints": [{"key": key}],
        "condition": {"type": "any_of", "members": [named("approved"), named("rejected")]},
        "reason": "waiting_for_approval",
    })
}

#[tokio::test]
async fn opening_an_approval_page_shows_the_question_and_writes_nothing() {
    let world = World::start().await;
    let held = world.running("deploy").await;
    let message = json!({"message": "All checks are <green>.\nReally."});
    world.post(&held.path("progress"), &held.call(message)).await;
    let granted = held.suspend(&world, approval("Deploy <1.4>?")).await["waitpoints"][0].clone();
    let case = PendingApproval { held, granted };
    let before = world.contents().await;
    let page = case.look(&world).await;
    page.assert_is(200, "Deploy &lt;1.4&gt;?");
    for text in [
        "<p class=\"said\">All checks are &lt;green&gt;.\nReally.</p>",
        "<dt>Work</dt><dd>deploy</dd>",
        "<dt>Waits for</dt><dd>an approval</dd>",
        "<dt>Since</dt><dd>",
        "<form method=\"post\" action=\"?\"",
        "name=\"decision\" value=\"approve\">Approve</button>",
        "name=\"decision\" value=\"reject\">Reject</button>",
        "<label for=\"comment\">Comment (optional)</label>",
    ] {
        assert!(page.html.contains(text), "{text} is not in {}", page.html);
    }
    assert_eq!(case.look(&world).await.status, 200);
    assert!(world.contents().await == before, "looking wrote something");
}

#[tokio::test]
async fn an_approval_through_a_link_adds_to_the_budget_that_was_exceeded() {
    let world = World::start().await;
    let budget = json!({
        "scope": "kind:deploy", "limits": {"tokens": {"hard": 100}, "calls": {"hard": 9}}, "on_hard_limit": "suspend",
    });
    world.post("/v1/budgets/agent", &budget).await;
    let held = world.running("deploy").await;
    world.post(&held.path("usage"), &held.call(json!({"report_id": "1", "amounts": {"tokens": 120}}))).await;
    let mut plan = approval("agent");
    plan["reason"] = json!("paused_by_budget");
    let granted = held.suspend(&world, plan).await["waitpoints"][0].clone();
    let case = PendingApproval { held, granted };
    let hard = async || world.get("/v1/budgets/agent").await.body["definition"]["limits"]["tokens"]["hard"].clone();
    let page = case.look(&world).await;
    page.assert_is(200, "agent");
    assert!(page.html.contains("Add tokens of budget agent (120 of 100 are spent)</label>"), "{}", page.html);
    assert!(!page.html.contains("calls"), "{}", page.html);

    let send = async |more: &str| case.send(&world, &format!("token={}&{more}&decision=approve", case.token())).await;
    for (more, why) in [
        ("add%3Aagent%3Atokens=many", "must be a whole number of at least 1"),
        ("add%3Aagent%3Atokens=5&add%3Aagent%3Az=5", "is not what the work waits for"),
    ] {
        let page = send(more).await;
        assert_eq!(page.status, 400, "{page:?}");
        assert!(page.html.contains(why), "{}", page.html);
    }
    assert_eq!(hard().await, 100);
    send("comment=go+on&add%3Aagent%3Atokens=50").await.assert_is(200, "Approved");
    assert_eq!(hard().await, 150);
    assert_eq!(case.claim_signal(&world).await["name"], "approved");
    send("add%3Aagent%3Atokens=50").await.assert_is(409, "Already answered");
    assert_eq!(hard().await, 150);
}

#[tokio::test]
async fn the_form_decides_and_says_so() {
    let world = World::start().await;
    for (decision, heading, name) in [("approve", "Approved", "approved"), ("reject", "Rejected", "rejected")] {
        let case = PendingApproval::start(&world, approval("deploy")).await;
        let form = format!("token={}&comment=looks+good%2C+Zo%C3%AB&decision={decision}", case.token());
        let page = case.send(&world, &form).await;
        page.assert_is(200, heading);
        assert!(!page.html.contains(&case.token()), "the answer's page needs no token");
        let signal = case.claim_signal(&world).await;
        assert_eq!((&signal["name"], &signal["payload"]), (&json!(name), &json!({"comment": "looks good, Zoë"})));
        assert_eq!(signal["source"], json!({"type": "link"}));

        case.send(&world, &form).await.assert_is(200, heading);
        let page = case.look(&world).await;
        page.assert_is(200, "Already answered");
        assert!(page.html.contains(&format!("It was {name} through this link, just now")), "{}", page.html);
        assert!(!page.html.contains("<form"), "{}", page.html);
    }
}

#[tokio::test]
async fn the_first_answer_counts() {
    let world = World::start().await;
    let case = PendingApproval::start(&world, approval("deploy")).await;
    case.answer(&world, "reject").await.assert_is(200, "Rejected");
    let second = case.answer(&world, "approve").await;
    second.assert_is(409, "Already answered");
    assert!(second.html.contains("It was rejected before"), "{}", second.html);
    assert_eq!(case.claim_signal(&world).await["name"], "rejected");
}

#[tokio::test]
async fn an_answer_before_anybody_waits_is_kept() {
    let world = World::start().await;
    let held = world.running("deploy").await;
    let granted = held.ahead(&world, "deploy").await;
    let case = PendingApproval { held, granted };
    let page = case.look(&world).await;
    page.assert_is(200, "deploy");
    assert!(page.html.contains("nothing yet; your answer is kept until it does"), "{}", page.html);
    let page = case.answer(&world, "approve").await;
    page.assert_is(200, "Approved");
    assert!(page.html.contains("was kept"), "{}", page.html);
    case.look(&world).await.assert_is(200, "Already answered");
    case.answer(&world, "reject").await.assert_is(409, "Already answered");
}

/// An approval is one call: the call has the question, and its reply has the link.
#[tokio::test]
async fn one_call_requests_an_approval_and_the_worker_gets_either_answer() {
    let world = World::start().await;
    for (decision, heading, name) in [("approve", "Approved", "approved"), ("reject", "Rejected", "rejected")] {
        let held = world.running("deploy").await;
        let reply = held.suspend(&world, json!({"approval": {"question": "Deploy <1.4>?"}})).await;
        assert_eq!(
            held.suspend(&world, json!({"approval": {"question": "Deploy <1.4>?"}})).await,
            reply,
            "asked again"
        );
        let case = PendingApproval { granted: reply["waitpoints"][0].clone(), held };
        let link = reply["approval_url"].as_str().unwrap();
        let path = link.strip_prefix(&world.url).unwrap_or_else(|| panic!("{link} leads elsewhere"));
        let page = Page::of(world.request(Method::GET, path)).await;
        page.assert_is(200, "approval");
        assert!(page.html.contains("<p class=\"said\">Deploy &lt;1.4&gt;?</p>"), "{}", page.html);
        let page = case.answer(&world, decision).await;
        page.assert_is(200, heading);
        assert!(!page.html.contains("not what the work waits for"), "{}", page.html);
        assert_eq!(case.claim_signal(&world).await["name"], name);
    }
}

#[tokio::test]
async fn links_lead_to_the_public_address_and_its_page_can_be_answered_there() {
    let options = ServerOptions { public_url: Some("https://ff.example.org/x".parse().unwrap()), ..Default::default() };
    let world = World::over_with(Arc::new(MemoryBackend::default()), options).await;
    assert_eq!(world.get("/v1/partitions").await.body["public_url"], "https://ff.example.org/x");
    let held = world.running("deploy").await;
    let reply = held.suspend(&world, json!({"approval": {"question": "?"}, "waitpoints": [{"key": "deploy"}]})).await;
    let link = reply["approval_url"].as_str().unwrap();
    assert!(link.starts_with("https://ff.example.org/x/approvals/%7Bfp:"), "{link}");
    let case = PendingApproval { granted: reply["waitpoints"][0].clone(), held };
    let form = format!("token={}&decision=reject", case.token());
    let there = posted_from("https://ff.example.org", &world, &case.path(), &form).header("host", "ff.example.org");
    Page::of(there).await.assert_is(200, "Rejected");
    let elsewhere = world.request(Method::GET, "/v1/partitions").header("host", "ff.example.org");
    assert_eq!(elsewhere.send().await.unwrap().status(), 403, "only the pages of links are there for outsiders");
}

#[tokio::test]
async fn an_approval_page_shows_the_decision_of_an_operator() {
    let world = World::start().await;
    let case = PendingApproval::start(&world, approval("deploy")).await;
    world.post(&case.held.path("approve"), &json!({"requested_by": "<ada>"})).await;
    let page = case.look(&world).await;
    page.assert_is(200, "Already answered");
    assert!(page.html.contains("It was approved by operator:&lt;ada&gt;, just now"), "{}", page.html);
    case.answer(&world, "reject").await.assert_is(409, "Already answered");

    let case = PendingApproval::start(&world, approval("deploy")).await;
    world.post(&case.held.path("resume"), &json!({})).await;
    case.look(&world).await.assert_is(200, "No answer is needed any more");
    case.answer(&world, "approve").await.assert_is(409, "No answer is needed any more");

    let case = PendingApproval::start(&world, approval("deploy")).await;
    world.post(&case.held.path("cancel"), &json!({})).await;
    let page = case.look(&world).await;
    page.assert_is(200, "No answer is needed any more");
    assert!(page.html.contains("The work is cancelled."), "{}", page.html);
}

#[tokio::test]
async fn a_link_that_opens_nothing_is_the_same_page_whatever_it_names() {
    let world = World::start().await;
    let case = PendingApproval::start(&world, approval("deploy")).await;
    let forged = format!("k1:{}", "0".repeat(64));
    let uuid = "018f3c5e-7a10-7c31-9c45-0d3f7c1a2b3c";
    let path = case.path();
    let (execution, _) = path.rsplit_once('/').unwrap();
    let before = world.contents().await;
    let mut pages = Vec::new();
    for address in [
        path.clone(),
        format!("{path}?token="),
        format!("{path}?token={forged}"),
        format!("{path}?token={forged}&token={forged}"),
        format!("{execution}/{uuid}?token={}", case.token()),
        format!("{execution}/nonsense?token={}", case.token()),
        format!("/approvals/%7Bfp:1%7D:{uuid}/{uuid}?token={}", case.token()),
        format!("/approvals/%7Bfp:99%7D:{uuid}/{uuid}?token={}", case.token()),
        format!("/approvals/nonsense/{uuid}?token={}", case.token()),
    ] {
        pages.push(Page::of(world.request(Method::GET, &address)).await);
        let (path, token) = address.split_once("?token=").unwrap_or((&address, ""));
        let token = token.split('&').next().unwrap();
        pages.push(Page::of(posted(&world, path, &format!("token={token}&decision=approve"))).await);
    }
    for page in &pages {
        page.assert_is(403, "This link opens nothing");
        assert_eq!(page.html, pages[0].html);
    }
    assert!(world.contents().await == before);
}

#[tokio::test]
async fn a_link_that_has_run_out_says_so_and_a_new_one_opens() {
    let world = World::start().await;
    let case = PendingApproval::start(&world, approval("deploy")).await;
    world.post("/v1/secrets/rotate", &json!({"kid": "k2", "secret_hex": "00".repeat(16), "grace_ms": 0})).await;
    case.look(&world).await.assert_is(410, "This link has expired");
    case.answer(&world, "approve").await.assert_is(410, "This link has expired");

    let waitpoint_id = case.granted["waitpoint_id"].as_str().unwrap();
    let minted = world.get(&case.held.path(&format!("waitpoints/{waitpoint_id}/token"))).await.body;
    let case = PendingApproval {
        granted: json!({"waitpoint_id": waitpoint_id, "waitpoint_token": minted["waitpoint_token"]}),
        held: case.held,
    };
    case.look(&world).await.assert_is(200, "deploy");
    case.answer(&world, "reject").await.assert_is(200, "Rejected");
    assert_eq!(case.claim_signal(&world).await["name"], "rejected");
}

#[tokio::test]
async fn a_link_from_before_shows_nothing_when_the_name_of_its_secret_comes_again() {
    let world = World::start().await;
    let case = PendingApproval::start(&world, approval("deploy")).await;
    for (kid, secret) in [("k2", "00"), ("k1", "01")] {
        let rotate = json!({"kid": kid, "secret_hex": secret.repeat(16), "grace_ms": 0});
        assert_eq!(world.post("/v1/secrets/rotate", &rotate).await.body["failed"], json!([]));
    }
    let page = case.look(&world).await;
    page.assert_is(403, "This link opens nothing");
    assert!(!page.html.contains("deploy"), "{}", page.html);
    case.answer(&world, "approve").await.assert_is(403, "This link opens nothing");
}

#[tokio::test]
async fn a_form_that_is_not_ours_is_refused() {
    let world = World::start().await;
    let case = PendingApproval::start(&world, approval("deploy")).await;
    let before = world.contents().await;
    let long = format!("token={}&decision=approve&comment={}", case.token(), "x".repeat(8_193));
    let huge = format!("token={}&decision=approve&comment={}", case.token(), "x".repeat(70_000));
    for form in ["", "decision=maybe", &format!("token={}&decision=approve&colour=red", case.token()), &long, &huge] {
        case.send(&world, form).await.assert_is(400, "The form cannot be read");
    }
    let form = format!("token={}&decision=approve", case.token());
    for origin in ["https://example.org", "null"] {
        let refused = Page::of(posted_from(origin, &world, &case.path(), &form)).await;
        assert_eq!(refused.status, 403, "a page from elsewhere cannot send the form: {refused:?}");
    }
    assert!(world.contents().await == before);
}

#[tokio::test]
async fn an_approval_page_says_that_others_must_still_answer() {
    let world = World::start().await;
    let both = json!({
        "waitpoints": [{"key": "ada"}, {"key": "bob"}],
        "condition": {"type": "count", "n": 2, "of": "waitpoints", "waitpoints": ["ada", "bob"]},
        "timeout_in_ms": 7_200_000,
        "timeout_behavior": "escalate",
    });
    let case = PendingApproval::start(&world, both).await;
    let page = case.look(&world).await;
    assert!(page.html.contains("after that the work is escalated to an operator"), "{}", page.html);
    let page = case.answer(&world, "approve").await;
    page.assert_is(200, "Approved");
    assert!(page.html.contains("Others still have to answer"), "{}", page.html);

    let named = json!({
        "waitpoints": [{"key": "paid"}],
        "condition": {"type": "signal", "waitpoint": "paid", "name": "paid"},
    });
    let page = PendingApproval::start(&world, named).await.answer(&world, "approve").await;
    assert!(page.html.contains("this is not what the work waits for"), "{}", page.html);
}
