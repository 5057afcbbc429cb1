use std::ops::Deref;

use rocket::Request;
use rocket::request::{FromParam, FromRequest, Outcome};
use serde_json::Value;

use super::{Query, managed};
use crate::config::Config;
use crate::http::error::{Problem, Source};
use crate::openapi::{Interface, Operation, Parameter, Part};

/// A query parameter. Routes receive it as [`QueryParam`].
///
/// ```
/// use rocket::get;
/// use serde_json::{Value, json};
/// use siaga::config::Config;
/// use siaga::error::Problem;
/// use siaga::guards::{Caller, QueryParam, QueryParameter};
/// use siaga::rendering::ApiResponse;
///
/// /// `floors`: how many floors a shelter has, or absent.
/// struct Floors(Option<u8>);
///
/// impl QueryParameter for Floors {
///     const NAME: &'static str = "floors";
///     const DESCRIPTION: &'static str = "How many floors a shelter has.";
///
///     fn schema(_: &Config) -> Value {
///         json!({ "type": "integer", "minimum": 1, "maximum": 255 })
///     }
///
///     fn parse(value: Option<&str>, _: &Config) -> Result<Self, String> {
///         let floors = value.map(str::parse).transpose();
///         floors.map(Self).map_err(|_| "must be a whole number from 1 to 255".to_owned())
///     }
/// }
///
/// #[get("/shelters")]
/// async fn list_shelters(_caller: Caller, floors: QueryParam<Floors>) -> Result<ApiResponse, Problem> {
///     ApiResponse::private_result(&floors.0)
/// }
/// # drop(rocket::routes![list_shelters]);
/// ```
pub trait QueryParameter: Send + Sized {
    /// The name.
    const NAME: &'static str;
    /// The description in the OpenAPI document.
    const DESCRIPTION: &'static str;

    /// Whether the parameter is required. **Default: no**
    const REQUIRED: bool = false;

    /// Returns the JSON Schema of its values.
    fn schema(config: &Config) -> Value;

    /// Parses the decoded value, which is `None` if the parameter is absent or empty.
    ///
    /// # Errors
    ///
    /// The end of the sentence `"name" …`, such as `must be a whole number`, for a response with 400.
    fn parse(value: Option<&str>, config: &Config) -> Result<Self, String>;
}

/// A [`QueryParameter`] of a request. The response to an invalid or repeated value is 400.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryParam<P> {
    value: P,
}

impl<P> QueryParam<P> {
    /// Returns the parameter. Its fields can also be accessed directly.
    pub fn get(self) -> P {
        self.value
    }
}

impl<P> Deref for QueryParam<P> {
    type Target = P;

    fn deref(&self) -> &P {
        &self.value
    }
}

#[rocket::async_trait]
impl<'r, P: QueryParameter> FromRequest<'r> for QueryParam<P> {
    type Error = Problem;

    async fn from_request(request: &'r Request<'_>) -> Outcome<Self, Problem> {
        let parameter =
            managed::<Config>(request).and_then(|config| read::<P>(Query::for_request(request), config));
        Problem::outcome(request, parameter.map(|value| Self { value }))
    }
}

impl<P: QueryParameter> Part for QueryParam<P> {
    fn describe(operation: &mut Operation, interface: &Interface<'_>) {
        let parameter = Parameter::query(P::NAME, P::DESCRIPTION, P::schema(interface.config));
        operation.parameter(if P::REQUIRED { parameter.required() } else { parameter });
    }
}

pub(super) fn read<P: QueryParameter>(query: Query<'_>, config: &Config) -> Result<P, Problem> {
    let value = query.get(P::NAME)?;
    P::parse(value.as_deref(), config).map_err(|rule| Problem::invalid(Source::Query, P::NAME, rule))
}

/// A segment of a path. Routes receive it as [`PathParam`].
pub trait PathParameter: Sized {
    /// The name in the OpenAPI document.
    const NAME: &'static str;
    /// The description in the OpenAPI document.
    const DESCRIPTION: &'static str;
    /// The description of 404 on a path with this segment; `None` if the segment never causes 404.
    const MISSING: Option<&'static str>;

    /// Returns the JSON Schema of its values.
    fn schema() -> Value;

    /// Parses the segment.
    ///
    /// # Errors
    ///
    /// The end of the sentence `"name" …`, such as `must be a whole number`, for a response with 400.
    fn parse(text: &str) -> Result<Self, String>;
}

/// A [`PathParameter`] of a request. The route calls [`get`](Self::get), which returns the problem of an invalid segment. Rocket
/// itself would respond with 422 and no message.
#[derive(Debug)]
pub struct PathParam<P>(Result<P, Problem>);

impl<P> PathParam<P> {
    /// Returns the value.
    ///
    /// # Errors
    ///
    /// 400 if the segment is invalid. The message states what the segment must be.
    pub fn get(self) -> Result<P, Problem> {
        self.0
    }
}

impl<'r, P: PathParameter> FromParam<'r> for PathParam<P> {
    type Error = std::convert::Infallible;

    fn from_param(text: &'r str) -> Result<Self, Self::Error> {
        Ok(Self(P::parse(text).map_err(|rule| Problem::invalid(Source::Params, P::NAME, rule))))
    }
}

impl<P: PathParameter> Part for PathParam<P> {
    fn describe(operation: &mut Operation, _: &Interface<'_>) {
        operation.parameter(Parameter::path(P::NAME, P::DESCRIPTION, P::schema()));
        if let Some(missing) = P::MISSING {
            operation.error(404, missing);
        }
    }
}

/// Returns the allowed value that equals `value`; the error is `must be one of […]`.
pub(super) fn one_of<'a, T: AsRef<str>>(value: &str, allowed: &'a [T]) -> Result<&'a T, String> {
    allowed.iter().find(|allowed| allowed.as_ref() == value).ok_or_else(|| {
        let allowed: Vec<_> = allowed.iter().map(AsRef::as_ref).collect();
        format!("must be one of [{}]", allowed.join(", "))
    })
}
