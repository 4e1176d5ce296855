//! The published keyspace, compared row by row with the builders: other programs read and write these keys.

use std::collections::BTreeSet;
use std::fmt::Display;

use ff_core::keys::{
    self, BudgetKeyContext, ExecKeyContext, FlowIndexKeys, FlowKeyContext, IndexKeys, QuotaKeyContext,
};
use ff_core::partition::{Partition, PartitionFamily};
use ff_core::state::PublicState;
use ff_core::types::{
    AttemptIndex, BudgetId, EdgeId, ExecutionId, FairKey, FlowId, Kind, LaneId, Namespace, QueueName, QuotaPolicyId,
    RequirementClass, SignalId, TagKey, TagValue, WaitpointId, WaitpointKey, WorkerInstanceId,
};
use uuid::Uuid;

const PUBLISHED: &str = include_str!("../fixtures/keys.tsv");
const OPERATORS_PAGE: &str = include_str!("../../../../docs/keyspace.md");

const EXECUTION: &str = "{fp:7}:018f3c5e-7a10-7c31-9c45-0d3f7c1a2b3c";
const UPSTREAM: &str = "{fp:7}:018f3c5e-7a10-7c31-9c45-000000000001";
const DOWNSTREAM: &str = "{fp:7}:018f3c5e-7a10-7c31-9c45-000000000002";

#[test]
fn every_published_key_has_its_builder_and_every_builder_its_row() {
    let published: Vec<_> = published().iter().map(|row| (row.owner, row.builder)).collect();
    let built: Vec<_> = built().iter().map(|key| (key.owner, key.builder)).collect();
    assert_eq!(published.len(), 94);
    assert_eq!(built.len(), 94);
    assert_eq!(BTreeSet::from_iter(built), BTreeSet::from_iter(published));
}

#[test]
fn every_builder_takes_the_published_arguments() {
    for (row, key) in rows_with_their_keys() {
        assert_eq!(key.arguments, row.arguments, "{}::{}", row.owner, row.builder);
    }
}

#[test]
fn every_builder_makes_the_published_key() {
    for (row, key) in rows_with_their_keys() {
        assert_eq!(key.key, key.filled_in(row.template), "{}::{}", row.owner, row.builder);
    }
}

/// A cluster derives the slot of a key from the first braces in it. A second tag before the partition's, or a brace in
/// a key without a tag, would separate the key from the keys that change together with it.
#[test]
fn every_key_lies_in_the_slot_its_row_says() {
    for (row, key) in rows_with_their_keys() {
        let tag = ["tag", "hash_tag"].into_iter().find(|tag| row.template.contains(&format!("<{tag}>")));
        assert_eq!(slot_tag(&key.key), tag.map(|tag| key.part(tag)), "{}::{}", row.owner, row.builder);
    }
}

