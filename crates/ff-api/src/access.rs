//! The access that a call requires.

use ff_core::api_key::{KeyInfo, Role};
use ff_core::engine_error::{Code, Refusal};

/// The access a route requires, if the server requires keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// No key: the route reveals nothing, or its input contains the proof of authority.
    Open,
    /// A waitpoint's token, or a key whose role allows signals.
    Token,
    /// Any valid key.
    AnyKey,
    /// A key with one of these roles. The call is limited to the namespace of the key.
    Roles(&'static [Role]),
    /// The same, or a token for the stream of the execution in the path.
    RolesOrStreamToken(&'static [Role]),
    /// A key for all namespaces with one of these roles: the call concerns the whole deployment.
    Deployment(&'static [Role]),
}

pub const OPEN: Access = Access::Open;
pub const TOKEN: Access = Access::Token;
pub const ANY: Access = Access::AnyKey;
pub const SUBMIT: Access = Access::Roles(&[Role::Submit]);
pub const WORK: Access = Access::Roles(&[Role::Work]);
pub const OPERATE: Access = Access::Roles(&[Role::Operate]);
/// Reading, by the submitter, a worker or an operator.
pub const READ: Access = Access::Roles(&[Role::Submit, Role::Work, Role::Operate]);
/// Reading the output of an execution.
pub const READ_STREAM: Access = Access::RolesOrStreamToken(&[Role::Submit, Role::Work, Role::Operate]);
/// Changes by the submitter or an operator.
pub const SUBMIT_OR_OPERATE: Access = Access::Roles(&[Role::Submit, Role::Operate]);
/// Additions by the submitter or a worker.
pub const GROW: Access = Access::Roles(&[Role::Submit, Role::Work]);
/// Closing, by the holder or an operator.
pub const CLOSE: Access = Access::Roles(&[Role::Work, Role::Operate]);
/// Calls of operators about all namespaces.
pub const DEPLOYMENT: Access = Access::Deployment(&[Role::Operate]);
pub const ADMIN: Access = Access::Deployment(&[Role::Admin]);

impl Access {
    /// Returns whether a key that is sent is checked.
    pub fn checks_keys(self) -> bool {
        self != Self::Open
    }

    /// Returns whether a key is required.
    pub fn needs_key(self) -> bool {
        !matches!(self, Self::Open | Self::Token)
    }

    /// Returns whether a stream token is accepted in place of a key.
    pub fn takes_stream_token(self) -> bool {
        matches!(self, Self::RolesOrStreamToken(_))
    }

    /// Refuses a key without this access.
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
