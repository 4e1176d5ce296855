//! Adding members to the flow of a handler's execution.

use std::collections::HashSet;
use std::future::IntoFuture;

use ff_core::contracts::{EdgeAddition, FlowEdgesArgs, GrowFlowArgs, JoinSpec, MemberRef, NodeSpec, TaskFlow};
use ff_core::engine_error::{Code, EngineError, Refusal};
use ff_core::flow::{Join, edge_id, member_id};
use ff_core::limits;
use ff_core::step::StepRef;
use ff_core::types::{EdgeId, ExecutionId, IdempotencyKey, NodeName};
use futures_util::future::BoxFuture;
use uuid::Uuid;

use super::{Children, ended};
use crate::worker::WaitError;
use crate::{Context, Error, Growth, Node};

/// The addition of children and the wait for them, which both start at `.await`. This run of the handler ends there. When
/// the join of the children is satisfied, or has become impossible, the handler is called again from its start, and the
/// same wait returns.
///
/// By default the wait requires that all children succeed. It is identified by its name, which a handler may use only
/// once in a run.
#[must_use = "children are added when this is awaited"]
pub struct AddChildren {
    context: Context,
    wait: String,
    children: Vec<(String, Node)>,
    join: Join,
}

impl AddChildren {
    pub(in crate::worker) fn new(context: Context, wait: &str) -> Self {
        Self { context, wait: wait.to_owned(), children: Vec::new(), join: Join::AllOf }
    }

    /// Adds a child, under a name that is unique among the children of the wait.
    pub fn add(mut self, name: &str, node: Node) -> Self {
        self.children.push((name.to_owned(), node));
        self
    }

    /// Adds children with their names.
    pub fn add_all<N: Into<String>>(mut self, children: impl IntoIterator<Item = (N, Node)>) -> Self {
        self.children.extend(children.into_iter().map(|(name, node)| (name.into(), node)));
        self
    }

    /// Sets how many of the children must succeed. With a join other than `all_of`, there can be at most 20 children.
    pub fn join(mut self, join: impl Into<Join>) -> Self {
        self.join = join.into();
        self
    }

    async fn wait(self) -> Result<Children, WaitError> {
        let Self { context, wait, children, join } = self;
        let place = place(&context)?;
        check_wait(&wait)?;
        check_unique(children.iter().map(|(name, _)| name.as_str()))?;
        let step = context.waits().next(&wait)?;
        if !step.key.is_empty() {
            let why = format!("there is a wait {wait:?} already; call this one otherwise");
            return Err(Refusal::invalid("children", why).into());
        }
        let mut added = Vec::with_capacity(children.len());
        let mut nodes = Vec::with_capacity(children.len());
        for (name, node) in children {
            let spec = node.build(child(&place.node, &wait, &name)?)?;
            added.push((name, member_id(&place.flow_id, &spec.name, &context.backend().partitions())));
            nodes.push(spec);
        }
        if added.is_empty() {
            return Ok(Children::default());
        }
        if context.steps().find(&step).is_none() {
            context.steps().begin_new().await;
            Self::add_and_wait(&context, step, &nodes, join).await?;
        }
        Ok(ended::read(&context, added).await?)
    }

    async fn add_and_wait(context: &Context, step: StepRef, nodes: &[NodeSpec], join: Join) -> Result<(), WaitError> {
        // Children that are too many for one call are still one wait. Children that are added while others run join that
        // wait; children that are added after the others have ended are waited for alone. Only `AllOf` gives the same result
        // in both cases.
        let part = if join == Join::AllOf { limits::FLOW_CALL_NODES.min(limits::FLOW_CALL_EDGES) } else { nodes.len() };
        for (number, nodes) in nodes.chunks(part).enumerate() {
            add(context, step.name.as_str(), number, nodes, join).await?;
        }
        ended::wait(context, step).await
    }
}

impl IntoFuture for AddChildren {
    type Output = Result<Children, WaitError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.wait())
    }
}

/// Adds some children, and an edge from each to the execution that will wait for it.
async fn add(context: &Context, wait: &str, part: usize, nodes: &[NodeSpec], join: Join) -> Result<(), Error> {
    let place = place(context)?;
    let parent = MemberRef::Execution(context.task().execution_id);
    let edge = |node: &NodeSpec| EdgeAddition {
        upstream: MemberRef::Node(node.name.clone()),
        downstream: parent.clone(),
        passes: None,
    };
    let joins = if join == Join::AllOf { vec![] } else { vec![JoinSpec { member: parent.clone(), join }] };
    let args = GrowFlowArgs {
        nodes: nodes.to_vec(),
        joins,
        edges: nodes.iter().map(edge).collect(),
        idempotency_key: Some(key("children", &context.task().execution_id, wait, part)?),
        ..GrowFlowArgs::new(place.flow_id)
    };
    make(context, args).await
}

