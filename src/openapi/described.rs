use std::fmt;
use std::sync::Arc;

use rocket::http::Method;
use rocket::route::{Handler, Outcome};
use rocket::{Data, Request, Route};
use serde_json::Value;

use super::{Handler as DescribedHandler, Interface, Operation};
use crate::schema;

type Say = Arc<dyn Fn(&mut Operation, &Interface<'_>) + Send + Sync>;

/// A route, and what the description of the interface says of it.
///
/// Made of a handler by [`described!`](crate::described); a mere [`Route`] can be one too, of which the description then
/// says no more than that it is there.
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
///     .says("How many warnings there are")
///     .gives(json!({ "type": "object", "properties": { "warnings": { "type": "integer" } } }));
/// ```
#[derive(Clone)]
pub struct Described {
    /// The route.
    pub route: Route,
    summary: &'static str,
    said: Vec<Say>,
}

impl Described {
    /// A route, and its handler, whose arguments tell what it takes.
    pub fn new<Arguments, H: DescribedHandler<Arguments>>(route: Route, _handler: H) -> Self {
        // The function alone: what it is of may borrow from requests.
        let describe: fn(&mut Operation, &Interface<'_>) = H::describe;
        Self::from(route).with(describe)
    }

    /// Returns the same handler at another method and path, with a name of its own in the description.
    #[must_use]
    pub fn at(&self, method: Method, path: &'static str, name: &'static str) -> Self {
        let mut route = Route::new(method, path, SameHandler(self.route.handler.clone()));
        route.name = Some(name.into());
        Self { route, ..self.clone() }
    }

    /// What it does, in a line.
    #[must_use]
    pub fn says(self, summary: &'static str) -> Self {
        Self { summary, ..self }
    }

    /// It answers JSON of this schema.
    #[must_use]
    pub fn gives(self, schema: Value) -> Self {
        self.with(move |operation, _| operation.gives_json(schema.clone()))
    }

    /// It answers `{"statusCode":200,"result":…}` with a result of this schema.
    #[must_use]
    pub fn gives_result(self, schema: Value) -> Self {
        self.gives(schema::enveloped(schema))
    }

    /// It answers everybody the same, and 304 to who has that already; the result is of this schema.
    #[must_use]
    pub fn shares(self, schema: Value) -> Self {
        self.gives_result(schema).with(|operation, _| operation.is_shared())
    }

    /// It takes JSON of the schema that the interface asks for.
    #[must_use]
    pub fn takes(self, schema: impl Fn(&Interface<'_>) -> Value + Send + Sync + 'static) -> Self {
        self.with(move |operation, interface| operation.takes_body(schema(interface)))
    }

    /// It refuses something.
    #[must_use]
    pub fn refuses(self, status: u16, says: &'static str) -> Self {
        self.with(move |operation, _| operation.refuses(status, says))
    }

    /// It lists no more features than the configuration allows.
    #[must_use]
    pub(crate) fn lists_at_most_so_many(self, what: &'static str) -> Self {
        self.with(move |operation, interface| {
            let features = interface.config.limits.features.get();
            operation.refuses(
                400,
                format!("There are more than {features} {what}; the message says what narrows the list."),
            );
        })
    }

    /// Whatever else there is to say.
    #[must_use]
    pub fn with(mut self, say: impl Fn(&mut Operation, &Interface<'_>) + Send + Sync + 'static) -> Self {
        self.said.push(Arc::new(say));
        self
    }

    pub(super) fn operation(&self, interface: &Interface<'_>) -> Operation {
        let mut operation = Operation::new(self.summary);
        for say in &self.said {
            say(&mut operation, interface);
        }
        operation
    }
}

/// A handler behind a box, which Rocket takes no routes of.
#[derive(Clone)]
struct SameHandler(Box<dyn Handler>);

#[rocket::async_trait]
impl Handler for SameHandler {
    async fn handle<'r>(&self, request: &'r Request<'_>, data: Data<'r>) -> Outcome<'r> {
        self.0.handle(request, data).await
    }
}

impl From<Route> for Described {
    fn from(route: Route) -> Self {
        Self { route, summary: "", said: Vec::new() }
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

/// A [`Described`](crate::openapi::Described) route of a handler, which `#[get("…")]` or its like stands above.
#[macro_export]
macro_rules! described {
    ($($handler:ident)::+) => {
        $crate::openapi::Described::new(
            // One handler makes one route.
            ::rocket::routes![$($handler)::+].remove(0),
            $($handler)::+,
        )
    };
}
