//! Query parameters of the routes, each set as one struct: clients serialize it, the server parses it, and the description of
//! the API lists its fields.

use ff_core::execution::Tags;
use ff_core::limits;
use ff_core::types::Namespace;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The query parameters of a route. All are optional.
pub trait Query: Default + Serialize + DeserializeOwned + Send + Sync {
    /// Returns the namespace parameter, if the route has one.
    fn namespace(&mut self) -> Option<&mut Option<Namespace>> {
        None
    }

    /// Returns the tags, if the route filters by them. Each is a parameter of its own, named [`TAG_PREFIX`] and its key.
    fn tags(&mut self) -> Option<&mut Tags> {
        None
    }

    /// Describes each parameter.
    fn parameters(generator: &mut schemars::SchemaGenerator) -> Vec<Parameter>;
}

/// Prefix of the names of parameters that are tags.
pub const TAG_PREFIX: &str = "tag.";

/// The description of a query parameter.
pub struct Parameter {
    pub name: &'static str,
    pub description: &'static str,
    pub schema: schemars::Schema,
}

/// Defines the query parameters of a route. A list `within namespace` has a parameter for the namespace. A list
/// `with tags` has a parameter for each tag, described by the text that follows.
macro_rules! query {
    ($(#[$doc:meta])* $name:ident $(within $namespace:ident)? $(with $tags:ident $tags_doc:literal)? {
        $($(#[doc = $field_doc:literal])+ $field:ident: $type:ty,)*
    }) => {
        $(#[$doc])*
        #[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct $name {
            $($(#[doc = $field_doc])+
            #[serde(skip_serializing_if = "Option::is_none")]
            pub $field: Option<$type>,)*
            $(#[doc = $tags_doc]
            #[serde(skip)]
            pub $tags: ff_core::execution::Tags,)?
        }

        impl crate::query::Query for $name {
            $(fn namespace(&mut self) -> Option<&mut Option<ff_core::types::Namespace>> {
                Some(&mut self.$namespace)
            })?

            $(fn tags(&mut self) -> Option<&mut ff_core::execution::Tags> {
                Some(&mut self.$tags)
            })?

            fn parameters(generator: &mut schemars::SchemaGenerator) -> Vec<crate::query::Parameter> {
                vec![
                    $(crate::query::Parameter {
                        name: stringify!($field),
                        description: concat!($($field_doc),+).trim_start(),
                        schema: generator.subschema_for::<$type>(),
                    },)*
                    $(crate::query::Parameter {
                        name: "tag.KEY",
                        description: $tags_doc,
                        schema: generator.subschema_for::<ff_core::types::TagValue>(),
                    },)?
                ]
            }
        }
    };
}
pub(crate) use query;

/// Maximum number of results of a page.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Limit(pub usize);

impl Default for Limit {
    fn default() -> Self {
        Self(limits::PAGE_DEFAULT)
    }
}

/// Maximum time that the server waits before it answers.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct WaitMs(pub u64);

/// Parameters of a route that has none.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoQuery {}

impl Query for NoQuery {
    fn parameters(_: &mut schemars::SchemaGenerator) -> Vec<Parameter> {
        Vec::new()
    }
}

query! {
    /// Parameters of a route about something in a namespace.
    NamespaceQuery within namespace {
        /// The namespace (default: `default`).
        namespace: Namespace,
    }
}

query! {
    /// Parameters of a request that can wait.
    WaitQuery {
        /// Maximum time to wait when there is nothing to return yet.
        wait_ms: WaitMs,
    }
}