#[test]
fn our_own_keys_follow_the_same_grammar() {
    let index = IndexKeys::new(&Partition::new(PartitionFamily::Execution, 7));
    let lane = LaneId::parse("mail").unwrap().within(&Namespace::parse("acme").unwrap());
    let kind = Kind::parse("resize").unwrap();
    let (class, key) = (RequirementClass::parse("gpu,region=eu").unwrap(), FairKey::parse("a {fp:1}").unwrap());
    let label =
        (Namespace::parse("acme").unwrap(), TagKey::parse("order").unwrap(), TagValue::parse("a:{fp:1}").unwrap());

    let exec = ExecKeyContext::new(&Partition::new(PartitionFamily::Execution, 7), &execution(EXECUTION));
    let queue = QueueName::parse("singleton:a:{fp:1}").unwrap();
    let suspension = format!("ff:exec:{{fp:7}}:{EXECUTION}:suspension");
    let partition = Partition::new(PartitionFamily::Flow, 7);
    let (flow, flows) = (FlowKeyContext::new(&partition, &FlowId::from_uuid(uuid(1))), FlowIndexKeys::new(&partition));
    let of_flow = format!("ff:flow:{{fp:7}}:{}", flow.flow_id());

    let ours = [
        (index.lanes(), "ff:idx:{fp:7}:lanes"),
        (index.lane_config(&lane), "ff:idx:{fp:7}:lane:acme/mail:config"),
        (index.lane_eligible_kind(&lane, &kind), "ff:idx:{fp:7}:lane:acme/mail:eligible:resize"),
        (index.lane_eligible_class(&lane, &class), "ff:idx:{fp:7}:lane:acme/mail:eligible:class:gpu,region=eu"),
        (
            index.lane_eligible_kind_class(&lane, &kind, &class),
            "ff:idx:{fp:7}:lane:acme/mail:eligible:kind:resize:class:gpu,region=eu",
        ),
        (
            index.lane_unroutable(&lane, &kind, &class),
            "ff:idx:{fp:7}:lane:acme/mail:blocked:route:kind:resize:class:gpu,region=eu",
        ),
        (index.lane_keyed(&lane), "ff:idx:{fp:7}:lane:acme/mail:eligible_keyed"),
        (
            index.lane_eligible_key(&lane, &kind, &class, &key),
            "ff:idx:{fp:7}:lane:acme/mail:eligible:kind:resize:class:gpu,region=eu key:a {fp:1}",
        ),
        (index.lane_turn(&lane, &key), "ff:idx:{fp:7}:lane:acme/mail:turn:a {fp:1}"),
        (index.lane_turns(&lane, &class), "ff:idx:{fp:7}:lane:acme/mail:turns:class:gpu,region=eu"),
        (
            index.lane_turns_kind(&lane, &kind, &class),
            "ff:idx:{fp:7}:lane:acme/mail:turns:kind:resize:class:gpu,region=eu",
        ),
        (index.lane_turns_idle(&lane), "ff:idx:{fp:7}:lane:acme/mail:turns:idle"),
        (index.delayed(), "ff:idx:{fp:7}:delayed"),
        (index.retention(), "ff:idx:{fp:7}:retention"),
        (index.tag(&label.0, &label.1, &label.2), "ff:idx:{fp:7}:tag:acme:order:a:{fp:1}"),
        (index.namespace_executions(&label.0), "ff:idx:{fp:7}:ns:acme:executions"),
        (index.in_state(&label.0, PublicState::Failed), "ff:idx:{fp:7}:ns:acme:state:failed"),
        (index.dispatch_backlog(), "ff:idx:{fp:7}:dispatch_backlog"),
        (index.key_queue(&label.0, &queue), "ff:part:{fp:7}:key_queue:acme:singleton:a:{fp:1}"),
        (index.clock(), "ff:part:{fp:7}:clock"),
        (index.partition_events(), "ff:part:{fp:7}:events"),
        (index.partition_followed(), "ff:part:{fp:7}:followed"),
        (exec.suspension_tally(), &format!("{suspension}:tally")),
        (exec.suspension_last(), &format!("{suspension}:last")),
        (exec.deps_inputs(), &format!("ff:exec:{{fp:7}}:{EXECUTION}:deps:inputs")),
        (flow.grants(), &format!("{of_flow}:grants")),
        (flow.nodes(), &format!("{of_flow}:nodes")),
        (flow.graph(), &format!("{of_flow}:graph")),
        (flows.flows(), "ff:idx:{fp:7}:flows"),
        (flows.sibling_backlog(), "ff:idx:{fp:7}:sibling_backlog"),
        (flows.retention(), "ff:idx:{fp:7}:flow_retention"),
    ];
    for (key, expected) in ours {
        assert_eq!(key, expected);
        assert_eq!(slot_tag(&key), Some("{fp:7}"), "{key}");
    }
    assert_eq!(keys::HINTS_CHANNEL, "ff:hints");
}

