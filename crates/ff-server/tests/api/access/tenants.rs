//! A key of one namespace has no access to data of another: the response is the same as if the data did not exist.

use std::collections::BTreeMap;

use ff_core::api_key::{Role, SecretKey};
use ff_core::contracts::{AssignArgs, Filter, ListArgs};
use ff_core::flow::member_id;
use ff_core::partition::PartitionConfig;
use ff_core::types::{FlowId, IdempotencyKey, Namespace, NodeName, WorkerInstanceId};
use ff_sdk::{Connect, Context, Fault, Flow, Job, Node, Search};
use ff_server::{Metrics, ROUTES};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::input::bodies::{good, routes, target};
use crate::keyed::KeyedStore;
use crate::world::{PARTITIONS, Reply, World};

const NOBODYS: &str = "018f3c5e-7a10-7c31-9c45-0d3f7c1a2b3c";

/// The data of one tenant: a running execution, one of its waitpoints, and a flow.
struct TenantData {
    execution: String,
    waitpoint: String,
    token: String,
    flow: String,
}

impl TenantData {
    async fn of(world: &World) -> Self {
        let held = world.running("theirs").await;
        let granted = held.ahead(world, "approval").await;
        let flow = world.flow(&json!({"kind": "f", "nodes": {"a": {"kind": "member"}}})).await;
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        Self {
            execution: text(&held.0["execution_id"]),
            waitpoint: text(&granted["waitpoint_id"]),
            token: text(&granted["waitpoint_token"]),
            flow,
        }
    }
}

/// A caller that names no namespace works in that of its key.
#[tokio::test]
async fn the_namespace_of_a_key_is_the_default_of_its_caller() {
    let (keyed, _) = KeyedStore::new().await;
    let key = keyed.tenant("acme").await;
    let world = keyed.asked_with(&key).await;
    assert_eq!(world.get("/v1/partitions").await.body["namespace"], "acme");
    let ff = Connect::to(&world.url).key(SecretKey::parse(&key).unwrap()).connect().await.unwrap();
    let client = ff.client();
    let id = client.submit(Job::new("a", &1).idempotency_key("once")).await.unwrap().execution_id;
    let filter = Filter::everything(Namespace::default_name());
    let everything = ListArgs { filter, after: None, limit: 10 };
    let found = client.list(everything).await.unwrap();
    let found: Vec<_> = found.executions.iter().map(|info| (info.execution_id, info.namespace.as_str())).collect();
    assert_eq!(found, [(id, "acme")]);
    let done = CancellationToken::new();
    let worker =
        ff.worker("w").on("a", |context: Context| async move { Ok::<_, Fault>(context.task().namespace.to_string()) });
    let working = tokio::spawn(worker.run_until(done.clone().cancelled_owned()));
    assert_eq!(client.wait(&id).await.unwrap().json::<String>().unwrap(), "acme");
    done.cancel();
    working.await.unwrap().unwrap();
    let lane = client.lane("default").unwrap().describe().await.unwrap();
    assert_eq!(lane.namespace.as_str(), "acme");
}

/// The author of an assignment is the name of the key, unless the caller gives one.
#[tokio::test]
async fn an_assignment_names_the_key_it_was_made_with() {
    let (keyed, _) = KeyedStore::new().await;
    let key = keyed.tenant("acme").await;
    let world = keyed.asked_with(&key).await;
    let ff = Connect::to(&world.url).key(SecretKey::parse(&key).unwrap()).connect().await.unwrap();
    let client = ff.client();
    let worker_instance_id = WorkerInstanceId::parse("w-7").unwrap();
    for (requested_by, name) in [(None, "a test"), (Some("ada".to_owned()), "ada")] {
        let execution_id = client.submit(Job::new("a", &1)).await.unwrap().execution_id;
        let (worker_instance_id, ttl_ms) = (worker_instance_id.clone(), 5_000);
        let args = AssignArgs { execution_id, worker_instance_id, ttl_ms, reason: None, requested_by };
        client.assign(args).await.unwrap();
        let page = world.get("/v1/grants?worker=w-7").await.body;
        assert_eq!(page["grants"][0]["requested_by"], name, "{page}");
        assert_eq!(world.get("/v1/grants?worker=w-8").await.body["grants"], json!([]));
        client.unassign(&execution_id).await.unwrap();
    }
}

