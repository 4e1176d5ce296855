//! The access that a call requires.

use ff_core::api_key::{KeyInfo, Role};
use ff_core::engine_error::{Code, Refusal};

/// The access a route requires, where a server asks for keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// None: the route reveals nothing, or its input is authority enough.
    Open,
    /// A waitpoint's token, or a key that may signal.
    Token,
    /// Any valid key.
    AnyKey,
    /// A key with one of these roles; it reaches only the key's namespace.
    Roles(&'static [Role]),
    /// The same, or a token for the stream of the execution that is named.
    RolesOrStreamToken(&'static [Role]),
    /// A key of every namespace with one of these roles: it is about the whole deployment.
    Deployment(&'static [Role]),
}

pub const OPEN: Access = Access::Open;
pub const TOKEN: Access = Access::Token;
pub const ANY: Access = Access::AnyKey;
pub const SUBMIT: Access = Access::Roles(&[Role::Submit]);
pub const WORK: Access = Access::Roles(&[Role::Work]);
pub const OPERATE: Access = Access::Roles(&[Role::Operate]);
/// Reading, for every role that has to do with executions.
pub const READ: Access = Access::Roles(&[Role::Submit, Role::Work, Role::Operate]);
/// Reading the output of an execution.
pub const READ_STREAM: Access = Access::RolesOrStreamToken(&[Role::Submit, Role::Work, Role::Operate]);
/// Changes by the submitter or an operator.
pub const STEER: Access = Access::Roles(&[Role::Submit, Role::Operate]);
/// Additions by the submitter or a worker.
pub const GROW: Access = Access::Roles(&[Role::Submit, Role::Work]);
/// Closing, by the holder or an operator.
pub const CLOSE: Access = Access::Roles(&[Role::Work, Role::Operate]);
/// Calls about all namespaces.
pub const EVERYBODY: Access = Access::Deployment(&[Role::Operate]);
pub const ADMIN: Access = Access::Deployment(&[Role::Admin]);

impl Access {
    /// Whether a key is looked at, if one is shown.
    pub fn looks_at_keys(self) -> bool {
        self != Self::Open
    }

    /// Whether a key is required.
    pub fn needs_key(self) -> bool {
        !matches!(self, Self::Open | Self::Token)
    }

    /// Whether the token of a stream stands in for a key.
    pub fn takes_stream_token(self) -> bool {
        matches!(self, Self::RolesOrStreamToken(_))
    }

    /// Refuses a key that is not for this.
    pub fn check(self, key: &KeyInfo) -> Result<(), Refusal> {
        let roles = match self {
            Self::Open | Self::Token | Self::AnyKey => return Ok(()),
            Self::Roles(roles) | Self::RolesOrStreamToken(roles) | Self::Deployment(roles) => roles,
        };
        if !roles.iter().any(|role| key.may(*role)) {
            let names: Vec<_> = roles.iter().map(|role| role.as_str()).collect();
            return Err(refused(format!("the key {} lacks the role {}", key.key_id, names.join(" or "))));
        }
        match (&key.namespace, self) {
            (Some(own), Self::Deployment(_)) => {
                Err(refused(format!("the key {} is for the namespace {own}, and this is about all", key.key_id)))
            }
            _ => Ok(()),
        }
    }
}

fn refused(why: String) -> Refusal {
    Code::Unauthorized.refusal().at("Authorization").because(why)
}
