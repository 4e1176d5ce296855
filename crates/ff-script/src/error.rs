//! Errors of function calls: one variant per code of the error table, and failures without a code.

use std::fmt;

use ff_core::engine_error::{Code, EngineError, Refusal};

macro_rules! error_table {
    ($($variant:ident $code:literal $class:ident $status:literal $sentence:literal;)*) => {
        /// The reason why a function call failed.
        #[derive(Clone, Debug, PartialEq)]
        pub enum ScriptError {
            /// The reply is not in the format of this library.
            Parse(String),
            /// The server was not reachable or did not answer.
            Server(EngineError),
            $(#[doc = $sentence] $variant(Box<Refusal>),)*
        }

        impl From<Refusal> for ScriptError {
            fn from(refusal: Refusal) -> Self {
                match refusal.code {
                    $(Code::$variant => Self::$variant(Box::new(refusal)),)*
                }
            }
        }

        impl ScriptError {
            /// Returns the refusal, if the error is one.
            pub fn refusal(&self) -> Option<&Refusal> {
                match self {
                    Self::Parse(_) | Self::Server(_) => None,
                    $(Self::$variant(refusal))|* => Some(refusal),
                }
            }
        }

        impl From<ScriptError> for EngineError {
            fn from(error: ScriptError) -> Self {
                match error {
                    ScriptError::Parse(why) => Self::Corrupt(why),
                    ScriptError::Server(error) => error,
                    $(ScriptError::$variant(refusal))|* => Self::Refused(*refusal),
                }
            }
        }
    };
}

include!("../../ff-core/src/engine_error/table.rs");

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, self.refusal()) {
            (_, Some(refusal)) => refusal.fmt(f),
            (Self::Server(error), _) => error.fmt(f),
            (Self::Parse(why), _) => write!(f, "the reply cannot be read: {why}"),
            _ => f.write_str("the call was refused"),
        }
    }
}

impl std::error::Error for ScriptError {}

impl From<EngineError> for ScriptError {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Refused(refusal) => refusal.into(),
            error => Self::Server(error),
        }
    }
}

impl ScriptError {
    pub(crate) fn parse(why: impl Into<String>) -> Self {
        Self::Parse(why.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_an_error_of_its_own_and_stays_the_same_refusal() {
        for code in Code::ALL {
            let error = ScriptError::from(code.refusal().at("field"));
            assert_eq!(error.refusal(), Some(&code.refusal().at("field")), "{code}");
            assert_eq!(EngineError::from(error).code(), *code);
        }
    }
}
