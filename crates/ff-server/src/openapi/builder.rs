//! Builder of the OpenAPI document, one route after the other.

use std::collections::BTreeMap;

use ff_api::access::Access;
use ff_api::{IDEMPOTENCY_KEY, Parameter, Problem};
use ff_core::types::{
    BudgetName, ExecutionId, FlowId, IdempotencyKey, KeyId, LaneId, NodeName, QuotaName, ScheduleName, SignalId,
    WaitpointId, WorkerInstanceId,
};
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::security;
use crate::request::body::BodyLimit;
use crate::routing::route_table;

/// Location of the schemas that several routes share.
const SCHEMAS: &str = "/components/schemas";

/// Error statuses of every request: bad input, a foreign origin, a slow body, a high rate, or a failure of the server or its
/// store.
const ALWAYS: &[u16] = &[400, 403, 408, 429, 500, 503];

/// Additional error statuses of a request with a body.
const WITH_A_BODY: &[u16] = &[413, 415];

/// The routes and schemas described so far.
pub(super) struct OpenApiBuilder {
    generator: SchemaGenerator,
    paths: BTreeMap<&'static str, Map<String, Value>>,
}

/// A route that is being described.
pub(super) struct Route<'b> {
    api: &'b mut OpenApiBuilder,
    method: &'static str,
    path: &'static str,
    summary: &'static str,
    parameters: Vec<Value>,
    body: Option<Value>,
    responses: BTreeMap<u16, Value>,
}

impl OpenApiBuilder {
    pub(super) fn new() -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.definitions_path = SCHEMAS.into();
            settings.meta_schema = None;
            settings.transforms.push(Box::new(RecursiveTransform(any_as_object)));
        });
        Self { generator: settings.into_generator(), paths: BTreeMap::new() }
    }

    pub(super) fn get(&mut self, path: &'static str, summary: &'static str) -> Route<'_> {
        self.route("get", path, summary)
    }

    pub(super) fn post(&mut self, path: &'static str, summary: &'static str) -> Route<'_> {
        self.route("post", path, summary)
    }

    fn route(&mut self, method: &'static str, path: &'static str, summary: &'static str) -> Route<'_> {
        let route =
            Route { api: self, method, path, summary, parameters: Vec::new(), body: None, responses: BTreeMap::new() };
        route.named_in_its_path().with_query().refused(ALWAYS)
    }

    /// Returns the paths, and the components they refer to.
    pub(super) fn closed(mut self) -> (Value, Value) {
        let problem = self.generator.subschema_for::<Problem>();
        let response = json!({
            "description": "The error, as a problem document with a stable code, the field and the limit.",
            "content": { "application/problem+json": { "schema": problem } },
        });
        let schemas = self.generator.take_definitions(true);
        let components = json!({
            "schemas": schemas,
            "responses": { "Problem": response },
            "securitySchemes": security::schemes(),
        });
        (json!(self.paths), components)
    }
}

/// Replaces the schema `true` by `{}`. Both allow any value, but client generators do not support `true`.
fn any_as_object(schema: &mut Schema) {
    if schema.as_bool() == Some(true) {
        *schema = Schema::default();
    }
}