#[test]
fn an_owner_says_whose_keys_it_builds() {
    let partition = Partition::new(PartitionFamily::Flow, 7);
    let flow = FlowId::from_uuid(uuid(1));
    let exec = ExecKeyContext::new(&partition, &execution(EXECUTION));
    assert_eq!((exec.hash_tag(), exec.execution_id_str()), ("{fp:7}", EXECUTION));
    let flow_keys = FlowKeyContext::new(&partition, &flow);
    assert_eq!((flow_keys.hash_tag(), flow_keys.flow_id()), ("{fp:7}", flow.to_string().as_str()));
    assert_eq!(IndexKeys::new(&partition).hash_tag(), "{fp:7}");
    assert_eq!(FlowIndexKeys::new(&partition).hash_tag(), "{fp:7}");

    let budgets = Partition::new(PartitionFamily::Budget, 3);
    assert_eq!(BudgetKeyContext::new(&budgets, &BudgetId::from_uuid(uuid(2))).hash_tag(), "{b:3}");
    let quotas = Partition::new(PartitionFamily::Quota, 5);
    assert_eq!(QuotaKeyContext::new(&quotas, &QuotaPolicyId::from_uuid(uuid(3))).hash_tag(), "{q:5}");

    assert!(keys::usage_dedup_key("{b:3}", "report-1").starts_with(keys::USAGE_DEDUP_KEY_PREFIX));
    assert_eq!(keys::USAGE_DEDUP_KEY_PREFIX, "ff:usagededup:");
}

#[test]
fn the_operators_page_shows_every_published_key() {
    for row in published() {
        let shown = format!("| `{}` | `{}` | {} |", row.builder, row.template, row.valkey_type);
        assert!(OPERATORS_PAGE.contains(&shown), "docs/keyspace.md has no row that starts {shown}");
    }
}

/// Published names whose information is stored elsewhere.
const RESERVED: &str = "
    attempt_policy attempts budget_attach_key budget_resets_key lane_config_key
    lane_counts_key quota_attach_key suspension_member_map
    suspension_satisfied_set waitpoint_condition waitpoint_key_resolution";

#[test]
fn the_operators_page_lists_as_reserved_what_is() {
    let (_, reserved) = OPERATORS_PAGE.split_once("## Reserved, not written").unwrap();
    let (reserved, _) = reserved.split_once("\n## ").unwrap();
    let rows = reserved.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    assert_eq!(BTreeSet::from_iter(rows), BTreeSet::from_iter(RESERVED.split_whitespace()));
}

/// One row of the published table.
struct Row {
    owner: &'static str,
    builder: &'static str,
    arguments: &'static str,
    template: &'static str,
    valkey_type: &'static str,
}

fn published() -> Vec<Row> {
    let rows = PUBLISHED.lines().filter(|line| !line.starts_with('#'));
    rows.map(|line| match line.split('\t').collect::<Vec<_>>()[..] {
        [owner, builder, arguments, template, valkey_type, _holds] => {
            Row { owner, builder, arguments, template, valkey_type }
        }
        _ => panic!("a row has six columns: {line}"),
    })
    .collect()
}

