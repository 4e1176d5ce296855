//! The scope of a policy, and the key by which it counts, as users write them.

use std::fmt;
use std::str::FromStr;

use crate::execution::contracts::ExecutionInfo;
use crate::execution::{Execution, Tags};
use crate::types::{ExecutionId, FlowId, Kind, LaneId, TagKey, TagValue, as_text};

/// Which executions of its namespace a policy applies to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, schemars::JsonSchema)]
#[schemars(with = "String")]
pub enum Scope {
    /// All of them.
    Namespace,
    Lane(LaneId),
    Kind(Kind),
    Tag(TagKey, TagValue),
    Flow(FlowId),
    /// One of them.
    Execution(ExecutionId),
}

/// Key of a policy: each value has its own window and slots.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, schemars::JsonSchema)]
#[schemars(with = "String")]
pub enum Per {
    Kind,
    Namespace,
    /// Executions without this tag are not limited.
    Tag(TagKey),
}

/// The error of a text that is neither a scope nor a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadScope(String);

const SCOPES: &str = "must be namespace, lane:<lane>, kind:<kind>, tag:<name>=<value>, flow:<id> or execution:<id>";
const KEYS: &str = "must be kind, namespace or tag:<name>";

impl Scope {
    /// Returns whether the scope covers an execution of the policy's namespace.
    pub fn takes_in(&self, execution: &Execution) -> bool {
        let flow_id = execution.membership.as_ref().map(|member| member.flow_id);
        self.covers((&execution.id, flow_id), &execution.lane, &execution.kind, &execution.tags)
    }

    /// Returns the same for the execution as readers get it.
    pub fn takes_in_info(&self, info: &ExecutionInfo) -> bool {
        self.covers((&info.execution_id, info.flow_id), &info.lane_id, &info.kind, &info.tags)
    }

    fn covers(&self, (id, flow_id): (&ExecutionId, Option<FlowId>), lane: &LaneId, kind: &Kind, tags: &Tags) -> bool {
        match self {
            Self::Namespace => true,
            Self::Lane(of) => lane == of,
            Self::Kind(of) => kind == of,
            Self::Tag(name, value) => tags.get(name) == Some(value),
            Self::Execution(of) => id == of,
            Self::Flow(of) => flow_id == Some(*of),
        }
    }
}

impl Per {
    /// Returns the value under which an execution is counted; `None` when the execution is not limited.
    pub fn key_of(&self, execution: &Execution) -> Option<String> {
        match self {
            Self::Kind => Some(execution.kind.to_string()),
            Self::Namespace => Some(execution.namespace.to_string()),
            Self::Tag(name) => execution.tags.get(name).map(ToString::to_string),
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Namespace => f.write_str("namespace"),
            Self::Lane(lane) => write!(f, "lane:{lane}"),
            Self::Kind(kind) => write!(f, "kind:{kind}"),
            Self::Tag(name, value) => write!(f, "tag:{name}={value}"),
            Self::Execution(id) => write!(f, "execution:{id}"),
            Self::Flow(id) => write!(f, "flow:{id}"),
        }
    }
}

impl fmt::Display for Per {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kind => f.write_str("kind"),
            Self::Namespace => f.write_str("namespace"),
            Self::Tag(name) => write!(f, "tag:{name}"),
        }
    }
}

impl FromStr for Scope {
    type Err = BadScope;

    fn from_str(text: &str) -> Result<Self, BadScope> {
        let bad = |error: &dyn fmt::Display| BadScope(format!("{SCOPES}; {text:?}: {error}"));
        let unknown = || BadScope(format!("{SCOPES}, not {text:?}"));
        let Some((word, rest)) = text.split_once(':') else {
            return if text == "namespace" { Ok(Self::Namespace) } else { Err(unknown()) };
        };
        match word {
            "lane" => Ok(Self::Lane(LaneId::parse(rest).map_err(|error| bad(&error))?)),
            "kind" => Ok(Self::Kind(Kind::parse(rest).map_err(|error| bad(&error))?)),
            "execution" => Ok(Self::Execution(rest.parse().map_err(|error| bad(&error))?)),
            "flow" => Ok(Self::Flow(rest.parse().map_err(|error| bad(&error))?)),
            "tag" => {
                let (name, value) = rest.split_once('=').ok_or_else(unknown)?;
                let name = TagKey::parse(name).map_err(|error| bad(&error))?;
                Ok(Self::Tag(name, TagValue::parse(value).map_err(|error| bad(&error))?))
            }
            _ => Err(unknown()),
        }
    }
}

impl FromStr for Per {
    type Err = BadScope;

    fn from_str(text: &str) -> Result<Self, BadScope> {
        match (text, text.strip_prefix("tag:")) {
            ("kind", _) => Ok(Self::Kind),
            ("namespace", _) => Ok(Self::Namespace),
            (_, Some(name)) => {
                TagKey::parse(name).map(Self::Tag).map_err(|error| BadScope(format!("{KEYS}; {text:?}: {error}")))
            }
            _ => Err(BadScope(format!("{KEYS}, not {text:?}"))),
        }
    }
}

as_text!(Scope, Per);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::samples::waiting;

    #[test]
    fn a_scope_reads_back_as_it_is_written() {
        let flow = format!("flow:{}", FlowId::new());
        for text in ["namespace", "lane:mail", "kind:resize", "tag:customer=a b=c", flow.as_str()] {
            assert_eq!(text.parse::<Scope>().unwrap().to_string(), text);
        }
        for text in ["kind", "namespace", "tag:customer"] {
            assert_eq!(text.parse::<Per>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn an_invalid_scope_is_refused_with_the_allowed_forms() {
        for text in ["", "lane", "lane:", "lane:a b", "tag:customer", "queue:a", "flow:7"] {
            let error = text.parse::<Scope>().unwrap_err().to_string();
            assert!(error.starts_with(SCOPES), "{text}: {error}");
        }
        for text in ["", "tag", "tag:", "lane", "tag:a b"] {
            let error = text.parse::<Per>().unwrap_err().to_string();
            assert!(error.starts_with(KEYS), "{text}: {error}");
        }
    }

    #[test]
    fn an_execution_without_the_tag_has_no_key() {
        let mut execution = waiting();
        let per: Per = "tag:customer".parse().unwrap();
        assert_eq!(per.key_of(&execution), None);
        execution.tags.insert("customer".parse().unwrap(), "acme".parse().unwrap());
        assert_eq!(per.key_of(&execution).as_deref(), Some("acme"));
        assert!("tag:customer=acme".parse::<Scope>().unwrap().takes_in(&execution));
        assert!(!"tag:customer=other".parse::<Scope>().unwrap().takes_in(&execution));
        assert!("kind:resize".parse::<Scope>().unwrap().takes_in(&execution));
        assert!(!"lane:mail".parse::<Scope>().unwrap().takes_in(&execution));
    }
}
