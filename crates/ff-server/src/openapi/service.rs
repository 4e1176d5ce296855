//! The routes about the service itself.

use ff_api::{
    Activity, BeginSession, Deployment, DoctorReport, EndSession, RotateSecret, RotationReport, Secrets, Session,
};
use serde_json::json;

use super::builder::OpenApiBuilder;
use crate::health::Health;
use crate::request::body::BodyLimit;
use crate::response::problem::ErrorPage;

/// Error statuses of the approval page.
const ON_A_PAGE: &[u16] = &[400, 401, 403, 404, 408, 409, 413, 415, 429, 500, 503];

pub(super) fn describe(api: &mut OpenApiBuilder) {
    let text = || json!({ "type": "string" });
    api.get("/healthz", "Checks that the server is running.").answers::<Health>(200, "It is healthy.").done();
    api.get("/readyz", "Checks that the store is reachable.").answers::<Health>(200, "It is healthy.").done();
    api.get("/metrics", "Returns the metrics, for Prometheus.")
        .answers_a(200, "text/plain", text(), "Every metric.")
        .answers_a(200, "application/openmetrics-text", text(), "Every metric.")
        .refused(&[404])
        .done();
    api.get("/openapi.json", "Returns this OpenAPI document.")
        .answers_a(200, "application/json", json!({ "type": "object" }), "This document.")
        .done();
    api.get("/errors/{code}", "Describes an error code.").answers::<ErrorPage>(200, "Its meaning.").done();
    api.get("/v1/partitions", "Returns the number of partitions of the store.")
        .answers::<Deployment>(200, "The number of partitions, and the public address for links.")
        .done();
    api.get("/v1/session", "Returns the caller's key, and whether keys are required.")
        .answers::<Session>(200, "The caller's key, without its secret.")
        .done();
    api.post("/v1/session", "Starts a browser session: sets a cookie that stands for the key of this request.")
        .takes::<BeginSession>(BeginSession::BODY_BYTES)
        .answers::<Session>(200, "The key. The cookie is valid for twelve hours.")
        .done();
    api.post("/v1/session/end", "Ends the browser session.")
        .takes::<EndSession>(EndSession::BODY_BYTES)
        .answers::<EndSession>(200, "The cookie is removed.")
        .done();
    api.get("/v1/activity", "Returns the attempts that ended on this server in the last hour.")
        .answers::<Activity>(200, "Per lane and minute, and per kind.")
        .done();
    api.get("/v1/doctor", "Checks the invariants of the store.")
        .answers::<DoctorReport>(200, "What was checked, and the violations found.")
        .done();
    api.get("/v1/secrets", "Lists the names of the secrets, without the secrets.")
        .answers::<Secrets>(200, "The names on each partition.")
        .done();
    api.post("/v1/secrets/rotate", "Installs a new secret for waitpoint tokens.")
        .takes::<RotateSecret>(RotateSecret::BODY_BYTES)
        .answers::<RotationReport>(200, "The result for each partition.")
        .refused(&[409])
        .done();
    api.get("/approvals/{id}/{waitpoint}", "Shows the page of an approval link, for browsers.")
        .answers_a(200, "text/html", text(), "The page.")
        .refused_on_a_page(ON_A_PAGE)
        .done();
    let form = json!({ "type": "object" });
    api.post("/approvals/{id}/{waitpoint}", "Submits the decision made on the approval page.")
        .takes_a("application/x-www-form-urlencoded", form)
        .answers_a(200, "text/html", text(), "The result, as a page.")
        .refused_on_a_page(ON_A_PAGE)
        .done();
}