/// An absent namespace becomes `acme` for a key of `acme`. A named `default` must not count as absent: it is refused before any
/// call.
#[tokio::test]
async fn the_default_namespace_is_not_that_of_a_key_where_it_is_named() {
    let (keyed, _) = KeyedStore::new().await;
    let key = keyed.tenant("acme").await;
    let world = keyed.asked_with(&key).await;
    let ff = Connect::to(&world.url).key(SecretKey::parse(&key).unwrap()).connect().await.unwrap();
    assert_eq!(ff.key_namespace().map(Namespace::as_str), Some("acme"));
    let client = ff.client();
    let before = world.contents().await;
    let flow = |namespace: &str| Flow::new("f").namespace(namespace).idempotency_key("nightly");
    let member = || Node::new("k", &1);
    let file = "{kind: f, namespace: default, nodes: {a: {kind: k}}}";
    let refused = [
        client.submit(Job::new("a", &1).namespace("default")).await.err(),
        client.submit_many([Job::new("a", &1).namespace("default")]).await.unwrap().remove(0).err(),
        client.submit_flow(flow("default").node("a", member())).await.err(),
        client.submit_flow(Flow::from_yaml(file).unwrap()).await.err(),
        client.create_flow(flow("default")).await.err(),
        client.search(Search::all().namespace("default")).err(),
        client.cancel_all(Search::all().namespace("default")).err(),
        client.lane_of("default", "l").err(),
        ff.worker("w").namespace("default").on("a", |_: Context| async { Ok::<_, Fault>(1) }).run().await.err(),
    ];
    for error in refused {
        let message = error.expect("was taken").to_string();
        assert!(message.contains("namespace: the key belongs to acme, must be acme or left out"), "{message}");
    }
    assert_eq!(world.contents().await, before);
    client.submit(Job::new("a", &1).namespace("acme")).await.unwrap();
    assert_eq!(client.search(Search::all()).unwrap().next().await.unwrap().unwrap().namespace.as_str(), "acme");
    let named = client.submit_flow(flow("acme").node("a", member())).await.unwrap();
    let left_out = Flow::new("f").idempotency_key("nightly").node("a", member());
    assert_eq!(client.submit_flow(left_out).await.unwrap().id(), named.id(), "the same key of the same tenant");
}

#[tokio::test]
async fn another_tenants_ids_are_answered_as_if_they_were_not_there() {
    let (keyed, _) = KeyedStore::new().await;
    let acme = keyed.asked_with(&keyed.tenant("acme").await).await;
    let other = keyed.asked_with(&keyed.tenant("other").await).await;
    let theirs = TenantData::of(&acme).await;
    let (partition, _) = theirs.execution.rsplit_once(':').unwrap();
    let nobodys = format!("{partition}:{NOBODYS}");
    let before = acme.contents().await;
    let mut tried = 0;
    for (method, path, _) in ROUTES.iter().filter(|(_, path, _)| path.starts_with("/v1/executions/{id}")) {
        let named =
            |id: &str| path.replace("{id}", id).replace("{waitpoint}", &theirs.waitpoint).replace("{signal}", NOBODYS);
        let foreign = ask(&other, method, path, &named(&theirs.execution)).await;
        let absent = ask(&other, method, path, &named(&nobodys)).await;
        foreign.assert_refused(404, "execution_not_found", None);
        assert_eq!((foreign.status, &foreign.body), (absent.status, &absent.body), "{method} {path}");
        tried += 1;
    }
    for (method, path, _) in ROUTES.iter().filter(|(_, path, _)| path.contains("{flow}")) {
        let named = |id: &str| path.replace("{flow}", id).replace("{node}", "a");
        let foreign = ask(&other, method, path, &named(&theirs.flow)).await;
        let absent = ask(&other, method, path, &named(NOBODYS)).await;
        foreign.assert_refused(404, "flow_not_found", None);
        assert_eq!((foreign.status, &foreign.body), (absent.status, &absent.body), "{method} {path}");
        tried += 1;
    }
    assert!(tried > 35, "only {tried} routes were tried");
    assert!(acme.contents().await == before, "something of another tenant was changed");
    for path in [format!("/v1/executions/{}", theirs.execution), format!("/v1/flows/{}", theirs.flow)] {
        assert_eq!(acme.get(&path).await.status, 200, "its own is there");
    }
}

