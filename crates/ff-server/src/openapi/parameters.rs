//! Parameters that several routes have.

use ff_core::limits;
use serde_json::json;

use super::builder::Route;

impl Route<'_> {
    /// How many of something a page has.
    pub(super) fn limit(self) -> Self {
        let schema =
            json!({ "type": "integer", "minimum": 1, "maximum": limits::PAGE, "default": limits::PAGE_DEFAULT });
        self.query_of("limit", schema, "Maximum number of results.")
    }

    /// How long to wait for something.
    pub(super) fn wait(self) -> Self {
        let schema = json!({ "type": "integer", "minimum": 0, "maximum": limits::LONG_POLL_MS, "default": 0 });
        self.query_of("wait_ms", schema, "Maximum time to wait when there is nothing to return yet.")
    }

    /// Where a page begins, as the one before said.
    pub(super) fn cursor(self, name: &str) -> Self {
        self.query_of(name, json!({ "type": "string" }), "Cursor from the previous page.")
    }

    /// A number that counts from zero.
    pub(super) fn count(self, name: &str, default: u64, says: &str) -> Self {
        self.query_of(name, json!({ "type": "integer", "minimum": 0, "default": default }), says)
    }

    /// The same as a stream, for callers that accept one.
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
