//! Flows in JSON or YAML files, with the same fields as `POST /v1/flows`.

use std::fmt;

use ff_api::{NewFlow, SubmitFlow, object};
use ff_core::engine_error::{Code, Refusal};

use super::Flow;
use crate::yaml;

/// An error in the text of a flow. A syntax error names the position; any other error names the node or edge.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowFileError(pub Refusal);

impl Flow {
    /// Reads a flow from JSON.
    ///
    /// ```
    /// use ff_sdk::Flow;
    ///
    /// let flow = Flow::from_json(r#"{
    ///     "kind": "etl",
    ///     "nodes": {
    ///         "extract": {"kind": "fetch", "payload": {"table": "orders"}},
    ///         "load": {"kind": "store", "after": [{"node": "extract", "passes": "payload"}]}
    ///     }
    /// }"#)?;
    /// assert!(flow.build().is_ok());
    ///
    /// let error = Flow::from_json(r#"{"kind": "etl", "nodes": {"load": {"kind": "store", "aftr": []}}}"#).unwrap_err();
    /// assert!(error.to_string().contains("nodes.load.aftr"), "{error}");
    /// # Ok::<(), ff_sdk::FlowFileError>(())
    /// ```
    pub fn from_json(text: &str) -> Result<Self, FlowFileError> {
        read(text.as_bytes())
    }

    /// Reads a flow from YAML.
    ///
    /// ```
    /// use ff_sdk::Flow;
    ///
    /// let flow = Flow::from_yaml("
    /// kind: etl
    /// nodes:
    ///   extract:
    ///     kind: fetch
    ///     payload: {table: orders}
    ///   load:
    ///     kind: store
    ///     after:
    ///       - {node: extract, passes: payload}
    /// ")?;
    /// assert!(flow.build().is_ok());
    ///
    /// let error = Flow::from_yaml("kind: etl\nnodes:\n  load: [\n").unwrap_err();
    /// assert!(error.to_string().contains("line"), "{error}");
    /// # Ok::<(), ff_sdk::FlowFileError>(())
    /// ```
    pub fn from_yaml(text: &str) -> Result<Self, FlowFileError> {
        read(&yaml::to_json(text).map_err(FlowFileError)?)
    }
}

fn read(json: &[u8]) -> Result<Flow, FlowFileError> {
    let flow = object::<SubmitFlow>(json).map_err(FlowFileError)?;
    let names_namespace = flow.namespace.is_some();
    match flow.into_new() {
        Ok(NewFlow::Whole(args)) => Ok(Flow::of(args, names_namespace)),
        Ok(NewFlow::HeldOpen(_)) => {
            Err(FlowFileError(Refusal::invalid("held_open", "a flow in a file is a whole one")))
        }
        Err(refusal) => Err(FlowFileError(refusal)),
    }
}

impl FlowFileError {
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// Returns the path of the invalid field, such as `nodes.load.kind`.
    pub fn field(&self) -> Option<&str> {
        self.0.field.as_deref()
    }
}

impl fmt::Display for FlowFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for FlowFileError {}

impl From<FlowFileError> for crate::Error {
    fn from(error: FlowFileError) -> Self {
        error.0.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const YAML: &str = "
kind: etl
namespace: acme
tags: {customer: c-17}
nodes:
  orders: {kind: fetch, payload: {table: orders}, lane: slow}
  prices: {kind: fetch, payload_base64: AP8=, content_type: application/octet-stream, priority: 5}
  merge:
    kind: merge
    after:
      - {node: orders, passes: {input: orders}}
      - {node: prices, passes: payload}
    join: {type: quorum, k: 1, on_satisfied: cancel_remaining}
  tell:
    kind: tell
    delay_ms: 10
    policy: {max_reclaim_count: 3}
    after: [merge]
";

    #[test]
    fn a_flow_is_the_same_in_json_and_in_yaml() {
        let json = String::from_utf8(yaml::to_json(YAML).unwrap()).unwrap();
        let id = ff_core::types::FlowId::new();
        let [one, two] =
            [Flow::from_yaml(YAML), Flow::from_json(&json)].map(|flow| flow.unwrap().id(id).build().unwrap());
        assert_eq!(one, two);
        let names: Vec<_> = one.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["orders", "prices", "merge", "tell"]);
        assert_eq!((one.edges.len(), one.header.namespace.as_str()), (3, "acme"));
    }

    #[test]
    fn an_invalid_flow_file_is_refused_with_its_node_or_edge() {
        for (text, field) in [
            ("kind: etl\nnodes:\n  a: {kid: k}", "nodes.a.kid"),
            (
                "kind: etl\nnodes:\n  a: {kind: k, after: [{node: b, passes: {inptu: x}}]}",
                "nodes.a.after[0].passes.inptu",
            ),
            ("kind: etl\nnodes: {}\nheld_open: true", "held_open"),
            ("kind: etl\nnods: {}", "nods"),
        ] {
            assert_eq!(Flow::from_yaml(text).unwrap_err().field(), Some(field), "{text}");
        }
        for (text, field) in [
            ("kind: etl\nnodes:\n  a: {kind: k, after: [b]}", "edges.b->a"),
            ("kind: etl\nnodes:\n  a: {kind: k, after: [a]}", "edges.a->a"),
            ("kind: etl\nnodes:\n  a: {kind: k}\n  b: {kind: k, after: [a, a]}", "edges.a->b"),
            (
                "kind: etl\nnodes:\n  a: {kind: k}\n  b: {kind: k, after: [a], join: {type: quorum, k: 2}}",
                "nodes.b.join",
            ),
            ("kind: etl\nnodes: {}", "nodes"),
        ] {
            let error = Flow::from_yaml(text).unwrap().build().unwrap_err().to_string();
            assert!(error.contains(field), "{text}: {error}");
        }
        let twice = Flow::from_json(r#"{"kind":"etl","nodes":{"a":{"kind":"k"},"a":{"kind":"k"}}}"#).unwrap();
        assert!(twice.build().unwrap_err().to_string().contains("nodes.a"));
    }

    #[test]
    fn a_syntax_error_is_reported_with_its_line() {
        let json = Flow::from_json("{\"kind\": \"etl\",\n nope}").unwrap_err();
        assert!(json.to_string().contains("line 2 column"), "{json}");
        let yaml = Flow::from_yaml("kind: etl\nnodes: [\n").unwrap_err();
        assert!(yaml.to_string().contains("line "), "{yaml}");
    }

    #[test]
    fn the_largest_flow_is_read_from_yaml() {
        let mut text = "kind: wide\nnodes:\n".to_owned();
        for node in 0..ff_core::limits::FLOW_NODES {
            let after: Vec<_> = (node.saturating_sub(5)..node).map(|up| format!("{{node: n{up}}}")).collect();
            text.push_str(&format!(
                "  n{node}: {{kind: k, payload: {node}, lane: l, after: [{}]}}\n",
                after.join(", ")
            ));
        }
        assert!(Flow::from_yaml(&text).unwrap().build().is_ok());
    }
}