impl Route<'_> {
    /// Adds an optional header.
    pub(super) fn header_of(mut self, name: &str, schema: Value, says: &str) -> Self {
        self.parameters.push(json!({ "name": name, "in": "header", "description": says, "schema": schema }));
        self
    }

    /// Adds the idempotency key header.
    pub(super) fn repeatable(self) -> Self {
        let schema = json!(self.api.generator.subschema_for::<IdempotencyKey>());
        self.header_of(IDEMPOTENCY_KEY, schema, "Requests with the same key are executed once.")
    }

    /// Adds a JSON body. An empty body means `{}`.
    pub(super) fn takes<T: JsonSchema + BodyLimit>(mut self) -> Self {
        let schema = self.api.generator.subschema_for::<T>();
        let required = T::json_schema(&mut self.api.generator);
        let required = required.get("required").and_then(Value::as_array).is_some_and(|fields| !fields.is_empty());
        self.body = Some(json!({
            "description": format!("At most {} bytes.", T::BODY_BYTES),
            "required": required,
            "content": { "application/json": { "schema": schema } },
        }));
        self.refused(WITH_A_BODY)
    }

    /// Adds a body of another media type.
    pub(super) fn takes_a(mut self, media_type: &str, schema: Value) -> Self {
        self.body = Some(json!({ "required": true, "content": { media_type: { "schema": schema } } }));
        self.refused(WITH_A_BODY)
    }

    /// Adds a JSON response.
    pub(super) fn answers<T: JsonSchema>(self, status: u16, says: &str) -> Self {
        let schema = json!(self.api.generator.subschema_for::<T>());
        self.answers_a(status, "application/json", schema, says)
    }

    /// Adds a response of a media type; a status may have several.
    pub(super) fn answers_a(mut self, status: u16, media_type: &str, schema: Value, says: &str) -> Self {
        let response = self.responses.entry(status).or_insert_with(|| json!({ "description": says, "content": {} }));
        response["content"][media_type] = json!({ "schema": schema });
        self
    }

    /// Adds the event stream variant of the response, for callers that accept one.
    pub(super) fn streams(self, says: &str) -> Self {
        self.header_of(
            "Last-Event-ID",
            json!({ "type": "string" }),
            "Id of the last event received; the stream continues after it.",
        )
        .answers_a(200, "text/event-stream", json!({ "type": "string" }), says)
        .answers_nothing(204, "The stream has ended; do not reconnect.")
        .refused(&[429])
    }

    /// Adds a response without a body.
    pub(super) fn answers_nothing(mut self, status: u16, says: &str) -> Self {
        self.responses.insert(status, json!({ "description": says }));
        self
    }

    /// Adds error statuses with a problem document.
    pub(super) fn refused(mut self, statuses: &[u16]) -> Self {
        for status in statuses {
            self.responses.entry(*status).or_insert_with(|| json!({ "$ref": "#/components/responses/Problem" }));
        }
        self
    }

    /// Adds error statuses for which browsers get a page.
    pub(super) fn refused_on_a_page(mut self, statuses: &[u16]) -> Self {
        let problem = json!(self.api.generator.subschema_for::<Problem>());
        for status in statuses {
            self.responses.remove(status);
            self = self.answers_a(*status, "text/html", json!({ "type": "string" }), "The error, as a page.");
            self = self.answers_a(*status, "application/problem+json", problem.clone(), "");
        }
        self
    }

    /// Adds the route to the document.
    pub(super) fn done(self) {
        let access = route_table::access(self.method, self.path);
        let route = if access.checks_keys() { self.refused(&[401]) } else { self };
        route.entered(access);
    }

    fn entered(self, access: Access) {
        let responses: BTreeMap<_, _> =
            self.responses.iter().map(|(status, says)| (status.to_string(), says)).collect();
        let mut operation =
            json!({ "summary": self.summary, "responses": responses, "security": security::requirements(access) });
        operation["operationId"] = json!(route_table::operation_id(self.method, self.path));
        if let Some(roles) = security::roles(access) {
            operation["description"] = json!(roles);
        }
        if !self.parameters.is_empty() {
            operation["parameters"] = json!(self.parameters);
        }
        if let Some(body) = self.body {
            operation["requestBody"] = body;
        }
        self.api.paths.entry(self.path).or_default().insert(self.method.to_owned(), operation);
    }

    /// Adds the parameters of the path.
    fn named_in_its_path(mut self) -> Self {
        let segments = self.path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
        let generator = &mut self.api.generator;
        let named = segments.map(|name| (name, in_path(generator, name)));
        let parameters = named.map(|(name, (schema, says))| {
            json!({ "name": name, "in": "path", "required": true, "description": says, "schema": schema })
        });
        self.parameters = parameters.collect();
        if self.parameters.is_empty() { self } else { self.refused(&[404]) }
    }

    /// Adds the query parameters from the route table.
    fn with_query(mut self) -> Self {
        let described = route_table::parameters(self.method, self.path, &mut self.api.generator);
        self.parameters.extend(described.into_iter().map(|parameter| {
            let Parameter { name, description, schema } = parameter;
            json!({ "name": name, "in": "query", "description": description, "schema": schema })
        }));
        self
    }
}

/// Returns the schema and description of a path parameter, by its name.
fn in_path(generator: &mut SchemaGenerator, name: &str) -> (Value, &'static str) {
    match name {
        "id" => (json!(generator.subschema_for::<ExecutionId>()), "The execution."),
        "flow" => (json!(generator.subschema_for::<FlowId>()), "The flow."),
        "node" => (json!(generator.subschema_for::<NodeName>()), "Name of a member of the flow."),
        "waitpoint" => (json!(generator.subschema_for::<WaitpointId>()), "The waitpoint."),
        "signal" => (json!(generator.subschema_for::<SignalId>()), "The signal."),
        "key" => (json!(generator.subschema_for::<KeyId>()), "The public part of an API key."),
        "lane" => (json!(generator.subschema_for::<LaneId>()), "The lane."),
        "schedule" => (json!(generator.subschema_for::<ScheduleName>()), "The schedule."),
        "budget" => (json!(generator.subschema_for::<BudgetName>()), "The budget."),
        "quota" => (json!(generator.subschema_for::<QuotaName>()), "The quota policy."),
        "instance" => (json!(generator.subschema_for::<WorkerInstanceId>()), "The worker instance."),
        _ => (json!({ "type": "string", "minLength": 1 }), "An error code."),
    }
}
