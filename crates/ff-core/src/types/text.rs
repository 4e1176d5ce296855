//! Free text that users choose: printable, bounded, and only used as the last part of a key.

use super::checked_text::{BadText, checked_text};
use crate::limits;

checked_text! { refused_in_a_text:
    /// The key under which repeated submissions are one submission.
    IdempotencyKey, at most limits::TEXT_BYTES;
    /// A key under which at most one execution runs, or under which submissions are debounced.
    SubmissionKey, at most limits::TEXT_BYTES;
    /// The queue of a singleton or debounce key.
    QueueName, at most limits::TEXT_BYTES + 16;
    /// The value of a tag.
    TagValue, at most limits::TEXT_BYTES;
    /// The key by which callers from outside know a waitpoint.
    WaitpointKey, at most limits::TEXT_BYTES;
    /// The sender of a signal, as it names itself.
    SourceIdentity, at most limits::TEXT_BYTES;
    /// Free text in place of a known name.
    FreeText, at most limits::TEXT_BYTES;
    /// The type of a payload's bytes, as a media type.
    ContentType, at most limits::NAME_BYTES;
    /// The name of a step in the code that runs it.
    StepName, at most limits::NAME_BYTES;
}

checked_text! { refused_in_a_text, from 0 bytes:
    /// The key that distinguishes steps of one name. Empty when there is only one.
    StepKey, at most limits::NAME_BYTES;
    /// The value by which a fair lane queues an execution: a kind, a namespace or the value of a tag. Empty when the
    /// execution has no such value.
    FairKey, at most limits::TEXT_BYTES;
}

checked_text! { refused_in_a_capability:
    /// A capability of a worker, which an execution may require: a word (`gpu`), or a key and a value (`region=eu`).
    Capability, at most limits::TEXT_BYTES;
}

checked_text! { refused_in_a_kid:
    /// The name of a secret under which tokens are signed. It precedes the colon of a token.
    Kid, at most limits::NAME_BYTES;
}

impl ContentType {
    /// Returns the type of JSON.
    pub fn json() -> Self {
        Self("application/json".into())
    }

    /// Returns the type of bytes whose type is unknown.
    pub fn bytes() -> Self {
        Self("application/octet-stream".into())
    }

    /// Returns whether bytes of this type are JSON. The type's parameters do not matter.
    pub fn is_json(&self) -> bool {
        let essence = self.0.split(';').next().unwrap_or_default().trim();
        essence.eq_ignore_ascii_case("application/json") || essence.ends_with("+json")
    }
}

impl QueueName {
    /// Returns the queue of a singleton key.
    pub fn singleton(key: &SubmissionKey) -> Self {
        Self(format!("singleton:{key}").into())
    }

    /// Returns the queue of a debounce key.
    pub fn debounce(key: &SubmissionKey) -> Self {
        Self(format!("debounce:{key}").into())
    }

    pub fn is_singleton(&self) -> bool {
        self.0.starts_with("singleton:")
    }

    /// Returns the key as it was submitted.
    pub fn key(&self) -> &str {
        self.0.split_once(':').map_or(&*self.0, |(_, key)| key)
    }
}

impl Capability {
    /// Returns the key and the value; the value of a single word is empty.
    pub fn parts(&self) -> (&str, &str) {
        self.0.split_once('=').unwrap_or((&self.0, ""))
    }
}

macro_rules! maybe_empty {
    ($($name:ident)*) => {$(
        impl $name {
            pub fn is_empty(&self) -> bool {
                self.0.is_empty()
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self("".into())
            }
        }
    )*};
}
maybe_empty! { StepKey FairKey }

impl Kid {
    /// Returns the name of a store's first secret.
    pub fn first() -> Self {
        Self("k1".into())
    }
}

fn refused_in_a_text(character: char) -> Option<BadText> {
    character.is_control().then_some(BadText::Control(character))
}

fn refused_in_a_capability(character: char) -> Option<BadText> {
    match character {
        ',' => Some(BadText::Comma),
        character if character.is_whitespace() && !character.is_control() => Some(BadText::Space),
        character => refused_in_a_text(character),
    }
}

fn refused_in_a_kid(character: char) -> Option<BadText> {
    if character == ':' { Some(BadText::Colon) } else { refused_in_a_text(character) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_taken_at_its_limit_and_refused_one_past_it() {
        assert!(TagValue::parse(&"v".repeat(256)).is_ok());
        assert_eq!(TagValue::parse(&"v".repeat(257)), Err(BadText::TooLong { limit: 256, sent: 257 }));
        assert_eq!(TagValue::parse(""), Err(BadText::Empty));
    }

    #[test]
    fn a_step_has_a_name_and_need_not_have_a_key() {
        assert_eq!(StepName::parse(""), Err(BadText::Empty));
        assert_eq!(StepKey::parse(""), Ok(StepKey::default()));
        assert!(StepKey::default().is_empty() && !StepKey::parse("0").unwrap().is_empty());
        assert!(StepName::parse(&"n".repeat(128)).is_ok() && StepKey::parse(&"k".repeat(128)).is_ok());
        assert_eq!(StepName::parse(&"n".repeat(129)), Err(BadText::TooLong { limit: 128, sent: 129 }));
        assert_eq!(StepKey::parse(&"k".repeat(129)), Err(BadText::TooLong { limit: 128, sent: 129 }));
        assert!(StepName::parse("charge the card").is_ok());
        assert_eq!(StepKey::parse("a\tb"), Err(BadText::Control('\t')));
    }

    #[test]
    fn a_capability_is_one_word() {
        assert!(Capability::parse("region=eu-west:1").is_ok());
        for (text, why) in [
            ("a,b", BadText::Comma),
            ("a b", BadText::Space),
            ("a\u{a0}b", BadText::Space),
            ("a\tb", BadText::Control('\t')),
            ("", BadText::Empty),
        ] {
            assert_eq!(Capability::parse(text), Err(why), "{text:?}");
        }
    }

    #[test]
    fn control_characters_are_refused_and_other_scripts_are_not() {
        assert_eq!(IdempotencyKey::parse("a\0b"), Err(BadText::Control('\0')));
        assert_eq!(IdempotencyKey::parse("a\nb"), Err(BadText::Control('\n')));
        assert!(IdempotencyKey::parse("bestellung:{42} für Zoë").is_ok());
    }
}
