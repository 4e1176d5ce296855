//! The bodies of the routes of operators and worker instances.

use serde_json::json;

use crate::input::bodies::{Route, coded, count, field, name, required, text, word};

pub(crate) fn routes() -> Vec<Route> {
    let names = || json!([5, true, [], {}, "", "a b", "a:b", "{a}", "é"]);
    let list = json!([5, true, "a", {}]);
    let moment = json!(["soon", true, 1.5, [], {}]);
    let tags = || {
        let keys = coded("invalid_tag_key", "tags", json!([{"": "v"}, {"a b": "v"}, {"a:b": "v"}]));
        [field("tags", json!([5, "a", [], ["a"]])), keys]
    };
    let mut bulk = vec![
        required("action", json!([5, true, "nonsense", "", [], {}])),
        name("namespace"),
        name("lane"),
        word("state"),
        name("kind"),
        field("created_from", moment.clone()),
        field("created_until", moment.clone()),
        text("reason"),
        text("requested_by"),
        field("dry_run", json!([5, "true", [], {}])),
        field("as_of", moment.clone()),
        coded("invalid_cursor", "cursor", json!(["", "x"])),
        count("limit"),
    ];
    bulk.extend(tags());
    let schedule = vec![
        name("namespace"),
        field("cron", json!([5, true, "", "61 * * * *", "* * * *", "@often", [], {}])),
        count("every_ms"),
        field("at", moment.clone()),
        field("time_zone", json!([5, true, "", "Europe/Berln", [], {}])),
        count("jitter_ms"),
        field("starts_at", moment.clone()),
        field("ends_at", moment.clone()),
        word("overlap"),
        count("catch_up_ms"),
        word("catch_up"),
        field("execution", json!([5, true, "k", []])),
        field("flow", json!([5, true, "k", []])),
    ];
    let range = vec![name("namespace"), required("from", moment.clone()), required("to", moment)];
    let mut label: Vec<_> = tags().into();
    label.push(field("remove", list.clone()));
    vec![
        Route { path: "/v1/executions/bulk", good: json!({"action": "cancel", "dry_run": true}), fields: bulk },
        Route { path: "/v1/executions/{id}/tags", good: json!({"tags": {"team": "blue"}}), fields: label },
        Route {
            path: "/v1/lanes/{lane}",
            good: json!({"state": "active"}),
            fields: vec![
                name("namespace"),
                word("state"),
                count("concurrency"),
                count("ageing_ms"),
                count("retention_ms"),
            ],
        },
        Route {
            path: "/v1/quotas/{quota}",
            good: json!({"scope": "namespace", "max_concurrent": 5}),
            fields: vec![
                name("namespace"),
                required("scope", json!([5, true, "", "lane:", "queue:a", "tag:a", [], {}])),
                field("per", json!([5, true, "", "lane", "tag:", [], {}])),
                field("rate", json!([5, "100/1m", []])),
                count("max_concurrent"),
            ],
        },
        Route {
            path: "/v1/budgets/{budget}",
            good: json!({"scope": "namespace", "limits": {"tokens": {"hard": 5}}}),
            fields: vec![
                name("namespace"),
                required("scope", json!([5, true, "", "lane:", "queue:a", "tag:a", "execution:7", [], {}])),
                required("limits", json!([5, "", true, []])),
                field("reset", json!(["", "daily", 5, true, []])),
                field("on_hard_limit", json!(["", "explode", 5, true, []])),
                field("estimate", json!([5, "", true, []])),
            ],
        },
        Route { path: "/v1/budgets/{budget}/reset", good: json!({}), fields: vec![name("namespace")] },
        Route { path: "/v1/budgets/{budget}/delete", good: json!({}), fields: vec![name("namespace")] },
        Route { path: "/v1/quotas/{quota}/delete", good: json!({}), fields: vec![name("namespace")] },
        Route {
            path: "/v1/schedules/{schedule}",
            good: json!({"every_ms": 60_000, "execution": {"kind": "report"}}),
            fields: schedule,
        },
        Route { path: "/v1/schedules/{schedule}/delete", good: json!({}), fields: vec![name("namespace")] },
        Route {
            path: "/v1/schedules/{schedule}/pause",
            good: json!({"reason": "maintenance"}),
            fields: vec![name("namespace"), text("reason")],
        },
        Route { path: "/v1/schedules/{schedule}/resume", good: json!({}), fields: vec![name("namespace")] },
        Route { path: "/v1/schedules/{schedule}/trigger", good: json!({}), fields: vec![name("namespace")] },
        Route { path: "/v1/schedules/{schedule}/backfill", good: json!({"from": 1_000, "to": 2_000}), fields: range },
        Route {
            path: "/v1/workers/{instance}/register",
            good: json!({"worker_id": "w"}),
            fields: vec![
                required("worker_id", names()),
                name("namespace"),
                field("lanes", list.clone()),
                field("kinds", list.clone()),
                field("capabilities", list),
                count("ttl_ms"),
            ],
        },
        Route { path: "/v1/workers/{instance}/heartbeat", good: json!({}), fields: vec![name("namespace")] },
        Route {
            path: "/v1/keys",
            good: json!({"name": "ci", "roles": ["admin"]}),
            fields: vec![
                required("name", json!([5, true, "", "a\u{0}b", [], {}])),
                required("roles", json!([5, "admin", [], {}])),
                name("namespace"),
                count("ttl_ms"),
                field("key_id", json!([5, "", "A1", "a_1", "a-1", [], {}])),
                field("secret_hash", json!([5, "", "0f", "nonsense", [], {}])),
            ],
        },
        Route { path: "/v1/keys/{key}/revoke", good: json!({}), fields: vec![] },
        Route { path: "/v1/workers/{instance}/leave", good: json!({}), fields: vec![name("namespace")] },
    ]
}
