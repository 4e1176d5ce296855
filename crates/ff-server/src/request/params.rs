//! Query parameters and form fields. An unknown one is refused, as is one that is given twice.

use std::collections::BTreeMap;
use std::str::FromStr;

use axum::extract::{FromRequestParts, MatchedPath};
use axum::http::Uri;
use axum::http::request::Parts;
use axum::http::uri::InvalidUri;
use ff_api::{Query, TAG_PREFIX};
use ff_core::engine_error::{Code, Refusal};
use ff_core::execution::Tags;
use ff_core::json;
use ff_core::types::TagKey;
use serde::de::value::MapDeserializer;
use serde::de::{DeserializeOwned, Deserializer, Error as _, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use crate::access::tenant;
use crate::response::problem::Problem;
use crate::routing::route_table;

/// The query parameters of a request.
///
/// The namespace of a caller that is confined to one is checked and filled in.
pub(crate) struct Params<T>(pub(crate) T);

impl<T: Query, S: Send + Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let mut fields = Fields::of(&parts.uri)?;
        if parts.extensions.get::<MatchedPath>().is_some_and(|path| path.as_str() == route_table::STREAM) {
            // The guard has read the token.
            fields.take(route_table::STREAM_TOKEN_PARAMETER);
        }
        let mut query: T = fields.into_query()?;
        if let Some(namespace) = query.namespace() {
            tenant::settle(tenant::of(parts).as_ref(), namespace)?;
        }
        Ok(Self(query))
    }
}

/// The parameters of a query, or the fields of a form, that no code has read yet.
pub(crate) struct Fields(BTreeMap<String, String>);

impl Fields {
    pub(crate) fn of(uri: &Uri) -> Result<Self, Refusal> {
        let unreadable = |error| Refusal::invalid("query", format!("cannot be read: {error}"));
        let axum::extract::Query(pairs) =
            axum::extract::Query::<Vec<(String, String)>>::try_from_uri(uri).map_err(unreadable)?;
        let mut fields = BTreeMap::new();
        for (name, value) in pairs {
            if fields.contains_key(&name) {
                return Err(Refusal::invalid(name, "must be given once, is given twice"));
            }
            fields.insert(name, value);
        }
        Ok(Self(fields))
    }

    /// Parses the fields of a form, which browsers encode like query parameters.
    pub(crate) fn of_form(text: &str) -> Result<Self, Refusal> {
        let unreadable = |error: InvalidUri| Refusal::invalid("form", format!("cannot be read: {error}"));
        Self::of(&format!("/?{text}").parse().map_err(unreadable)?)
    }

    /// Returns the names of unread fields with this prefix.
    pub(crate) fn names(&self, prefix: &str) -> Vec<String> {
        self.0.keys().filter(|name| name.starts_with(prefix)).cloned().collect()
    }

    pub(crate) fn take(&mut self, name: &str) -> Option<String> {
        self.0.remove(name)
    }

    /// Refuses fields that no code has read.
    pub(crate) fn done(self) -> Result<(), Refusal> {
        match self.0.into_keys().next() {
            Some(name) => Err(Refusal::new(Code::UnknownField).because("is not a parameter here").at(name)),
            None => Ok(()),
        }
    }

    fn into_query<T: Query>(mut self) -> Result<T, Refusal> {
        let has_tags = T::default().tags().is_some();
        let tags = if has_tags { self.take_tags()? } else { Tags::new() };
        let fields = self.0.into_iter().map(|(name, text)| (name, Text(text)));
        let mut query: T = json::read_from(MapDeserializer::new(fields))
            .map_err(|refusal| if has_tags { naming_tags(refusal) } else { refusal })?;
        if let Some(place) = query.tags() {
            *place = tags;
        }
        Ok(query)
    }

    /// Reads the tags, each in a parameter of its own: `tag.KEY=VALUE`.
    fn take_tags(&mut self) -> Result<Tags, Refusal> {
        let mut tags = Tags::new();
        for name in self.names(TAG_PREFIX) {
            let key = TagKey::parse(&name[TAG_PREFIX.len()..]);
            let key = key.map_err(|error| Code::InvalidTagKey.refusal().at(&name).because(error.to_string()))?;
            if let Some(text) = self.take(&name) {
                tags.insert(key, word(&name, &text)?);
            }
        }
        Ok(tags)
    }
}

/// Adds the parameters of tags, which are no fields of a query, to the list of the known ones.
fn naming_tags(refusal: Refusal) -> Refusal {
    match &refusal.detail {
        Some(detail) if refusal.code == Code::UnknownField => {
            let detail = format!("{detail}, `{TAG_PREFIX}KEY`");
            refusal.because(detail)
        }
        _ => refusal,
    }
}

/// Parses the cursor of a page.
pub(crate) fn cursor<T: FromStr<Err = Refusal>>(name: &str, text: Option<String>) -> Result<Option<T>, Refusal> {
    text.map(|text| text.parse()).transpose().map_err(|refusal: Refusal| refusal.at(name))
}

/// Parses a word outside a body, with the same errors as in a body.
pub(crate) fn word<T: DeserializeOwned>(name: &str, text: &str) -> Result<T, Refusal> {
    let quoted = serde_json::Value::from(text).to_string();
    json::read(quoted.as_bytes()).map_err(|refusal| refusal.at(name))
}

/// The text of a parameter, deserialized as a number, a flag or a string, depending on the type of the field.
struct Text(String);

impl IntoDeserializer<'_, serde_json::Error> for Text {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// Implements the methods for numbers.
macro_rules! numbers {
    ($($deserialize:ident $visit:ident,)*) => {$(
        fn $deserialize<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
            visitor.$visit(self.0.parse().map_err(|_| expected("a whole number"))?)
        }
    )*};
}

impl<'de> Deserializer<'de> for Text {
    type Error = serde_json::Error;

    numbers! {
        deserialize_u16 visit_u16,
        deserialize_u32 visit_u32,
        deserialize_u64 visit_u64,
        deserialize_i64 visit_i64,
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_bool(self.0.parse().map_err(|_| expected("true or false"))?)
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_string(self.0)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        let text: serde::de::value::StringDeserializer<Self::Error> = self.0.into_deserializer();
        text.deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i128 u8 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct
        identifier ignored_any
    }
}

fn expected(what: &str) -> serde_json::Error {
    serde_json::Error::custom(format!("must be {what}"))
}
