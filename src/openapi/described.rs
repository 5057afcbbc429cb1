use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use rocket::http::Method;
use rocket::route::{Handler, Outcome};
use rocket::{Data, Request, Route};
use serde_json::Value;

use super::{Handler as DescribedHandler, Interface, Operation};
use crate::schema;

type DescribeFn = Arc<dyn Fn(&mut Operation, &Interface<'_>) + Send + Sync>;

/// A route and its description in the OpenAPI document.
///
/// Create it from a handler with [`described!`](crate::described), or from a plain [`Route`], which the document only lists.
///
/// ```
/// use rocket::get;
/// use serde_json::json;
/// use siaga::described;
/// use siaga::guards::Caller;
///
/// #[get("/warnings")]
/// fn list_warnings(_caller: Caller) -> &'static str {
///     r#"{"warnings":0}"#
/// }
///
/// let route = described!(list_warnings)
///     .summary("How many warnings there are")
///     .response(json!({ "type": "object", "properties": { "warnings": { "type": "integer" } } }));
/// ```
#[derive(Clone)]
pub struct Described {
    /// The route.
    pub route: Route,
    summary: &'static str,
    describers: Vec<DescribeFn>,
    is_strict: bool,
}

impl Described {
    /// Creates the description of a route. The arguments of the handler describe the parameters.
    pub fn new<Arguments, H: DescribedHandler<Arguments>>(route: Route, _handler: H) -> Self {
        // Only the function pointer is stored, because the type of the handler may borrow from requests.
        let describe: fn(&mut Operation, &Interface<'_>) = H::describe;
        Self::from(route).with(describe)
    }

    /// Returns a route with the same handler and description, but another method, path and operation name.
    #[must_use]
    pub fn at(&self, method: Method, path: &'static str, name: &'static str) -> Self {
        let mut route = Route::new(method, path, BoxedHandler(self.route.handler.clone()));
        route.name = Some(name.into());
        Self { route, ..self.clone() }
    }

    /// Sets the summary: what the route does, in one line.
    #[must_use]
    pub fn summary(self, summary: &'static str) -> Self {
        Self { summary, ..self }
    }

    /// Adds a 200 response with JSON of this schema.
    #[must_use]
    pub fn response(self, schema: Value) -> Self {
        self.with(move |operation, _| operation.json_response(schema.clone()))
    }

    /// Adds a 200 response `{"statusCode":200,"result":…}` with a result of this schema.
    #[must_use]
    pub fn result(self, schema: Value) -> Self {
        self.response(schema::enveloped(schema))
    }

    /// Adds a response that is the same for all clients, with a result of this schema, and 304 for conditional requests.
    #[must_use]
    pub fn cached_result(self, schema: Value) -> Self {
        self.result(schema).with(|operation, _| operation.cached_response())
    }

    /// Sets the schema of the JSON body, which may depend on the interface.
    #[must_use]
    pub fn body(self, schema: impl Fn(&Interface<'_>) -> Value + Send + Sync + 'static) -> Self {
        self.with(move |operation, interface| operation.body(schema(interface)))
    }

    /// Adds an error response.
    #[must_use]
    pub fn error(self, status: u16, description: &'static str) -> Self {
        self.with(move |operation, _| operation.error(status, description))
    }

    /// Adds the error response for lists that exceed the configured number of features.
    #[must_use]
    pub(crate) fn list_limit_error(self, noun: &'static str) -> Self {
        self.with(move |operation, interface| {
            let features = interface.config.limits.features.get();
            operation.error(
                400,
                format!("There are more than {features} {noun}; the message says what narrows the list."),
            );
        })
    }

    /// Makes the route reject unknown parameters. Other public GET routes list them in `Siaga-Ignored`.
    #[must_use]
    pub(crate) fn strict_parameters(self) -> Self {
        let strict = Self { is_strict: true, ..self };
        strict.error(
            400,
            "A parameter is wrong, or not one of this address; the message says which ones it has.",
        )
    }

    /// Adds a function that completes the description.
    #[must_use]
    pub fn with(mut self, describe: impl Fn(&mut Operation, &Interface<'_>) + Send + Sync + 'static) -> Self {
        self.describers.push(Arc::new(describe));
        self
    }

    pub(crate) fn formats(&self, interface: &Interface<'_>) -> Vec<String> {
        self.operation(interface).formats
    }

    /// Returns the name, path and query parameters of the route; `None` if the method is not GET, a credential is required, or
    /// the route rejects unknown parameters.
    pub(crate) fn public_read(&self, interface: &Interface<'_>) -> Option<(String, String, HashSet<String>)> {
        let operation = self.operation(interface);
        let is_public = self.route.method == Method::Get && operation.is_public() && !self.is_strict;
        let name = self.route.name.as_ref().filter(|_| is_public)?;
        let names = operation.query_parameters().map(str::to_owned).collect();
        Some((name.to_string(), self.route.uri.unmounted_origin.path().to_string(), names))
    }

    pub(super) fn operation(&self, interface: &Interface<'_>) -> Operation {
        let mut operation = Operation::new(self.summary);
        for describe in &self.describers {
            describe(&mut operation, interface);
        }
        operation
    }
}

/// Wraps a boxed handler, because Rocket creates routes only from unboxed handlers.
#[derive(Clone)]
struct BoxedHandler(Box<dyn Handler>);

#[rocket::async_trait]
impl Handler for BoxedHandler {
    async fn handle<'r>(&self, request: &'r Request<'_>, data: Data<'r>) -> Outcome<'r> {
        self.0.handle(request, data).await
    }
}

impl From<Route> for Described {
    fn from(route: Route) -> Self {
        Self { route, summary: "", describers: Vec::new(), is_strict: false }
    }
}

impl fmt::Debug for Described {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Described")
            .field("route", &self.route)
            .field("summary", &self.summary)
            .finish_non_exhaustive()
    }
}

/// Creates a [`Described`](crate::openapi::Described) route from a handler that has an attribute such as `#[get("…")]`.
#[macro_export]
macro_rules! described {
    ($($handler:ident)::+) => {
        $crate::openapi::Described::new(
            // The list has exactly one route for the handler.
            ::rocket::routes![$($handler)::+].remove(0),
            $($handler)::+,
        )
    };
}
