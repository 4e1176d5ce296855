//! A waitpoint with its token and its links, for the sender of a signal.

use std::fmt;
use std::str::FromStr;

use ff_core::contracts::GrantedWaitpoint;
use ff_core::engine_error::Refusal;
use ff_core::token::WaitpointToken;
use ff_core::types::{ExecutionId, WaitpointId, WaitpointKey};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::query::query;

/// A waitpoint and its token. A sender needs nothing else to signal it, and the token allows nothing else.
///
/// JSON and links contain the token; `Debug` does not show it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waitpoint {
    pub execution_id: ExecutionId,
    pub waitpoint_id: WaitpointId,
    pub waitpoint_key: WaitpointKey,
    pub waitpoint_token: WaitpointToken,
}

impl Waitpoint {
    /// Makes the value from a waitpoint that was granted to the holder of an execution.
    pub fn new(execution_id: ExecutionId, granted: GrantedWaitpoint) -> Self {
        let GrantedWaitpoint { waitpoint_id, waitpoint_key, waitpoint_token } = granted;
        Self { execution_id, waitpoint_id, waitpoint_key, waitpoint_token }
    }

    /// Returns the link to the approval page of the server at `base`, where a person approves or rejects in a browser.
    ///
    /// Everyone who has the link can answer, so send it only to the approver.
    pub fn approval_url(&self, base: &str) -> Result<String, Refusal> {
        let mut url = self.at(base, &["approvals", &self.execution_id.to_string(), &self.waitpoint_id.to_string()])?;
        url.query_pairs_mut().append_pair("token", &self.waitpoint_token.expose());
        Ok(url.into())
    }

    /// Returns the URL to which a program posts signals with this waitpoint's id and token, on the server at `base`.
    pub fn signal_url(&self, base: &str) -> Result<String, Refusal> {
        Ok(self.at(base, &["v1", "executions", &self.execution_id.to_string(), "signals"])?.into())
    }

    fn at(&self, base: &str, path: &[&str]) -> Result<Url, Refusal> {
        let mut url = Url::parse(base).map_err(|error| Refusal::invalid("base", format!("is no address: {error}")))?;
        // The query of a client's address may name the certificates that the client trusts. It does not belong in a link.
        url.set_query(None);
        url.set_fragment(None);
        let Ok(mut segments) = url.path_segments_mut() else {
            return Err(Refusal::invalid("base", "must be the address of a server, as in http://127.0.0.1:7070"));
        };
        segments.pop_if_empty().extend(path);
        drop(segments);
        Ok(url)
    }
}

/// The public address of a server, with which links begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicUrl(Url);

impl PublicUrl {
    /// Returns the host without the port, in the form that browsers send.
    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl FromStr for PublicUrl {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let expected = "must be an address such as https://flowfabric.example.org, without user, ? and #";
        let url = Url::parse(text).map_err(|_| expected)?;
        let plain =
            url.query().is_none() && url.fragment().is_none() && url.username().is_empty() && url.password().is_none();
        if matches!(url.scheme(), "http" | "https") && plain { Ok(Self(url)) } else { Err(expected) }
    }
}

impl fmt::Debug for Waitpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "waitpoint {:?} ({}) of {}", self.waitpoint_key, self.waitpoint_id, self.execution_id)
    }
}

query! {
    /// Parameters of an approval page.
    ApprovalQuery {
        /// The token of the waitpoint.
        token: String,
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn waitpoint() -> Waitpoint {
        Waitpoint {
            execution_id: ExecutionId::new(7, Uuid::nil()),
            waitpoint_id: WaitpointId::from_uuid(Uuid::nil()),
            waitpoint_key: WaitpointKey::parse("deploy 1.4?").unwrap(),
            waitpoint_token: WaitpointToken::parse(&format!("k1:{}", "c0".repeat(32))).unwrap(),
        }
    }

    #[test]
    fn a_link_leads_to_the_page_of_this_waitpoint() {
        let nil = Uuid::nil();
        let token = "c0".repeat(32);
        let link = waitpoint().approval_url("http://127.0.0.1:7070").unwrap();
        assert_eq!(link, format!("http://127.0.0.1:7070/approvals/%7Bfp:7%7D:{nil}/{nil}?token=k1%3A{token}"));
        let behind = waitpoint().signal_url("https://gateway/flowfabric/").unwrap();
        assert_eq!(behind, format!("https://gateway/flowfabric/v1/executions/%7Bfp:7%7D:{nil}/signals"));
        let trusting = waitpoint().approval_url("https://gateway?ca=/etc/ca.pem#x").unwrap();
        assert_eq!(trusting, format!("https://gateway/approvals/%7Bfp:7%7D:{nil}/{nil}?token=k1%3A{token}"));
        for base in ["", "127.0.0.1", "mailto:ada"] {
            assert!(waitpoint().approval_url(base).unwrap_err().to_string().contains("base"), "{base:?}");
        }
    }

    #[test]
    fn a_public_address_is_one_that_a_link_can_begin_with() {
        let url: PublicUrl = "https://ff.example.org/flows".parse().unwrap();
        assert_eq!((url.host(), url.as_str()), ("ff.example.org", "https://ff.example.org/flows"));
        for text in ["", "ff.example.org", "ftp://ff.example.org", "https://a@b", "https://a?ca=x", "https://a#x"] {
            assert!(text.parse::<PublicUrl>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn it_is_written_whole_and_shown_without_its_token() {
        let text = serde_json::to_string(&waitpoint()).unwrap();
        assert_eq!(serde_json::from_str::<Waitpoint>(&text).unwrap(), waitpoint());
        assert!(!format!("{:?}", waitpoint()).contains("c0c0"));
    }
}
