//! Verification: whether a presented key is accepted.

use super::{ApiKey, KeyInfo, SecretKey};
use crate::engine_error::{Code, Refusal};
use crate::types::TimestampMs;

/// Returns the presented key if its id is known, its secret is right and it is valid. An unknown id and a wrong secret
/// get the same answer; only a caller that knows the secret learns whether the key was revoked or has expired.
pub fn verify<'k>(known: Option<&'k ApiKey>, presented: &SecretKey, now: TimestampMs) -> Result<&'k KeyInfo, Refusal> {
    let proven = known.filter(|known| known.info.key_id == *presented.id() && known.secret_hash == presented.hash());
    let info = &proven.ok_or_else(unknown_key)?.info;
    check_validity(info, now)?;
    Ok(info)
}

/// Refuses a key that was revoked or has expired.
pub fn check_validity(info: &KeyInfo, now: TimestampMs) -> Result<(), Refusal> {
    if info.revoked_at.is_some() {
        return Err(unauthenticated("has been revoked"));
    }
    if info.has_expired(now) {
        return Err(unauthenticated("has expired"));
    }
    Ok(())
}

/// Returns the refusal of a text that is not a key, of an unknown id and of a wrong secret.
pub fn unknown_key() -> Refusal {
    unauthenticated("is not a key of this deployment")
}

/// Returns the refusal of a request that is not authenticated.
pub fn unauthenticated(why: &str) -> Refusal {
    Code::Unauthenticated.refusal().at("Authorization").because(why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api_key::contracts::{CreateKeyArgs, RevokedKey};
    use crate::api_key::{Role, create, revoke};
    use crate::rule::samples::at;
    use crate::types::{KeyId, KeyName};

    fn secret_key(id: &str, secret: u8) -> SecretKey {
        SecretKey::of(KeyId::parse(id).unwrap(), [secret; 32])
    }

    fn known(ttl_ms: Option<u64>) -> ApiKey {
        let key = secret_key("a1", 7);
        let args = CreateKeyArgs {
            key_id: key.id().clone(),
            name: KeyName::parse("ci").unwrap(),
            secret_hash: key.hash(),
            roles: [Role::Admin].into(),
            namespace: None,
            ttl_ms,
        };
        create(None, &args, at(0)).unwrap().1.unwrap()
    }

    #[test]
    fn an_api_key_authenticates_only_with_its_secret() {
        let key = known(None);
        assert_eq!(verify(Some(&key), &secret_key("a1", 7), at(1)), Ok(&key.info));
        let wrong = verify(Some(&key), &secret_key("a1", 8), at(1)).unwrap_err();
        assert_eq!(wrong.code, Code::Unauthenticated);
        for (known, presented) in [(None, secret_key("a1", 7)), (Some(&key), secret_key("a2", 7))] {
            assert_eq!(verify(known, &presented, at(1)).unwrap_err(), wrong, "what is not there is answered alike");
        }
    }

    #[test]
    fn a_key_is_heard_until_it_expires() {
        let key = known(Some(100));
        assert!(verify(Some(&key), &secret_key("a1", 7), at(99)).is_ok());
        assert!(verify(Some(&key), &secret_key("a1", 7), at(100)).unwrap_err().to_string().contains("expired"));
        let forged = verify(Some(&key), &secret_key("a1", 8), at(100)).unwrap_err();
        assert!(!forged.to_string().contains("expired"), "who has no secret learns nothing");
    }

    #[test]
    fn a_key_that_was_taken_back_is_never_heard_again() {
        let (revoked, key) = revoke(Some(&known(None)), at(5)).unwrap();
        assert_eq!(revoked, RevokedKey { revoked_at: at(5), already: false });
        let key = key.unwrap();
        assert!(verify(Some(&key), &secret_key("a1", 7), at(6)).unwrap_err().to_string().contains("revoked"));
        let (again, change) = revoke(Some(&key), at(9)).unwrap();
        assert_eq!((again, change), (RevokedKey { revoked_at: at(5), already: true }, None));
        assert_eq!(revoke(None, at(9)).unwrap_err().code, Code::NotFound);
    }
}
