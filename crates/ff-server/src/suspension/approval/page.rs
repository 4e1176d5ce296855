//! The pages of an approval link: self-contained, without scripts, and with all external text escaped.

use std::time::Duration;

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use ff_core::engine_error::{Code, EngineError};
use ff_core::signal::{Effect, Source};
use ff_core::state::PublicState;
use ff_core::suspension::{SuspendReason, TimeoutBehavior};
use ff_core::token::PresentedToken;
use ff_core::types::TimestampMs;

use super::budget::{Addition, Overrun};
use super::form::Answer;
use super::state::{ApprovalState, Question};
use super::time_format::{ago, to_the_minute, utc};
use crate::response::problem::{Problem, StoreOutage, seconds};

const STYLE: &str = include_str!("style.css");

/// Headers of every page. Browsers may load only the style, and only with this hash. They may send the form only to this
/// server, and no other page may embed this one. The address contains the token, so it is not sent to other sites.
/// `no-referrer` would also hide from this server that its own page sent the form.
const HEADERS: &[(&str, &str)] = &[
    ("content-type", "text/html; charset=utf-8"),
    ("content-security-policy", POLICY),
    ("referrer-policy", "same-origin"),
    ("cache-control", "no-store"),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("x-robots-tag", "noindex"),
];

const POLICY: &str = "default-src 'none'; style-src 'sha256-tDlo12NYlzhFg8kGWlrT7O1QG/Ft4KzqxwyYRVqHEbI='; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Maximum length of a comment in characters, so that every comment fits its limit in bytes.
const COMMENT_CHARACTERS: usize = 2_000;

/// A page to send to a browser.
pub(crate) struct Page {
    status: StatusCode,
    title: String,
    /// The content, as HTML.
    content: String,
    retry_after: Option<Duration>,
    /// Set if the store did not answer; the guard logs it as an outage.
    outage: Option<StoreOutage>,
}

impl Page {
    /// Returns the page for the state of an approval. The form contains the token.
    pub(super) fn of(state: &ApprovalState, token: &PresentedToken, now: TimestampMs) -> Self {
        match state {
            ApprovalState::Open(question) => Self::question(question, token, now),
            ApprovalState::Decided { answer, by, at } => Self::decided(*answer, by, *at, now),
            ApprovalState::Expired => Self::expired(),
            ApprovalState::Over(state) => Self::over(*state),
        }
    }

    /// Returns the page for an answer that came too late.
    pub(super) fn too_late(state: &ApprovalState, token: &PresentedToken, now: TimestampMs) -> Self {
        let page = Self::of(state, token, now);
        if page.status == StatusCode::OK { Self { status: StatusCode::CONFLICT, ..page } } else { page }
    }

    /// Returns the page for a delivered answer: it counts, or an earlier one does.
    pub(super) fn answered(answer: Answer, counts: Answer, effect: Effect) -> Self {
        if answer != counts {
            let what = format!("It was {} before, and the first answer counts. Nothing was changed.", past(counts));
            return Self::new(StatusCode::CONFLICT, "Already answered", &what);
        }
        let what = match effect {
            Effect::Satisfied => "The work goes on with your answer. You can close this page.",
            Effect::Appended => "Your answer was counted. Others still have to answer before the work goes on.",
            Effect::Buffered => {
                "Your answer was kept. The work does not wait for it yet and will find it when it does."
            }
            Effect::Duplicate => "Your answer had arrived before; nothing was changed. You can close this page.",
            Effect::Recounted => "Your answer was recorded, but one like it had been counted before.",
            Effect::NotInCondition | Effect::MatcherFailed => {
                "Your answer was recorded, but this is not what the work waits for; it goes on waiting."
            }
        };
        Self::new(
            StatusCode::OK,
            match counts {
                Answer::Approve => "Approved",
                Answer::Reject => "Rejected",
            },
            what,
        )
    }

