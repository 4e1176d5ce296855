//! A submission of several calls, interrupted between two of them.

use std::sync::Arc;

use async_trait::async_trait;
use ff_backend_valkey::ValkeyOptions;
use ff_core::backend::clock::ManualClock;
use ff_core::contracts::{Filter, ListArgs, ListFlowsArgs};
use ff_core::engine_error::{Code, EngineError};
use ff_core::limits;
use ff_core::types::{Namespace, TimestampMs};
use ff_engine::Orchestration;
use ff_script::flow::ff_submit_flow;
use ff_script::{Fcall, Server, Value};
use redis::aio::MultiplexedConnection;
use redis::{Client, cmd};

use super::*;
use crate::support::{Flavour, Process};
use crate::{findings, options};

/// Calls functions one by one, unlike a store, so that a test can stop anywhere.
struct OneByOne(MultiplexedConnection);

#[async_trait]
impl Server for OneByOne {
    async fn fcall(&self, call: Fcall) -> Result<Value, EngineError> {
        let mut fcall = cmd("FCALL");
        fcall.arg(call.signature.name).arg(call.keys.len()).arg(&call.keys);
        for arg in &call.args {
            fcall.arg(&arg[..]);
        }
        let reply: redis::Value = fcall.query_async(&mut self.0.clone()).await.unwrap();
        Ok(value(reply))
    }
}

fn value(reply: redis::Value) -> Value {
    match reply {
        redis::Value::Int(number) => Value::Int(number),
        redis::Value::BulkString(bytes) => Value::Bytes(bytes.into()),
        redis::Value::SimpleString(text) => Value::Bytes(text.into()),
        redis::Value::Array(values) => Value::List(values.into_iter().map(value).collect()),
        _ => Value::Nil,
    }
}

#[tokio::test]
async fn an_interrupted_flow_submission_is_invisible_and_expires_or_resumes() {
    let server = Process::start(Flavour::Valkey, &["--appendonly", "no"]);
    let clock = Arc::new(ManualClock::at(TimestampMs(1_700_000_000_000)));
    let store = ValkeyOptions { clock: Some(clock.clone()), ..options() };
    let store = ValkeyBackend::connect(&server.url(), store).await.unwrap();
    let names: Vec<_> = (0..500).map(|n| format!("n{n}")).collect();
    let mut args = flow(names.iter().map(String::as_str));
    args.edges = names.windows(2).map(|pair| edge(&pair[0], &pair[1])).collect();
    let (id, first) = (args.header.flow_id, args.clone().plan().unwrap().remove(0));
    let partition = partition_of(&store, &id);
    store.sweep(partition).await.unwrap();
    let client = Client::open(format!("redis://127.0.0.1:{}", server.port)).unwrap();
    let one_by_one = OneByOne(client.get_multiplexed_async_connection().await.unwrap());

    for gives_up in [true, false] {
        ff_submit_flow(&one_by_one, &store.partitions(), first.clone()).await.unwrap();
        is_not_there(&store, &id, partition).await;
        assert_eq!(findings(&store).await, []);
        if gives_up {
            clock.advance(limits::STAGING_MS);
            settle(&store, partition).await;
            let left = store.snapshot(partition).await.unwrap();
            assert!(left.executions.is_empty() && left.flows.is_empty() && left.edges.is_empty());
            let left = server.ask(&["KEYS", &format!("*{id}*")]);
            assert_eq!(left, "*0", "nothing of it is left behind");
        }
    }
    assert!(!store.submit_flow(args.clone()).await.unwrap().duplicate, "what was staged goes on");
    assert!(store.submit_flow(args).await.unwrap().duplicate);
    settle(&store, partition).await;
    assert_eq!(store.describe_flow(&id).await.unwrap().nodes, 500);
    assert_eq!(claim_some(&store, partition, 10).await.len(), 1);
    assert_eq!(findings(&store).await, []);
}

async fn is_not_there(store: &ValkeyBackend, id: &FlowId, partition: u16) {
    assert_eq!(store.describe_flow(id).await.unwrap_err().code(), Code::FlowNotFound);
    let staged = member(store, id, "n0");
    assert_eq!(store.describe(&staged).await.unwrap_err().code(), Code::ExecutionNotFound);
    assert_eq!(store.payload(&staged).await.unwrap_err().code(), Code::ExecutionNotFound);
    assert!(claim_some(store, partition, 10).await.is_empty());
    let (namespace, limit) = (Namespace::default_name(), 10);
    let list = ListArgs { filter: Filter::everything(namespace.clone()), after: None, limit };
    assert!(store.list(list).await.unwrap().executions.is_empty());
    let list = ListFlowsArgs { limit, ..ListFlowsArgs::new(namespace) };
    assert!(store.list_flows(list).await.unwrap().flows.is_empty());
}