/// A missing id and another tenant's id take the same store calls, so that the response time does not tell them apart.
#[tokio::test]
async fn another_tenants_id_costs_the_store_the_same_as_one_that_is_not_there() {
    let (keyed, _) = KeyedStore::new().await;
    let acme = keyed.asked_with(&keyed.tenant("acme").await).await;
    let theirs = TenantData::of(&acme).await;
    let metrics = Metrics::new();
    let mut other = World::counted(metrics.over(keyed.store.clone()), metrics).await;
    let operator = keyed.key(&[Role::Operate], None).await;
    other.key = Some(keyed.tenant("other").await);
    let (partition, _) = theirs.execution.rsplit_once(':').unwrap();
    let nobodys = format!("{partition}:{NOBODYS}");
    let questions = async || {
        let text = other.request_with(&operator, "/metrics").send().await.unwrap().text().await.unwrap();
        let lines = text.lines().filter(|line| line.starts_with("ff_store_seconds_count"));
        let count =
            |line: &str| line.rsplit_once(' ').map(|(name, count)| (name.to_owned(), count.parse::<u64>().unwrap()));
        lines
            .filter_map(count)
            .filter(|(name, _)| !name.contains("key") && !name.contains("now"))
            .collect::<BTreeMap<_, _>>()
    };
    let mut calls = Vec::new();
    for id in [&theirs.execution, &nobodys] {
        let before = questions().await;
        for path in ["", "/result", "/attempts", "/signals", "/events"] {
            other.get(&format!("/v1/executions/{id}{path}")).await.assert_refused(404, "execution_not_found", None);
        }
        let more = |(name, count): (String, u64)| (count - before.get(&name).unwrap_or(&0), name);
        calls.push(questions().await.into_iter().map(more).filter(|(more, _)| *more > 0).collect::<Vec<_>>());
    }
    assert_eq!(calls[0], calls[1]);
    assert_eq!(calls[0].iter().map(|(count, _)| count).sum::<u64>(), 5, "one question each: {calls:?}");
}