    /// Returns the page for an error: the link is invalid or expired, or the server failed.
    pub(super) fn without(error: &EngineError) -> Self {
        match error.code() {
            Code::TokenExpired | Code::PendingWaitpointExpired => Self::expired(),
            Code::SignalLimitExceeded => {
                Self::new(StatusCode::CONFLICT, "No more answers", "This work has taken as many answers as it may.")
            }
            _ if matches!(error, EngineError::Refused(_)) => Self::new(
                StatusCode::FORBIDDEN,
                "This link opens nothing",
                "It may have been cut off or changed on its way to you. Ask its sender for a new one.",
            ),
            _ => {
                let what = "It is not known whether it was recorded. Try again: the first answer counts once.";
                let page = Self::new(StatusCode::SERVICE_UNAVAILABLE, "The answer did not come through", what);
                Self { outage: Some(StoreOutage(error.clone())), ..page }
            }
        }
    }

    /// Returns the page for a form that is invalid or could not be accepted.
    pub(super) fn bad_form(problem: &Problem) -> Self {
        if let Some(wait) = problem.retry_after() {
            let what = "The server has too much to do. Wait a little and try again.";
            let page = Self::new(StatusCode::SERVICE_UNAVAILABLE, "Too busy", what);
            return Self { retry_after: Some(wait), ..page };
        }
        let what = format!("{} Go back and try again.", escaped(&problem.to_string()));
        Self { content: paragraph(&what), ..Self::new(StatusCode::BAD_REQUEST, "The form cannot be read", "") }
    }

    /// Returns the page for a caller with too many requests.
    pub(super) fn too_often(wait: Duration) -> Self {
        let what = "There were too many requests from where you are. Wait a little and try again.";
        let page = Self::new(StatusCode::TOO_MANY_REQUESTS, "Too many requests", what);
        Self { retry_after: Some(wait), ..page }
    }

    fn question(question: &Question, token: &PresentedToken, now: TimestampMs) -> Self {
        let message = question.message.as_ref().map(|text| format!("<p class=\"said\">{}</p>\n", escaped(text)));
        let rows = [
            ("Work", Some(escaped(question.kind.as_str()))),
            ("Waits for", Some(escaped(waits_for(question.reason.as_ref())))),
            ("Since", Some(format!("{} ({})", ago(question.since, now), utc(question.since)))),
            ("Answer by", question.until.map(|(at, then)| deadline(at, then, now))),
            ("Reference", Some(escaped(&question.execution.to_string()))),
        ];
        let rows = rows.into_iter().filter_map(|(name, value)| Some(format!("<dt>{name}</dt><dd>{}</dd>\n", value?)));
        let rows: String = rows.collect();
        let content = format!("{}<dl>\n{rows}</dl>\n{}", message.unwrap_or_default(), form(token, &question.over));
        Self { status: StatusCode::OK, title: question.key.to_string(), content, retry_after: None, outage: None }
    }

    fn decided(answer: Answer, by: &Source, at: TimestampMs, now: TimestampMs) -> Self {
        let by = match by.kind.as_str() {
            super::LINK => "through this link".to_owned(),
            _ => format!("by {by}"),
        };
        let what = format!("It was {} {by}, {} ({}).", past(answer), ago(at, now), utc(at));
        Self::new(StatusCode::OK, "Already answered", &what)
    }

    fn expired() -> Self {
        let what = "It was good for some time only, and that is over. Ask its sender for a new one.";
        Self::new(StatusCode::GONE, "This link has expired", what)
    }

    fn over(state: PublicState) -> Self {
        let what = match state {
            PublicState::Waiting | PublicState::Delayed | PublicState::Active | PublicState::Suspended => {
                "The work goes on without it.".to_owned()
            }
            ended => format!("The work is {}.", ended.as_str().replace('_', " ")),
        };
        Self::new(StatusCode::OK, "No answer is needed any more", &what)
    }

    /// Returns a page with one paragraph.
    fn new(status: StatusCode, title: &str, what: &str) -> Self {
        let content = paragraph(&escaped(what));
        Self { status, title: title.to_owned(), content, retry_after: None, outage: None }
    }

