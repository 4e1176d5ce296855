//! The table of all routes: method, path, required access, name in the OpenAPI document, and marks.

use std::sync::LazyLock;

use ff_api::access::{self, Access};
use ff_api::{Parameter, Query};
use schemars::SchemaGenerator;

/// How the server treats requests to a route, as explained at [`ff_api::routes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Waits,
    Page,
    ManyCalls,
    HealthCheck,
    Audited,
}

struct Route {
    method: &'static str,
    path: &'static str,
    access: Access,
    /// The handler in the server.
    name: &'static str,
    marks: &'static [Mark],
}

macro_rules! call_rows {
    ($($path:literal $access:ident $name:path:
        $body:ident($args:ty, $subject:ident: $type:ty) -> $answer:ty, at most $bytes:ident $(within $namespace:ident)?,
        refused [$($status:literal),*] $($mark:ident)*, $does:literal => $says:literal;)*) => {
        const CALLS: &[Route] = &[$(Route {
            method: "post",
            path: $path,
            access: access::$access,
            name: stringify!($name),
            marks: &[$(Mark::$mark),*],
        }),*];
    };
}

macro_rules! handler_rows {
    ($($method:ident $path:literal $access:ident $handler:path $(: $query:ident)? $(, $mark:ident)*;)*) => {
        const HANDLERS: &[Route] = &[$(Route {
            method: stringify!($method),
            path: $path,
            access: access::$access,
            name: stringify!($handler),
            marks: &[$(Mark::$mark),*],
        }),*];

        /// Describes the query parameters of a route.
        pub(crate) fn parameters(method: &str, path: &str, generator: &mut SchemaGenerator) -> Vec<Parameter> {
            match (method, path) {
                $($((stringify!($method), $path) => ff_api::$query::parameters(generator),)?)*
                _ => Vec::new(),
            }
        }
    };
}

ff_api::calls!(call_rows);
ff_api::routes!(handler_rows);

/// Every route: its method, its path, and its required access.
pub static ROUTES: LazyLock<Vec<(&str, &str, Access)>> = LazyLock::new(|| {
    let routes = CALLS.iter().chain(HANDLERS);
    routes.map(|route| (route.method, route.path, route.access)).collect()
});

/// The page of an approval link.
pub(crate) const APPROVAL: &str = "/approvals/{id}/{waitpoint}";

/// The route that reads the output of an execution.
pub(crate) const STREAM: &str = "/v1/executions/{id}/stream";

/// Query parameter of the token for that stream: a browser's `EventSource` cannot send headers of the page.
pub(crate) const STREAM_TOKEN_PARAMETER: &str = "token";

/// Returns the route of a request. A `GET` route also answers `HEAD`.
fn route(method: &str, path: &str) -> Option<&'static Route> {
    let method = if method.eq_ignore_ascii_case("head") { "get" } else { method };
    let mut routes = CALLS.iter().chain(HANDLERS);
    routes.find(|route| route.path == path && route.method.eq_ignore_ascii_case(method))
}

/// Returns the access that a route requires; open if the route does not exist.
pub(crate) fn access(method: &str, path: &str) -> Access {
    route(method, path).map_or(Access::Open, |route| route.access)
}

/// Returns whether a route has a mark.
pub(crate) fn has_mark(method: &str, path: &str, mark: Mark) -> bool {
    route(method, path).is_some_and(|route| route.marks.contains(&mark))
}

/// Returns whether requests to a route are written to the audit log.
pub(crate) fn is_audited(method: &str, path: &str) -> bool {
    let is_operators_call = CALLS.iter().any(|call| call.path == path && call.access == access::OPERATE);
    method.eq_ignore_ascii_case("post") && (is_operators_call || has_mark(method, path, Mark::Audited))
}

/// Returns the operation id of a route in the OpenAPI document and so in generated clients: its domain and its operation.
pub(crate) fn operation_id(method: &str, path: &str) -> Option<String> {
    Some(route(method, path)?.name.replace("::", "_").replace(' ', ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_operators_and_marked_routes_are_audited() {
        for path in ["/v1/executions/{id}/revoke", "/v1/executions/{id}/cancel", "/v1/lanes/{lane}"] {
            assert!(is_audited("POST", path), "{path}");
        }
        assert!(!is_audited("POST", "/v1/executions/{id}/renew"));
        assert!(!is_audited("GET", "/v1/lanes/{lane}"));
    }

    #[test]
    fn head_is_treated_as_get() {
        assert!(has_mark("HEAD", "/v1/lanes", Mark::Page));
        assert_eq!(access("HEAD", "/v1/lanes"), access("GET", "/v1/lanes"));
    }
}
