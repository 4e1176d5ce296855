//! Parameters that several routes share.

use ff_core::limits;
use serde_json::json;

use super::builder::Route;

impl Route<'_> {
    /// Adds the maximum number of results of a page.
    pub(super) fn limit(self) -> Self {
        let schema =
            json!({ "type": "integer", "minimum": 1, "maximum": limits::PAGE, "default": limits::PAGE_DEFAULT });
        self.query_of("limit", schema, "Maximum number of results.")
    }

    /// Adds the maximum time to wait.
    pub(super) fn wait(self) -> Self {
        let schema = json!({ "type": "integer", "minimum": 0, "maximum": limits::LONG_POLL_MS, "default": 0 });
        self.query_of("wait_ms", schema, "Maximum time to wait when there is nothing to return yet.")
    }

    /// Adds the cursor from the previous page.
    pub(super) fn cursor(self, name: &str) -> Self {
        self.query_of(name, json!({ "type": "string" }), "Cursor from the previous page.")
    }

    /// Adds a number that counts from zero.
    pub(super) fn count(self, name: &str, default: u64, says: &str) -> Self {
        self.query_of(name, json!({ "type": "integer", "minimum": 0, "default": default }), says)
    }

    /// Adds the event stream variant of the response, for callers that accept one.
    pub(super) fn streams(self, says: &str) -> Self {
        self.header_of(
            "Last-Event-ID",
            json!({ "type": "string" }),
            "Id of the last event received; the stream continues after it.",
        )
        .answers_a(200, "text/event-stream", json!({ "type": "string" }), says)
        .answers_nothing(204, "The stream has ended; do not reconnect.")
        .refused(&[429])
    }
}