    fn html(&self) -> String {
        let (title, content) = (escaped(&self.title), &self.content);
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n\
             <body>\n<main>\n<h1>{title}</h1>\n{content}</main>\n</body>\n</html>\n"
        )
    }
}

impl IntoResponse for Page {
    fn into_response(self) -> Response {
        let mut response = (self.status, self.html()).into_response();
        for (name, value) in HEADERS {
            response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        if let Some(wait) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, seconds(wait));
        }
        if let Some(outage) = self.outage {
            response.extensions_mut().insert(outage);
        }
        response
    }
}

/// Returns the form. It is sent to this page's address without the token; a form field contains the token.
fn form(token: &PresentedToken, over: &[Overrun]) -> String {
    let token = escaped(token.expose());
    let additions: String = over.iter().map(addition).collect();
    format!(
        "<form method=\"post\" action=\"?\" autocomplete=\"off\">\n\
         <input type=\"hidden\" name=\"token\" value=\"{token}\">\n{additions}\
         <label for=\"comment\">Comment (optional)</label>\n\
         <textarea id=\"comment\" name=\"comment\" rows=\"3\" maxlength=\"{COMMENT_CHARACTERS}\"></textarea>\n\
         <div class=\"answers\">\n\
         <button class=\"approve\" name=\"decision\" value=\"approve\">Approve</button>\n\
         <button class=\"reject\" name=\"decision\" value=\"reject\">Reject</button>\n\
         </div>\n</form>\n"
    )
}

/// Returns the field for adding to a budget with an approval. If it is left empty, the approval resumes only this execution.
fn addition(over: &Overrun) -> String {
    let Overrun { budget, dimension, hard, used, .. } = over;
    let (name, of) =
        (escaped(&Addition::field(budget, dimension)), escaped(&format!("{dimension} of budget {budget}")));
    format!(
        "<label for=\"{name}\">Add {of} ({used} of {hard} are spent)</label>\n\
         <input id=\"{name}\" name=\"{name}\" inputmode=\"numeric\" pattern=\"[0-9]*\" placeholder=\"nothing\">\n"
    )
}

fn waits_for(reason: Option<&SuspendReason>) -> &str {
    match reason {
        None => "nothing yet; your answer is kept until it does",
        Some(SuspendReason::WaitingForApproval) => "an approval",
        Some(SuspendReason::WaitingForSignal | SuspendReason::StepBoundary) => "a signal",
        Some(SuspendReason::WaitingForCallback) => "a callback",
        Some(SuspendReason::WaitingForToolResult) => "the result of a tool",
        Some(SuspendReason::WaitingForOperatorReview) => "a review by an operator",
        Some(SuspendReason::PausedByPolicy) => "a policy to let it go on",
        Some(SuspendReason::PausedByBudget) => "a budget to let it go on",
        Some(SuspendReason::ManualPause) => "an operator to let it go on",
        Some(SuspendReason::Other(text)) => text.as_str(),
    }
}

/// Describes the deadline of an answer, and the consequence of missing it.
fn deadline(at: TimestampMs, then: TimeoutBehavior, now: TimestampMs) -> String {
    let without = match then {
        TimeoutBehavior::Fail => "fails",
        TimeoutBehavior::Cancel => "is cancelled",
        TimeoutBehavior::Expire => "expires",
        TimeoutBehavior::AutoResume => "goes on without an answer",
        TimeoutBehavior::Escalate => "is escalated to an operator",
    };
    format!("{}, in {}; after that the work {without}", utc(at), to_the_minute(at.since(now)))
}

fn past(answer: Answer) -> &'static str {
    match answer {
        Answer::Approve => "approved",
        Answer::Reject => "rejected",
    }
}

fn paragraph(html: &str) -> String {
    format!("<p>{html}</p>\n")
}

