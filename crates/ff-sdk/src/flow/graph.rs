//! The builder of a flow, node by node and edge by edge.

use ff_core::contracts::{CreateFlowArgs, FlowHeader, SubmitFlowArgs};
use ff_core::engine_error::{Code, Refusal};
use ff_core::flow::{Join, PassMode};
use ff_core::trace::TraceContext;
use ff_core::types::{FlowId, IdempotencyKey, Kind, Namespace, TagKey, TagValue};

use super::Node;
use super::draft::Draft;
use crate::Error;
use crate::job::try_put;

/// A flow of a kind. An error is reported when the flow is submitted, and names the node or edge.
///
/// ```
/// use ff_sdk::{Flow, Node, quorum};
///
/// let review = Flow::new("review")
///     .node("draft", Node::new("write", &"chapter 1"))
///     .node("ada", Node::empty("read").lane("people"))
///     .node("bob", Node::empty("read").lane("people"))
///     .node("cyd", Node::empty("read").lane("people"))
///     .node("print", Node::empty("print").priority(5))
///     .after("ada", "draft").passing_payload()
///     .after("bob", "draft").passing_payload()
///     .after("cyd", "draft").passing_payload()
///     .after_each("print", ["ada", "bob", "cyd"])
///     .join(quorum(2).cancel_remaining())
///     .tag("book", "b-7");
/// assert!(review.build().is_ok());
///
/// let circle = Flow::new("c").node("a", Node::empty("k")).node("b", Node::empty("k")).after("a", "b").after("b", "a");
/// let error = circle.build().unwrap_err().to_string();
/// assert!(error.contains("a->b") || error.contains("b->a"), "{error}");
/// ```
#[derive(Debug)]
pub struct Flow {
    parts: Result<(FlowHeader, Draft), Error>,
    names_namespace: bool,
}

impl Flow {
    /// Creates a flow without nodes.
    pub fn new(kind: &str) -> Self {
        let header = Kind::parse(kind).map(FlowHeader::new);
        Self {
            parts: header
                .map(|header| (header, Draft::default()))
                .map_err(|error| Refusal::invalid("kind", error).into()),
            names_namespace: false,
        }
    }

    /// Creates a flow from parsed arguments.
    pub(super) fn of(args: SubmitFlowArgs, names_namespace: bool) -> Self {
        Self { parts: Ok((args.header, Draft::of(args.nodes, args.edges))), names_namespace }
    }

    /// Returns the namespace, if it was named explicitly.
    pub fn named(&self) -> Option<&Namespace> {
        self.parts.as_ref().ok().filter(|_| self.names_namespace).map(|(header, _)| &header.namespace)
    }

    /// Sets the namespace of the flow and its members. The default is the namespace of the API key or else `default`.
    pub fn namespace(mut self, namespace: &str) -> Self {
        self.names_namespace = true;
        let namespace = Namespace::parse(namespace).map_err(|error| Refusal::invalid("namespace", error).into());
        self.set(namespace, |header, namespace| {
            header.namespace = namespace;
            header.derive_id();
        })
    }

    /// Adds a tag, by which the flow can be found.
    pub fn tag(self, key: &str, value: &str) -> Self {
        let tag = TagKey::parse(key).and_then(|key| Ok((key, TagValue::parse(value)?)));
        self.set(tag.map_err(|error| Refusal::invalid("tags", error).into()), |header, (key, value)| {
            header.tags.insert(key, value);
        })
    }

    /// Sets the trace of the flow from the W3C headers `traceparent` and `tracestate`. The handlers of all members get
    /// it from [`crate::Context::trace`].
    pub fn trace(self, traceparent: &str, tracestate: Option<&str>) -> Self {
        let trace = TraceContext::parse(traceparent, tracestate).map_err(Error::from);
        self.set(trace, |header, trace| header.trace = Some(Box::new(trace)))
    }

    /// Puts the flow into the trace of other work, if that has one.
    pub fn in_trace(self, trace: Option<&TraceContext>) -> Self {
        self.set(Ok(trace.cloned().map(Box::new)), |header, trace| header.trace = trace)
    }

    /// Sets the id of the flow, so that another program can safely submit the same flow again. It replaces the idempotency key.
    pub fn id(self, id: FlowId) -> Self {
        self.set(Ok(id), |header, id| (header.flow_id, header.idempotency_key) = (id, None))
    }

    /// Sets the idempotency key: a second submission of the graph with this key is the same flow. The flow's id is
    /// derived from the key and the namespace.
    pub fn idempotency_key(self, key: &str) -> Self {
        let key = IdempotencyKey::parse(key).map_err(|error| Refusal::invalid("idempotency_key", error).into());
        self.set(key, |header, key| {
            header.idempotency_key = Some(key);
            header.derive_id();
        })
    }

    /// Adds a member under a name that is unique in the flow.
    pub fn node(self, name: &str, node: Node) -> Self {
        self.draw(|draft| draft.node(name, node))
    }

