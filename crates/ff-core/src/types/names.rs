//! Names that users choose. They become parts of keys, so they contain no `:` and no brace: otherwise the key of one
//! namespace could equal that of another, or move to another slot.

use super::checked_text::{BadText, checked_text};
use crate::limits;

checked_text! { refused_in_a_name:
    /// The namespace of a tenant.
    Namespace, at most limits::NAME_BYTES;
    /// A named queue within a namespace.
    LaneId, at most limits::LANE_BYTES;
    /// The kind of an execution, by which a worker finds its handler.
    Kind, at most limits::NAME_BYTES;
    /// The name of a signal; a condition may wait for it by name.
    SignalName, at most limits::NAME_BYTES;
    /// The name of a member within its flow.
    NodeName, at most limits::NAME_BYTES;
    /// The name under which a worker finds the result of an upstream.
    InputName, at most limits::NAME_BYTES;
    /// The type of a frame's bytes.
    FrameType, at most limits::NAME_BYTES;
    /// One of the output channels of an attempt.
    Channel, at most limits::NAME_BYTES;
    /// The name of a quota policy within its namespace.
    QuotaName, at most limits::NAME_BYTES;
    /// The name of a schedule within its namespace.
    ScheduleName, at most limits::NAME_BYTES;
    /// The name of a budget within its namespace.
    BudgetName, at most limits::NAME_BYTES;
    /// A resource that is spent: tokens, usd_micros, calls, seconds, or any other name.
    Dimension, at most limits::NAME_BYTES;
    /// The key of a tag.
    TagKey, at most limits::NAME_BYTES;
    /// A worker program, regardless of the number of its instances.
    WorkerId, at most limits::NAME_BYTES;
    /// A running instance of a worker.
    WorkerInstanceId, at most limits::NAME_BYTES;
}

impl Namespace {
    /// Returns the namespace of work that names none.
    pub fn default_name() -> Self {
        Self("default".into())
    }

    /// Returns whether this is the namespace of work that names none.
    pub fn is_default(&self) -> bool {
        self.as_str() == "default"
    }
}

impl LaneId {
    /// Creates a lane from a name in the program. Names from elsewhere are parsed with [`Self::parse`].
    ///
    /// # Panics
    ///
    /// When the text is not the name of a lane.
    pub fn new(name: impl Into<String>) -> Self {
        let name = name.into();
        Self::parse(&name).unwrap_or_else(|error| panic!("the name of a lane {error}: {name:?}"))
    }

    /// Returns the lane of work that names none.
    pub fn default_name() -> Self {
        Self("default".into())
    }

    /// Returns whether this is the lane of work that names none.
    pub fn is_default(&self) -> bool {
        self.as_str() == "default"
    }

    /// Returns the lane's name in keys. Lanes of the same name in two namespaces are different lanes, so every
    /// namespace except the default one precedes the name.
    pub fn within(&self, namespace: &Namespace) -> LaneId {
        if namespace.is_default() { self.clone() } else { Self(format!("{namespace}/{self}").into()) }
    }

    /// Parses the key of a lane: its name, or its namespace, a slash and its name.
    pub fn parse_key(text: &str) -> Result<LaneId, BadText> {
        match text.split_once('/') {
            Some((namespace, lane)) => Ok(Self::parse(lane)?.within(&Namespace::parse(namespace)?)),
            None => Self::parse(text),
        }
    }

    /// Returns the namespace and the name of which a lane's key consists.
    pub fn apart(&self) -> (Namespace, LaneId) {
        match self.as_str().split_once('/') {
            Some((namespace, lane)) => (Namespace(namespace.into()), Self(lane.into())),
            None => (Namespace::default_name(), self.clone()),
        }
    }
}

impl FrameType {
    /// UTF-8.
    pub const TEXT: &str = "text";
    pub const JSON: &str = "json";
    /// Bytes of an unknown type.
    pub const BYTES: &str = "bytes";
    /// A JSON merge patch (RFC 7396) of a stream's summary.
    pub const PATCH: &str = "patch";

    pub fn text() -> Self {
        Self(Self::TEXT.into())
    }

    pub fn json() -> Self {
        Self(Self::JSON.into())
    }

    pub fn bytes() -> Self {
        Self(Self::BYTES.into())
    }

    pub fn patch() -> Self {
        Self(Self::PATCH.into())
    }
}

impl Channel {
    /// Returns the channel of frames that name none.
    pub fn default_name() -> Self {
        Self("out".into())
    }

    pub fn is_default(&self) -> bool {
        self.as_str() == "out"
    }
}

impl Kind {
    /// Creates a name that the engine itself uses.
    pub(crate) fn known(name: &'static str) -> Self {
        Self(name.into())
    }
}

impl SignalName {
    /// Creates a name that the engine itself uses.
    pub(crate) fn known(name: &'static str) -> Self {
        Self(name.into())
    }
}

fn refused_in_a_name(character: char) -> Option<BadText> {
    let allowed = character.is_ascii_alphanumeric() || matches!(character, '.' | '_' | '-');
    (!allowed).then_some(BadText::BadCharacter(character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_taken_at_its_limit_and_refused_one_past_it() {
        assert!(Kind::parse(&"k".repeat(128)).is_ok());
        assert_eq!(Kind::parse(&"k".repeat(129)), Err(BadText::TooLong { limit: 128, sent: 129 }));
        assert!(LaneId::parse(&"l".repeat(64)).is_ok());
        assert_eq!(LaneId::parse(&"l".repeat(65)), Err(BadText::TooLong { limit: 64, sent: 65 }));
    }

    #[test]
    fn characters_that_could_move_a_key_are_refused() {
        for bad in ["a:b", "{a}", "a b", "a/b", "é", "a\n"] {
            assert!(matches!(Namespace::parse(bad), Err(BadText::BadCharacter(_))), "{bad:?}");
        }
        assert_eq!(Namespace::parse(""), Err(BadText::Empty));
        assert!(Namespace::parse("Team-1.prod_eu").is_ok());
    }

    #[test]
    fn a_lane_of_another_tenant_is_another_lane() {
        let lane = LaneId::parse("mail").unwrap();
        assert_eq!(lane.within(&Namespace::default_name()).as_str(), "mail");
        let acme = Namespace::parse("acme").unwrap();
        assert_eq!(lane.within(&acme).as_str(), "acme/mail");
        for namespace in [acme, Namespace::default_name()] {
            assert_eq!(LaneId::parse_key(lane.within(&namespace).as_str()), Ok(lane.within(&namespace)));
            assert_eq!(lane.within(&namespace).apart(), (namespace, lane.clone()));
        }
    }
}