/// Escapes text for HTML.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use ff_core::types::{ExecutionId, Kind, WaitpointKey};
    use sha2::{Digest, Sha256};

    use super::*;

    const NOW: TimestampMs = TimestampMs(1_760_000_000_000);

    fn question() -> Question {
        Question {
            key: WaitpointKey::parse("Deploy <b>1.4</b> & \"more\"?").unwrap(),
            execution: ExecutionId::new(7, uuid::Uuid::nil()),
            kind: Kind::parse("deploy").unwrap(),
            message: Some("<script>alert('x')</script>\nsecond line".into()),
            reason: Some(SuspendReason::WaitingForApproval),
            since: TimestampMs(NOW.0 - 180_000),
            until: Some((NOW + 3_600_000, TimeoutBehavior::Fail)),
            over: Vec::new(),
        }
    }

    #[test]
    fn a_store_that_does_not_answer_is_left_to_the_guard_to_log() {
        let away = Page::without(&EngineError::Unavailable("no answer".into())).into_response();
        assert!(away.extensions().get::<StoreOutage>().is_some());
        let refused = Page::without(&Code::InvalidToken.into()).into_response();
        assert!(refused.extensions().get::<StoreOutage>().is_none());
    }

    #[test]
    fn a_browser_may_load_the_style_and_nothing_else() {
        let hash = STANDARD.encode(Sha256::digest(STYLE));
        assert!(POLICY.contains(&format!("style-src 'sha256-{hash}'")), "the hash of the style is {hash}");
        assert!(POLICY.starts_with("default-src 'none'; "), "{POLICY}");
    }

    #[test]
    fn an_approval_page_shows_the_question_and_its_form() {
        let token = PresentedToken::new("k1:\"><script>");
        let html = Page::of(&ApprovalState::Open(question()), &token, NOW).html();
        for text in [
            "<h1>Deploy &lt;b&gt;1.4&lt;/b&gt; &amp; &quot;more&quot;?</h1>",
            "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;\nsecond line",
            "<dt>Waits for</dt><dd>an approval</dd>",
            "<dt>Since</dt><dd>3 minutes ago (2025-10-09 08:50 UTC)</dd>",
            "in 1 hour; after that the work fails",
            "value=\"k1:&quot;&gt;&lt;script&gt;\"",
            "method=\"post\" action=\"?\"",
            "<label for=\"comment\">",
            "value=\"approve\">Approve</button>",
            "value=\"reject\">Reject</button>",
        ] {
            assert!(html.contains(text), "{text} is not in {html}");
        }
        for text in ["<script", "<b>", "http:", "https:", "style=", "onclick"] {
            assert!(!html.contains(text), "{text} is in {html}");
        }
    }

    #[test]
    fn every_other_page_has_no_form() {
        let decided = |answer| ApprovalState::Decided { answer, by: Source::external(), at: NOW };
        for (state, status, text) in [
            (decided(Answer::Approve), 200, "It was approved by external, just now"),
            (decided(Answer::Reject), 200, "It was rejected"),
            (ApprovalState::Expired, 410, "This link has expired"),
            (ApprovalState::Over(PublicState::Cancelled), 200, "The work is cancelled."),
            (ApprovalState::Over(PublicState::Active), 200, "The work goes on without it."),
        ] {
            let page = Page::of(&state, &PresentedToken::default(), NOW);
            assert_eq!(page.status.as_u16(), status, "{state:?}");
            let html = page.html();
            assert!(html.contains(text) && !html.contains("<form"), "{html}");
        }
        assert_eq!(Page::too_late(&decided(Answer::Approve), &PresentedToken::default(), NOW).status.as_u16(), 409);
    }

    #[test]
    fn a_second_answer_shows_the_answer_that_counts() {
        let second = Page::answered(Answer::Reject, Answer::Approve, Effect::Duplicate);
        assert_eq!(second.status.as_u16(), 409);
        assert!(second.html().contains("It was approved before"));
        let again = Page::answered(Answer::Reject, Answer::Reject, Effect::Duplicate);
        assert!(again.status.is_success() && again.html().contains("<h1>Rejected</h1>"));
    }
}