/// A key as its builder created it, with its arguments.
struct BuiltKey {
    owner: &'static str,
    builder: &'static str,
    arguments: String,
    parts: Vec<(&'static str, String)>,
    key: String,
}

impl BuiltKey {
    fn new(
        (owner, builder): (&'static str, &'static str),
        own: &[(&'static str, &dyn Display)],
        arguments: &[(&'static str, &'static str, &dyn Display)],
        key: String,
    ) -> Self {
        let signature: Vec<_> = arguments.iter().map(|(name, kind, _)| format!("{name}: {kind}")).collect();
        let own = own.iter().map(|(name, value)| (*name, value.to_string()));
        let sent = arguments.iter().map(|(name, _, value)| (*name, value.to_string()));
        Self { owner, builder, arguments: signature.join(", "), parts: own.chain(sent).collect(), key }
    }

    fn filled_in(&self, template: &str) -> String {
        self.parts.iter().fold(template.to_owned(), |key, (name, value)| key.replace(&format!("<{name}>"), value))
    }

    fn part(&self, name: &str) -> &str {
        let found = self.parts.iter().find(|(part, _)| *part == name);
        found.map(|(_, value)| value.as_str()).unwrap_or_else(|| panic!("{} is not made of a {name}", self.key))
    }
}

/// Calls each builder with the local variables that have the names of its arguments. A row lists the builders that take
/// the same arguments. The function pointer pins the whole signature: a builder with other arguments does not compile.
macro_rules! build {
    ($owner:ident = $context:expr, of $own:expr, { $($arguments:tt $($builder:ident)*;)* }) => {
        [$($(build!(one $owner, $context, $own, $arguments $builder)),*),*]
    };
    (one $owner:ident, $context:expr, $own:expr, ($($argument:ident: $type:ty),*) $builder:ident) => {{
        let build: fn(&$owner, $($type),*) -> String = $owner::$builder;
        let arguments: &[(_, _, &dyn Display)] = &[$((stringify!($argument), stringify!($type), &$argument)),*];
        let key = build(&$context, $($argument),*);
        BuiltKey::new((stringify!($owner), stringify!($builder)), $own, arguments, key)
    }};
    (free functions { $($arguments:tt $($builder:ident)*;)* }) => {
        [$($(build!(one free $arguments $builder)),*),*]
    };
    (one free ($($argument:ident: $type:ty),*) $builder:ident) => {{
        let build: fn($($type),*) -> String = keys::$builder;
        let arguments: &[(_, _, &dyn Display)] = &[$((stringify!($argument), stringify!($type), &$argument)),*];
        BuiltKey::new(("(module)", stringify!($builder)), &[], arguments, build($($argument),*))
    }};
}

fn built() -> Vec<BuiltKey> {
    let partition = Partition::new(PartitionFamily::Execution, 7);
    let budgets = Partition::new(PartitionFamily::Budget, 3);
    let quotas = Partition::new(PartitionFamily::Quota, 5);
    let (flow, budget, quota) =
        (FlowId::from_uuid(uuid(1)), BudgetId::from_uuid(uuid(2)), QuotaPolicyId::from_uuid(uuid(3)));

    let index = AttemptIndex(2);
    let wp_id = &WaitpointId::from_uuid(uuid(4));
    let sig_id = &SignalId::from_uuid(uuid(5));
    let edge_id = &EdgeId::from_uuid(uuid(6));
    let eid = &execution(EXECUTION);
    let upstream_eid = &execution(UPSTREAM);
    let downstream_eid = &execution(DOWNSTREAM);
    let lane_id = &LaneId::parse("mail").expect("a lane's name");
    let wid = &WorkerInstanceId::parse("resizer-1").expect("a worker instance's name");
    let wp_key = &WaitpointKey::parse("approval:17").expect("a waitpoint's key");
    let (idempotency_key, idem_key, mutation_id, dedup_id) = ("order-17", "order-18", "grow-19", "report-20");
    let (tag, hash_tag, namespace, key, value) = ("{fp:7}", "{b:3}", "acme", "region", "eu");
    let (scope_type, scope_id, dimension) = ("lane", "mail-21", "requests");

    let mut built = Vec::new();
    let own: &[(_, &dyn Display)] = &[("tag", &"{fp:7}"), ("eid", &eid)];
    built.extend(build!(ExecKeyContext = ExecKeyContext::new(&partition, eid), of own, {
        () core payload result policy tags lease_current lease_history claim_grant attempts;
        (index: AttemptIndex) attempt_hash attempt_usage attempt_policy stream stream_meta stream_summary;
        () suspension_current suspension_satisfied_set suspension_member_map waitpoints;
        (wp_id: &WaitpointId) waitpoint waitpoint_signals waitpoint_condition;
        (sig_id: &SignalId) signal signal_payload;
        (wp_id: &WaitpointId, idempotency_key: &str) signal_dedup;
        (idempotency_key: &str) suspend_dedup;
        (edge_id: &EdgeId) dep_edge;
        () exec_signals deps_meta deps_unresolved deps_all_edges noop;
    }));
    built.extend(build!(IndexKeys = IndexKeys::new(&partition), of &[("tag", &"{fp:7}")], {
        (lane_id: &LaneId) lane_eligible lane_delayed lane_active lane_terminal lane_suspended;
        (lane_id: &LaneId) lane_blocked_dependencies lane_blocked_budget lane_blocked_quota lane_blocked_route;
        (lane_id: &LaneId) lane_blocked_operator;
        (wid: &WorkerInstanceId) worker_leases;
        () waitpoint_hmac_secrets lease_expiry suspension_timeout pending_waitpoint_expiry attempt_timeout;
        () execution_deadline all_executions partition_signal_delivery;
    }));
    let own: &[(_, &dyn Display)] = &[("tag", &"{fp:7}"), ("fid", &flow)];
    built.extend(build!(FlowKeyContext = FlowKeyContext::new(&partition, &flow), of own, {
        () core members tags events summary pending_cancels;
        (eid: &ExecutionId) member;
        (edge_id: &EdgeId) edge;
        (upstream_eid: &ExecutionId) outgoing;
        (downstream_eid: &ExecutionId) incoming edgegroup;
        (mutation_id: &str) grant;
    }));
    built.extend(build!(FlowIndexKeys = FlowIndexKeys::new(&partition), of &[("tag", &"{fp:7}")], {
        () flow_index cancel_backlog pending_cancel_groups;
    }));
    let own: &[(_, &dyn Display)] = &[("tag", &"{b:3}"), ("bid", &budget)];
    built.extend(build!(BudgetKeyContext = BudgetKeyContext::new(&budgets, &budget), of own, {
        () definition limits usage executions;
    }));
    let own: &[(_, &dyn Display)] = &[("tag", &"{q:5}"), ("qid", &quota)];
    built.extend(build!(QuotaKeyContext = QuotaKeyContext::new(&quotas, &quota), of own, {
        () definition concurrency admitted_set;
        (dimension: &str) window;
        (eid: &ExecutionId) admitted;
    }));
    built.extend(build!(free functions {
        (tag: &str, scope_type: &str, scope_id: &str) budget_attach_key quota_attach_key;
        (tag: &str) budget_resets_key budget_policies_index quota_policies_index noop_key;
        (lane_id: &LaneId) lane_config_key lane_counts_key;
        (wid: &WorkerInstanceId) worker_key worker_caps_key;
        () workers_index_key lanes_index_key global_config_partitions;
        (key: &str, value: &str) workers_capability_key;
        (namespace: &str) namespace_executions_key;
        (tag: &str, namespace: &str, idem_key: &str) idempotency_key;
        (namespace: &str, key: &str, value: &str) tag_index_key;
        (tag: &str, wp_key: &WaitpointKey) waitpoint_key_resolution;
        (hash_tag: &str, dedup_id: &str) usage_dedup_key;
    }));
    built
}

fn rows_with_their_keys() -> Vec<(Row, BuiltKey)> {
    let mut built = built();
    let take = |row: Row| {
        let at = built.iter().position(|key| (key.owner, key.builder) == (row.owner, row.builder));
        let at = at.unwrap_or_else(|| panic!("no builder for {}::{}", row.owner, row.builder));
        (row, built.swap_remove(at))
    };
    published().into_iter().map(take).collect()
}

fn slot_tag(key: &str) -> Option<&str> {
    let start = key.find('{')?;
    let end = start + key[start..].find('}')?;
    Some(&key[start..=end])
}

fn execution(id: &str) -> ExecutionId {
    id.parse().expect("an execution's id")
}

fn uuid(n: u128) -> Uuid {
    Uuid::from_u128(n)
}