/// The id of a flow is derived from its namespace and its idempotency key, which other tenants may guess. They can neither take
/// the id nor find out whether the flow exists.
#[tokio::test]
async fn the_ids_that_follow_from_a_key_cannot_be_taken_or_probed_by_another_tenant() {
    let (keyed, _) = KeyedStore::new().await;
    let acme = keyed.asked_with(&keyed.tenant("acme").await).await;
    let other = keyed.asked_with(&keyed.tenant("other").await).await;
    let (namespace, key) = (Namespace::parse("acme").unwrap(), IdempotencyKey::parse("nightly").unwrap());
    let flow = FlowId::for_key(&namespace, &key);
    let partitions = PartitionConfig { num_flow_partitions: PARTITIONS, ..PartitionConfig::default() };
    let member = member_id(&flow, &NodeName::parse("a").unwrap(), &partitions);
    let nodes = json!({"a": {"kind": "k"}});
    let mut replies = Vec::new();
    for status in [201, 200] {
        let whole = other.post("/v1/flows", &json!({"kind": "f", "flow_id": flow, "nodes": nodes})).await;
        whole.assert_refused(400, "invalid_input", Some("flow_id"));
        let open = other.post("/v1/flows", &json!({"kind": "f", "flow_id": flow, "held_open": true})).await;
        open.assert_refused(400, "invalid_input", Some("flow_id"));
        let work = json!({"kind": "k", "uuid": member.uuid()});
        let one = other.post("/v1/executions", &work).await;
        one.assert_refused(400, "invalid_input", Some("uuid"));
        let many = other.post("/v1/executions/batch", &json!({"executions": [work]})).await;
        assert_eq!(many.body["results"][0]["error"]["field"], "uuid", "{many:?}");
        replies.push([whole.body, open.body, one.body, many.body]);
        let own = json!({"kind": "f", "idempotency_key": "nightly", "nodes": nodes});
        let owned = acme.post("/v1/flows", &own).await;
        assert_eq!((owned.status.as_u16(), owned.text("flow_id")), (status, flow.to_string()), "{owned:?}");
        let same_key = other.post("/v1/flows", &own).await;
        assert_eq!(same_key.status.as_u16(), status, "its own key is its own: {same_key:?}");
    }
    assert_eq!(replies[0], replies[1], "what is there is answered as what is not");
}

#[tokio::test]
async fn lists_searches_and_claims_are_of_the_keys_own_namespace() {
    let (keyed, _) = KeyedStore::new().await;
    let acme = keyed.asked_with(&keyed.tenant("acme").await).await;
    let other = keyed.asked_with(&keyed.tenant("other").await).await;
    let since = other.get("/v1/events").await.text("next");
    let theirs = TenantData::of(&acme).await;
    acme.post("/v1/workers/w-1/register", &json!({"worker_id": "w"})).await;
    acme.post("/v1/lanes/mail", &json!({"concurrency": 5})).await;
    for (path, rows) in [("executions", "executions"), ("flows", "flows"), ("lanes", "lanes"), ("workers", "workers")] {
        let mine = acme.get(&format!("/v1/{path}")).await;
        assert!(!mine.body[rows].as_array().unwrap().is_empty(), "{path} shows its own: {mine:?}");
        let seen = other.get(&format!("/v1/{path}")).await;
        assert_eq!((seen.status.as_u16(), &seen.body[rows]), (200, &json!([])), "{path}");
    }
    let mentions = |reply: Reply| reply.body.to_string().contains(&theirs.execution);
    assert!(mentions(acme.get(&format!("/v1/events?after={since}&limit=1000")).await), "it hears of its own");
    assert!(!mentions(other.get(&format!("/v1/events?after={since}&limit=1000")).await));
    let claimed = other.post("/v1/workers/w-1/claim", &json!({"worker_id": "w", "kinds": ["member"]})).await;
    assert_eq!((claimed.status.as_u16(), &claimed.body["executions"]), (200, &json!([])));
    let lane = other.get("/v1/lanes/mail").await;
    assert_eq!(lane.body["namespace"], "other", "{lane:?}");
    let gone = other.post("/v1/workers/w-1/heartbeat", &json!({})).await;
    gone.assert_refused(404, "not_found", Some("worker_instance_id"));
}

