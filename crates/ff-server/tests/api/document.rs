//! The checked-in docs/openapi.json: routes, and the bodies they take.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

static DOCUMENT: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../../../docs/openapi.json")).unwrap());

/// Returns every operation, by its method and its path.
pub(crate) fn operations() -> impl Iterator<Item = (&'static str, &'static str, &'static Value)> {
    let paths = DOCUMENT["paths"].as_object().unwrap();
    paths.iter().flat_map(|(path, methods)| {
        let methods = methods.as_object().unwrap();
        methods.iter().map(move |(method, operation)| (method.as_str(), path.as_str(), operation))
    })
}

/// A field of a body.
pub(crate) struct Property {
    pub(crate) name: &'static str,
    pub(crate) required: bool,
    schema: &'static Value,
}

/// Returns the fields of the JSON body that a route takes; `None` if it takes none.
pub(crate) fn body(path: &str) -> Option<Vec<Property>> {
    let request = &DOCUMENT["paths"][path]["post"]["requestBody"]["content"]["application/json"];
    let schema = resolved(request.get("schema")?);
    let is_required = |name: &str| schema["required"].as_array().is_some_and(|names| names.contains(&json!(name)));
    let property = |(name, schema): (&'static String, &'static Value)| Property {
        name,
        required: is_required(name),
        schema: resolved(schema),
    };
    Some(schema["properties"].as_object().into_iter().flatten().map(property).collect())
}

/// Returns whether a route is for the holder of a lease.
pub(crate) fn takes_fence(path: &str) -> bool {
    body(path).is_some_and(|fields| fields.iter().any(|field| field.name == "lease_epoch"))
}

/// Returns a body with the required fields, each with a valid value.
pub(crate) fn sample(path: &str) -> Value {
    let required = body(path).into_iter().flatten().filter(|field| field.required);
    required.map(|field| (field.name.to_owned(), field.sample())).collect::<Map<_, _>>().into()
}

impl Property {
    /// Returns the type of the field's values other than null.
    fn of_type(&self) -> Option<&str> {
        let types = &self.schema["type"];
        types.as_str().or(types[0].as_str())
    }

    fn sample(&self) -> Value {
        match self.of_type() {
            // The largest valid value, or a time centuries from now.
            Some("integer") => self.schema.get("maximum").cloned().unwrap_or(json!(9_999_999_999_999_u64)),
            Some("boolean") => json!(true),
            Some("array") => json!([]),
            Some("object") => json!({}),
            _ => json!("a"),
        }
    }

    /// Returns values that the field does not take. There are none for a field that takes any value, or several types.
    pub(crate) fn wrong(&self) -> Vec<Value> {
        let wrong = match self.of_type() {
            _ if self.is_word() => json!([5, true, "nonsense", "", [], {}]),
            Some("integer") if self.schema["minimum"] == 0 => json!(["5", true, -1, 1.5, 1e30, [], {}]),
            Some("integer") => json!(["5", "soon", true, 1.5, [], {}]),
            Some("boolean") => json!([5, "true", [], {}]),
            Some("array") => json!([5, true, "a", {}]),
            Some("object") => json!([5, true, "a", []]),
            Some("string") => {
                return [json!(5), json!(true), json!([]), json!({})].into_iter().chain(self.malformed()).collect();
            }
            None => json!([]),
            other => panic!("{}: values of the type {other:?} are not known here", self.name),
        };
        wrong.as_array().unwrap().clone()
    }

    /// Returns whether the value is one of a fixed set of words.
    fn is_word(&self) -> bool {
        let choices = self.schema["oneOf"].as_array();
        self.schema.get("enum").is_some() || choices.is_some_and(|all| all.iter().all(|one| one.get("const").is_some()))
    }

    /// Returns texts that are not of the form of the field.
    fn malformed(&self) -> impl Iterator<Item = Value> {
        const UUID: &str = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$";
        let form = ["pattern", "format", "contentEncoding"].iter().find_map(|key| self.schema.get(*key)?.as_str());
        let texts: &[&str] = match form {
            None => &[],
            Some("^[A-Za-z0-9._-]+$") => &["", "a b", "a:b", "{a}", "é"],
            Some(r"^[^\u0000-\u001F\u007F-\u009F]+$") => &["", "a\u{0}b", "a\nb"],
            Some(r"^[^\u0000-\u001F\u007F-\u009F]*$") => &["a\u{0}b", "a\nb"],
            Some("^[a-z0-9]+$") => &["", "A1", "a_1", "a-1"],
            Some("^[0-9a-f]{64}$") => &["", "0f", "nonsense"],
            Some(UUID) => &["", "nope", "018F3C5E-7A10-7C31-9C45-0D3F7C1A2B3C", "018f3c5e7a107c319c450d3f7c1a2b3c"],
            Some("uuid") => &["", "nope"],
            Some("base64") => &["*", "YQ"],
            Some(other) => panic!("{}: the form {other} is not known here", self.name),
        };
        texts.iter().map(|text| json!(text))
    }
}

/// Resolves references, and removes the null that stands for an absent value.
fn resolved(schema: &'static Value) -> &'static Value {
    let schema = schema.get("anyOf").map_or(schema, |either| &either[0]);
    match schema["$ref"].as_str() {
        Some(reference) => resolved(DOCUMENT.pointer(reference.trim_start_matches('#')).unwrap()),
        None => schema,
    }
}
