//! The table of all routes: method, path, required access, and name in the OpenAPI document.

use std::sync::LazyLock;

use ff_api::access::{self, Access};

macro_rules! call_rows {
    ($($path:literal $access:ident $name:path:
        $body:ident($args:ty, $subject:ident: $type:ty) -> $answer:ty, at most $bytes:ident $(within $namespace:ident)?,
        refused [$($status:literal),*], $does:literal => $says:literal;)*) => {
        const CALLS: &[(&str, &str, Access, &str)] = &[$(("post", $path, access::$access, stringify!($name))),*];
    };
}

macro_rules! handler_rows {
    ($($method:ident $path:literal $access:ident $handler:path;)*) => {
        const HANDLERS: &[(&str, &str, Access, &str)] =
            &[$((stringify!($method), $path, access::$access, stringify!($handler))),*];
    };
}

ff_api::calls!(call_rows);
ff_api::routes!(handler_rows);

/// Every route: its method, its path, and its required access.
pub static ROUTES: LazyLock<Vec<(&str, &str, Access)>> =
    LazyLock::new(|| named_routes().map(|(method, path, access, _)| (*method, *path, *access)).collect());

/// Returns every route, with its name in the OpenAPI document.
fn named_routes() -> impl Iterator<Item = &'static (&'static str, &'static str, Access, &'static str)> {
    CALLS.iter().chain(HANDLERS)
}

fn route(method: &str, path: &str) -> Option<&'static (&'static str, &'static str, Access, &'static str)> {
    named_routes().find(|route| route.1 == path && route.0.eq_ignore_ascii_case(method))
}

/// The page of an approval link.
pub(crate) const APPROVAL: &str = "/approvals/{id}/{waitpoint}";

/// The route that reads the output of an execution.
pub(crate) const STREAM: &str = "/v1/executions/{id}/stream";

/// Returns the access that a route requires; open if the route does not exist.
pub(crate) fn access(method: &str, path: &str) -> Access {
    route(method, path).map_or(Access::Open, |route| route.2)
}

/// Returns whether a route is a call that only operators may make.
pub(crate) fn is_operators_call(path: &str) -> bool {
    CALLS.iter().any(|(_, known, access, _)| *known == path && *access == access::OPERATE)
}

/// Returns the operation id of a route in the OpenAPI document and so in generated clients: its domain and its operation.
pub(crate) fn operation_id(method: &str, path: &str) -> Option<String> {
    Some(route(method, path)?.3.replace("::", "_").replace(' ', ""))
}
