//! Query parameters: each is read by name, and an unknown one is refused.

use std::collections::BTreeMap;
use std::str::FromStr;

use axum::extract::{FromRequestParts, Query};
use axum::http::Uri;
use axum::http::request::Parts;
use axum::http::uri::InvalidUri;
use ff_core::engine_error::{Code, Refusal};
use ff_core::execution::Tags;
use ff_core::json;
use ff_core::types::{Namespace, TagKey};
use serde::de::DeserializeOwned;

use crate::problem::Problem;
use crate::tenant;

/// Prefix of parameters that name a tag.
const TAG: &str = "tag.";

/// The parameters of a request that no code has read yet.
pub(crate) struct Params {
    unread: BTreeMap<String, String>,
    /// The namespace that the caller is confined to, if any.
    tenant: Option<Namespace>,
}

impl Params {
    /// Parses the fields of a form, which browsers encode like query parameters.
    pub(crate) fn of_form(text: &str) -> Result<Self, Refusal> {
        let unreadable = |error: InvalidUri| Refusal::invalid("form", format!("cannot be read: {error}"));
        Self::of(&format!("/?{text}").parse().map_err(unreadable)?)
    }

    pub(crate) fn of(uri: &Uri) -> Result<Self, Refusal> {
        let unreadable = |error| Refusal::invalid("query", format!("cannot be read: {error}"));
        let Query(pairs) = Query::<Vec<(String, String)>>::try_from_uri(uri).map_err(unreadable)?;
        let mut params = BTreeMap::new();
        for (name, value) in pairs {
            if params.contains_key(&name) {
                return Err(Refusal::invalid(name, "must be given once, is given twice"));
            }
            params.insert(name, value);
        }
        Ok(Self { unread: params, tenant: None })
    }

    /// Reads a name, a state or another word, with the same rules as in a body.
    pub(crate) fn word<T: DeserializeOwned>(&mut self, name: &str) -> Result<Option<T>, Refusal> {
        self.unread.remove(name).map(|text| word(name, &text)).transpose()
    }

    pub(crate) fn number<T: FromStr>(&mut self, name: &str) -> Result<Option<T>, Refusal> {
        let read = |text: String| text.parse().map_err(|_| Refusal::invalid(name, "must be a whole number"));
        self.unread.remove(name).map(read).transpose()
    }

    pub(crate) fn flag(&mut self, name: &str) -> Result<Option<bool>, Refusal> {
        let read = |text: String| text.parse().map_err(|_| Refusal::invalid(name, "must be true or false"));
        self.unread.remove(name).map(read).transpose()
    }

    /// Reads a value whose parser returns its own refusals.
    pub(crate) fn parsed<T: FromStr<Err = Refusal>>(&mut self, name: &str) -> Result<Option<T>, Refusal> {
        self.unread.remove(name).map(|text| text.parse()).transpose()
    }

    /// Reads the tags, each in a parameter of its own: `tag.KEY=VALUE`.
    pub(crate) fn tags(&mut self) -> Result<Tags, Refusal> {
        let mut tags = Tags::new();
        for name in self.names(TAG) {
            let key = TagKey::parse(&name[TAG.len()..]);
            let key = key.map_err(|error| Code::InvalidTagKey.refusal().at(&name).because(error.to_string()))?;
            if let Some(value) = self.word(&name)? {
                tags.insert(key, value);
            }
        }
        Ok(tags)
    }

    /// Returns the names of unread parameters with this prefix.
    pub(crate) fn names(&self, prefix: &str) -> Vec<String> {
        self.unread.keys().filter(|name| name.starts_with(prefix)).cloned().collect()
    }

    /// Reads the namespace; a caller that is confined to one gets its own.
    pub(crate) fn namespace(&mut self) -> Result<Option<Namespace>, Refusal> {
        let mut named = self.word("namespace")?;
        tenant::settle(self.tenant.as_ref(), &mut named)?;
        Ok(named)
    }

    pub(crate) fn text(&mut self, name: &str) -> Option<String> {
        self.unread.remove(name)
    }

    /// Refuses parameters that no code has read.
    pub(crate) fn done(self) -> Result<(), Refusal> {
        match self.unread.into_keys().next() {
            Some(name) => Err(Refusal::new(Code::UnknownField).because("is not a parameter here").at(name)),
            None => Ok(()),
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Params {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Ok(Self { tenant: tenant::of(parts), ..Self::of(&parts.uri)? })
    }
}

/// Parses a word outside a body, with the same errors as in a body.
pub(crate) fn word<T: DeserializeOwned>(name: &str, text: &str) -> Result<T, Refusal> {
    let quoted = serde_json::Value::from(text).to_string();
    json::read(quoted.as_bytes()).map_err(|refusal| refusal.at(name))
}
