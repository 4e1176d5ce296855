//! Free text people choose: printable, bounded, and only ever the last part of a key.

use super::checked_text::{BadText, checked_text};
use crate::limits;

checked_text! { refused_in_a_text:
    /// What makes two submissions the same submission.
    IdempotencyKey, at most limits::TEXT_BYTES;
    /// A key under which at most one execution lives, or by which submissions are debounced.
    SubmissionKey, at most limits::TEXT_BYTES;
    /// The queue of a singleton or debounce key.
    QueueName, at most limits::TEXT_BYTES + 16;
    /// The value of a label.
    TagValue, at most limits::TEXT_BYTES;
    /// The name outsiders know a waitpoint by.
    WaitpointKey, at most limits::TEXT_BYTES;
    /// The sender of a signal, as it names itself.
    SourceIdentity, at most limits::TEXT_BYTES;
    /// A text of the caller's own where a known word is expected and others are stored.
    FreeText, at most limits::TEXT_BYTES;
    /// What kind of bytes a payload holds, as a media type.
    ContentType, at most limits::NAME_BYTES;
    /// What a step is called by the code that runs it.
    StepName, at most limits::NAME_BYTES;
}

checked_text! { refused_in_a_text, from 0 bytes:
    /// Tells steps of one name apart. The empty one means that there is no other.
    StepKey, at most limits::NAME_BYTES;
    /// The value by which a fair lane queues an execution: a kind, a namespace or the value of a label. The empty one means that
    /// it has none.
    FairKey, at most limits::TEXT_BYTES;
}

checked_text! { refused_in_a_capability:
    /// Something a worker is able to do, and an execution may require of its worker: a word (`gpu`), or a key and a value
    /// (`region=eu`).
    Capability, at most limits::TEXT_BYTES;
}

checked_text! { refused_in_a_kid:
    /// The name of a secret that tokens are signed under. It stands before the colon of a token.
    Kid, at most limits::NAME_BYTES;
}

impl ContentType {
    /// JSON, as the HTTP API takes and gives it.
    pub fn json() -> Self {
        Self("application/json".into())
    }

    /// Bytes of which nothing is known.
    pub fn bytes() -> Self {
        Self("application/octet-stream".into())
    }

    /// Whether bytes of this type are JSON. The type's parameters do not matter.
    pub fn is_json(&self) -> bool {
        let essence = self.0.split(';').next().unwrap_or_default().trim();
        essence.eq_ignore_ascii_case("application/json") || essence.ends_with("+json")
    }
}

impl QueueName {
    /// The queue of a singleton key.
    pub fn singleton(key: &SubmissionKey) -> Self {
        Self(format!("singleton:{key}").into())
    }

    /// The queue of a debounce key.
    pub fn debounce(key: &SubmissionKey) -> Self {
        Self(format!("debounce:{key}").into())
    }

    pub fn is_singleton(&self) -> bool {
        self.0.starts_with("singleton:")
    }

    /// The key as it was submitted.
    pub fn key(&self) -> &str {
        self.0.split_once(':').map_or(&*self.0, |(_, key)| key)
    }
}

impl Capability {
    /// Its key and its value; the value of a mere word is empty.
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
    /// The first secret of a store.
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