/// Adds members and edges for a handler: once, however often the handler runs. Returns the new members.
pub(in crate::worker) async fn grow(context: &Context, name: &str, growth: Growth) -> Result<Vec<ExecutionId>, Error> {
    let flow = place(context)?.flow_id;
    let mut args = growth.build(flow)?;
    if args.idempotency_key.is_none() {
        args.idempotency_key = Some(key("grown", &context.task().execution_id, name, 0)?);
    }
    let partitions = context.backend().partitions();
    let members = args.nodes.iter().map(|node| member_id(&flow, &node.name, &partitions)).collect();
    make(context, args).await?;
    Ok(members)
}

/// Sends a change of the flow. Its idempotency key is forgotten after a day, and the handler may run again after that.
/// So if a refused change already exists as a whole, an earlier run made it.
async fn make(context: &Context, args: GrowFlowArgs) -> Result<(), Error> {
    const THERE: [Code; 3] = [Code::ExecutionAlreadyInFlow, Code::DependencyAlreadyExists, Code::NotRunnable];
    let args = GrowFlowArgs { holder: Some((context.task().execution_id, context.task().fence)), ..args };
    match context.backend().grow_flow(args.clone()).await {
        Ok(_) => Ok(()),
        Err(EngineError::Refused(refusal)) if THERE.contains(&refusal.code) && is_there(context, &args).await? => {
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

async fn is_there(context: &Context, args: &GrowFlowArgs) -> Result<bool, Error> {
    let (backend, partitions) = (context.backend(), context.backend().partitions());
    let named = |node: &NodeName| member_id(&args.flow_id, node, &partitions);
    for node in &args.nodes {
        match backend.describe(&named(&node.name)).await {
            Ok(found) if found.kind == node.kind => {}
            Ok(_) => return Ok(false),
            Err(error) if error.code() == Code::ExecutionNotFound => return Ok(false),
            Err(error) => return Err(error.into()),
        }
    }
    for edge in &args.edges {
        let end = |member: &MemberRef| match member {
            MemberRef::Node(node) => named(node),
            MemberRef::Execution(id) => *id,
        };
        let id = edge_id(&args.flow_id, &end(&edge.upstream), &end(&edge.downstream));
        let just_before = EdgeId::from_uuid(Uuid::from_u128(id.as_uuid().as_u128() - 1));
        let next = FlowEdgesArgs { flow_id: args.flow_id, after: Some(just_before), limit: 1 };
        if backend.flow_edges(next).await?.edges.first().is_none_or(|edge| edge.edge_id != id) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the place of the handler's execution in its flow. An execution outside of a flow can add nothing.
pub(super) fn place(context: &Context) -> Result<&TaskFlow, Error> {
    let none =
        || Code::ExecutionNotInFlow.refusal().at("execution_id").because("is in no flow: submit it as a node of one");
    Ok(context.flow().ok_or_else(none)?)
}

/// Returns the name of a child within the flow. It begins with the parent and the wait, so that two handlers, or two
/// waits of one handler, never use the same name. The name of a wait has no dot, so the parts can be separated again.
pub(super) fn child(parent: &NodeName, wait: &str, child: &str) -> Result<NodeName, Error> {
    let text = format!("{parent}.{wait}.{child}");
    let parsed = NodeName::parse(&text);
    Ok(parsed
        .map_err(|error| Refusal::invalid(format!("nodes.{child}"), format!("would be called {text:?}: {error}")))?)
}

/// Refuses an invalid name of a wait. A name with a dot could be confused with that of another wait.
pub(super) fn check_wait(name: &str) -> Result<(), Error> {
    if name.contains('.') {
        return Err(Refusal::invalid("children", format!("the name {name:?} of a wait has no dot")).into());
    }
    NodeName::parse(name).map_err(|error| Refusal::invalid("children", format!("the name {name:?}: {error}")))?;
    Ok(())
}

/// Refuses two children with the same name.
pub(super) fn check_unique<'n>(names: impl Iterator<Item = &'n str>) -> Result<(), Error> {
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(Refusal::invalid(format!("nodes.{name}"), "must be there once, is there twice").into());
        }
    }
    Ok(())
}

/// Returns the idempotency key of an addition, which is the same in every run of the handler.
pub(super) fn key(what: &str, execution: &ExecutionId, name: &str, part: usize) -> Result<IdempotencyKey, Error> {
    let text = format!("{what}/{}/{name}/{part}", execution.uuid());
    Ok(IdempotencyKey::parse(&text).map_err(|error| Refusal::invalid("idempotency_key", error))?)
}
