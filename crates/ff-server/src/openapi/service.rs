//! The routes about the service itself.

use ff_api::{
    Activity, BeginSession, Deployment, DoctorReport, EndSession, RotateSecret, RotationReport, Secrets, Session,
};
use ff_core::types::Namespace;
use serde_json::json;

use super::builder::OpenApiBuilder;
use crate::body::BodyLimit;
use crate::health::Health;
use crate::problem::ErrorPage;

/// The error statuses of the page of an approval link.
const ON_A_PAGE: &[u16] = &[400, 401, 403, 404, 408, 409, 413, 415, 429, 500, 503];

pub(super) fn describe(api: &mut OpenApiBuilder) {
    let text = || json!({ "type": "string" });
    api.get("/healthz", "Says that the server serves.").answers::<Health>(200, "It does.").done();
    api.get("/readyz", "Says whether the store answers.").answers::<Health>(200, "It does.").done();
    api.get("/metrics", "Tells what was counted, for Prometheus.")
        .answers_a(200, "text/plain", text(), "Every metric.")
        .answers_a(200, "application/openmetrics-text", text(), "Every metric.")
        .refused(&[404])
        .done();
    api.get("/openapi.json", "Tells what this API is.")
        .answers_a(200, "application/json", json!({ "type": "object" }), "This.")
        .done();
    api.get("/errors/{code}", "Says what an error code means.").answers::<ErrorPage>(200, "What it means.").done();
    api.get("/v1/partitions", "Says how many partitions the store has.")
        .answers::<Deployment>(200, "So many, and where links lead.")
        .done();
    api.get("/v1/session", "Says who asks, and whether keys are asked for.")
        .answers::<Session>(200, "The key that was shown, without its secret.")
        .done();
    api.post("/v1/session", "Has a browser show the key of this request from now on, in a cookie.")
        .takes::<BeginSession>(BeginSession::BODY_BYTES)
        .answers::<Session>(200, "The key. The cookie is good for twelve hours.")
        .done();
    api.post("/v1/session/end", "Has a browser show no key any more.")
        .takes::<EndSession>(EndSession::BODY_BYTES)
        .answers::<EndSession>(200, "The cookie is taken back.")
        .done();
    api.get("/v1/activity", "Tells what ended in the last hour, as this server has seen it.")
        .query::<Namespace>("namespace", "Of this namespace; of all unless given.")
        .answers::<Activity>(200, "By lane and minute, and by kind.")
        .done();
    api.get("/v1/doctor", "Checks the invariants of the store.")
        .query_of(
            "partition",
            json!({ "type": "integer", "minimum": 0, "maximum": u16::MAX }),
            "One partition; all unless said.",
        )
        .answers::<DoctorReport>(200, "What was looked at, and what is wrong: nothing, most of the time.")
        .done();
    api.get("/v1/secrets", "Lists the names of the secrets, never the secrets.")
        .answers::<Secrets>(200, "Those of each partition.")
        .done();
    api.post("/v1/secrets/rotate", "Brings a new secret for waitpoint tokens.")
        .takes::<RotateSecret>(RotateSecret::BODY_BYTES)
        .answers::<RotationReport>(200, "What became of it on each partition.")
        .refused(&[409])
        .done();
    api.get("/approvals/{id}/{waitpoint}", "Shows the page of an approval link, for browsers.")
        .query_of("token", text(), "What opens the waitpoint.")
        .answers_a(200, "text/html", text(), "The page.")
        .refused_on_a_page(ON_A_PAGE)
        .done();
    let form = json!({ "type": "object" });
    api.post("/approvals/{id}/{waitpoint}", "Takes the decision made on that page.")
        .takes_a("application/x-www-form-urlencoded", form)
        .answers_a(200, "text/html", text(), "What came of it.")
        .refused_on_a_page(ON_A_PAGE)
        .done();
}
