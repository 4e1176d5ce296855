//! Names of API keys: an id within the key itself, and a name for users.

use super::checked_text::{BadText, checked_text};
use crate::limits;

checked_text! { refused_in_a_key_id:
    /// The id of an API key. It stands between the underscores of the key, so it contains none, and it has only one spelling.
    KeyId, at most limits::KEY_ID_BYTES;
}

checked_text! { refused_in_a_key_name:
    /// The name an administrator gives a key.
    KeyName, at most limits::NAME_BYTES;
}

impl KeyId {
    /// Creates an id from random digits.
    pub(crate) fn from_random(hex: &str) -> Self {
        Self(hex.into())
    }
}

fn refused_in_a_key_id(character: char) -> Option<BadText> {
    let allowed = character.is_ascii_lowercase() || character.is_ascii_digit();
    (!allowed).then_some(BadText::NotInAKeyId(character))
}

fn refused_in_a_key_name(character: char) -> Option<BadText> {
    character.is_control().then_some(BadText::Control(character))
}