    /// Adds an edge: `node` waits for `upstream`. Following calls about passing and joining refer to this edge and `node`.
    pub fn after(self, node: &str, upstream: &str) -> Self {
        self.draw(|draft| draft.after(node, std::iter::once(upstream)))
    }

    /// Adds edges: `node` waits for each of these upstreams.
    pub fn after_each<'n>(self, node: &str, upstreams: impl IntoIterator<Item = &'n str>) -> Self {
        self.draw(|draft| draft.after(node, upstreams.into_iter()))
    }

    /// Passes the result of the last edge's upstream to the worker as an input of this name, in addition to the payload.
    pub fn passing(self, input: &str) -> Self {
        self.draw(|draft| draft.passes_input(input))
    }

    /// Replaces the payload of the node by the result of the last edge's upstream.
    pub fn passing_payload(self) -> Self {
        self.draw(|draft| draft.passes(&PassMode::Payload))
    }

    /// Sets how the edges into the node named last join. By default every upstream must succeed.
    pub fn join(self, join: impl Into<Join>) -> Self {
        self.draw(|draft| draft.join(join.into()))
    }

    /// Returns the arguments of the submission, or the first error in the flow.
    pub fn build(self) -> Result<SubmitFlowArgs, Error> {
        let (header, mut draft) = self.parts?;
        if let Some((node, _)) = draft.settle().first() {
            let refusal = Code::ExecutionNotInFlow.refusal().at(format!("nodes.{node}.join"));
            return Err(refusal.because("the flow does not have this node").into());
        }
        let args = SubmitFlowArgs { header, nodes: draft.nodes, edges: draft.edges };
        args.clone().plan()?;
        Ok(args)
    }

    /// Returns the arguments that create a flow without members and hold it open for them.
    pub(crate) fn build_empty(self) -> Result<CreateFlowArgs, Error> {
        let (header, draft) = self.parts?;
        if !draft.nodes.is_empty() || !draft.edges.is_empty() {
            return Err(Refusal::invalid("nodes", "must be empty for a flow that is held open").into());
        }
        Ok(CreateFlowArgs { header })
    }

    fn set<T>(mut self, value: Result<T, Error>, put: impl FnOnce(&mut FlowHeader, T)) -> Self {
        try_put(&mut self.parts, value, |(header, _), value| put(header, value));
        self
    }

    fn draw(mut self, add: impl FnOnce(&mut Draft) -> Result<(), Error>) -> Self {
        if let Ok((_, draft)) = &mut self.parts
            && let Err(error) = add(draft)
        {
            self.parts = Err(error);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{any_of, quorum};

    fn flow() -> Flow {
        Flow::new("f").node("a", Node::empty("k")).node("b", Node::empty("k")).node("c", Node::empty("k"))
    }

    #[test]
    fn builder_options_apply_to_the_last_edge_or_node() {
        let args = flow()
            .after("c", "a")
            .passing("left")
            .after("c", "b")
            .passing_payload()
            .join(any_of().cancel_remaining())
            .node("d", Node::new("k", &7).lane("l").tag("t", "v"))
            .join(quorum(1))
            .after_each("d", ["a", "c"])
            .build()
            .unwrap();
        let passes: Vec<_> = args.edges.iter().map(|edge| edge.passes.clone()).collect();
        let left = PassMode::Input(ff_core::types::InputName::parse("left").unwrap());
        assert_eq!(passes, [Some(left), Some(PassMode::Payload), None, None]);
        let joins: Vec<Join> = args.nodes.iter().map(|node| node.join).collect();
        assert_eq!(joins, [Join::AllOf, Join::AllOf, any_of().cancel_remaining().into(), quorum(1).into()]);
    }

    #[test]
    fn an_invalid_flow_names_its_node_or_edge() {
        let field = |flow: Flow| match flow.build().unwrap_err() {
            Error::Engine(ff_core::engine_error::EngineError::Refused(refusal)) => refusal.field.unwrap_or_default(),
            other => panic!("{other}"),
        };
        for (flow, expected) in [
            (Flow::new("f f"), "kind"),
            (flow().trace("00-1", None), "traceparent"),
            (flow().node("x", Node::empty("k k")), "nodes.x.kind"),
            (flow().node("x", Node::empty("k").lane("a b")), "nodes.x.lane"),
            (flow().node("x", Node::new("k", &std::collections::HashMap::from([((1, 2), 3)]))), "nodes.x.payload"),
            (flow().node("a", Node::empty("k")), "nodes.a"),
            (flow().after("c", "x"), "edges.x->c"),
            (flow().after("c", "c"), "edges.c->c"),
            (flow().after("c", "a b"), "edges.a b->c"),
            (flow().after("c", "a").passing("x y"), "edges.a->c"),
            (flow().passing("x"), "edges"),
            (Flow::new("f").join(any_of()), "nodes"),
            (flow().after("c", "a").join(quorum(2)), "nodes.c.join"),
            (flow().after("x", "a").join(any_of()), "nodes.x.join"),
            (Flow::new("f"), "nodes"),
        ] {
            assert_eq!(field(flow), expected);
        }
    }
}