#[tokio::test]
async fn another_namespace_cannot_be_named() {
    let (keyed, _) = KeyedStore::new().await;
    let acme = keyed.asked_with(&keyed.tenant("acme").await).await;
    for (method, path, _) in ROUTES.iter().filter(|(_, path, _)| path.starts_with("/v1")) {
        if *method != "get" || path.contains("{id}") || path.contains("{flow}") {
            continue;
        }
        let path = path.replace("{lane}", "mail").replace("{quota}", "customers").replace("{instance}", "w-1");
        let path = path.replace("{schedule}", "nightly").replace("{budget}", "daily");
        let named = acme.get(&format!("{path}?namespace=other")).await;
        assert!(matches!(named.body["code"].as_str(), Some("unauthorized" | "unknown_field")), "{path}: {named:?}");
    }
    let mut refused = 0;
    for route in routes() {
        if route.path.starts_with("/v1/secrets") || route.path.starts_with("/v1/keys") {
            continue;
        }
        let (path, mut body) = target(&acme, &route).await;
        body["namespace"] = json!("other");
        let before = acme.contents().await;
        let named = acme.post(&path, &body).await;
        assert!(acme.contents().await == before, "{path} wrote something");
        if named.body["code"] == "unknown_field" {
            continue;
        }
        named.assert_refused(403, "unauthorized", Some("namespace"));
        refused += 1;
    }
    assert!(refused >= 8, "only {refused} routes take a namespace");
    let batch = json!({"executions": [{"kind": "k", "namespace": "other"}, {"kind": "k"}]});
    let batch = acme.post("/v1/executions/batch", &batch).await;
    assert_eq!(batch.body["results"][0]["error"]["code"], "unauthorized", "{batch:?}");
    let id = batch.body["results"][1]["execution_id"].as_str().unwrap();
    assert_eq!(acme.get(&format!("/v1/executions/{id}")).await.body["namespace"], "acme");
}

#[tokio::test]
async fn a_request_without_a_namespace_uses_the_namespace_of_its_key() {
    let (keyed, admin) = KeyedStore::new().await;
    let acme = keyed.asked_with(&keyed.tenant("acme").await).await;
    let id = acme.submit(&json!({"kind": "k"})).await;
    let admin = keyed.asked_with(&admin).await;
    assert_eq!(admin.get(&format!("/v1/executions/{id}")).await.body["namespace"], "acme");
    assert_eq!(admin.get("/v1/executions").await.body["executions"], json!([]), "an administrator names whom it means");
    let listed = admin.get("/v1/executions?namespace=acme").await;
    assert_eq!(listed.body["executions"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_waitpoints_token_or_a_key_that_may_signal_delivers() {
    let (keyed, _) = KeyedStore::new().await;
    let acme = keyed.asked_with(&keyed.tenant("acme").await).await;
    let signal = |theirs: &TenantData, token: Option<&str>| {
        let mut signal = json!({"name": "n", "waitpoint_id": theirs.waitpoint});
        signal["waitpoint_token"] = token.map_or(Value::Null, Value::from);
        if token.is_none() {
            signal.as_object_mut().unwrap().remove("waitpoint_token");
        }
        signal
    };
    let theirs = TenantData::of(&acme).await;
    let path = format!("/v1/executions/{}/signals", theirs.execution);
    let mut nobody = keyed.asked_with("").await;
    nobody.key = None;
    nobody.post(&path, &signal(&theirs, None)).await.assert_refused(403, "missing_token", None);
    assert_eq!(nobody.post(&path, &signal(&theirs, Some(&theirs.token))).await.status, 200);
    let work = keyed.asked_with(&keyed.key(&[Role::Work], Some("acme")).await).await;
    work.post(&path, &signal(&theirs, None)).await.assert_refused(403, "missing_token", None);
    assert_eq!(work.post(&path, &signal(&theirs, Some(&theirs.token))).await.status, 200);
    let signals = keyed.asked_with(&keyed.key(&[Role::Signal], Some("acme")).await).await;
    assert_eq!(signals.post(&path, &signal(&theirs, None)).await.status, 200);
    let by_key = json!({"name": "n", "waitpoint_key": "approval"});
    assert_eq!(signals.post(&path, &by_key).await.status, 200);
    let wrong = signals.post(&path, &signal(&theirs, Some("k1:00"))).await;
    wrong.assert_refused(403, "invalid_token", None);
}

async fn ask(world: &World, method: &str, route: &str, path: &str) -> Reply {
    if method == "get" { world.get(path).await } else { world.post(path, &good(route)).await }
}
