use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::num::{
    NonZeroI8, NonZeroI16, NonZeroI32, NonZeroI64, NonZeroI128, NonZeroIsize, NonZeroU8, NonZeroU16,
    NonZeroU32, NonZeroU64, NonZeroU128, NonZeroUsize,
};
use std::path::PathBuf;

use rocket::{Data, State};

use super::{Interface, Operation};

/// A handler argument that describes its part of an operation: the parameters and body it reads, and its error responses.
///
/// Implemented, with an empty description, for the standard types that Rocket reads from a path segment or a query parameter
/// (`?<name>`). The document lists such a segment as text under its name in the route. It leaves out such a query parameter,
/// unless you describe it with [`Described::with`](super::Described::with).
///
/// ```
/// use std::path::PathBuf;
///
/// use rocket::get;
/// use serde_json::json;
/// use siaga::described;
/// use siaga::openapi::Parameter;
///
/// #[get("/pumps/<number>/<log..>?<last>")]
/// fn find_log(number: u32, log: PathBuf, last: Option<u8>) -> String {
///     format!("{number} {log:?} {last:?}")
/// }
///
/// let route = described!(find_log).summary("A log of a pump").with(|operation, _| {
///     operation.parameter(Parameter::query("last", "How many lines.", json!({ "type": "integer" })));
/// });
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not describe what it reads of a request",
    label = "is an argument of a described handler",
    note = "implement `siaga::openapi::Part` for it; its `describe` may be empty",
    note = "a route without a description is a `Described` too: `Described::from(route)`"
)]
pub trait Part {
    /// Adds this argument to the description of an operation.
    fn describe(operation: &mut Operation, interface: &Interface<'_>);
}

/// An argument whose error the handler receives and responds to.
impl<T: Part, E> Part for Result<T, E> {
    fn describe(operation: &mut Operation, interface: &Interface<'_>) {
        T::describe(operation, interface);
    }
}

/// Server state, which is not part of a request.
impl<T: Send + Sync + 'static> Part for &State<T> {
    fn describe(_: &mut Operation, _: &Interface<'_>) {}
}

/// A segment of the path, as text.
impl Part for &str {
    fn describe(_: &mut Operation, _: &Interface<'_>) {}
}

/// An optional guard: if it fails, the handler receives `None`. Documented as if it always succeeded.
impl<T: Part> Part for Option<T> {
    fn describe(operation: &mut Operation, interface: &Interface<'_>) {
        T::describe(operation, interface);
    }
}

macro_rules! undescribed {
    ($($own:ty)*) => {
        $(
            impl Part for $own {
                fn describe(_: &mut Operation, _: &Interface<'_>) {}
            }
        )*
    };
}

undescribed!(String PathBuf bool f32 f64);
undescribed!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);
undescribed!(NonZeroI8 NonZeroI16 NonZeroI32 NonZeroI64 NonZeroI128 NonZeroIsize);
undescribed!(NonZeroU8 NonZeroU16 NonZeroU32 NonZeroU64 NonZeroU128 NonZeroUsize);
undescribed!(IpAddr Ipv4Addr Ipv6Addr SocketAddr SocketAddrV4 SocketAddrV6);

/// A raw body; the route itself must describe it.
impl Part for Data<'_> {
    fn describe(_: &mut Operation, _: &Interface<'_>) {}
}

/// A route handler whose argument types describe its operation. Implemented for every function with up to eight arguments that
/// are all [`Part`]s. The compiler infers `Arguments`.
#[diagnostic::on_unimplemented(
    message = "an argument of this handler does not describe what it reads of a request",
    label = "has an argument that is no `Part`, or more than eight arguments",
    note = "implement `siaga::openapi::Part` for the type of the argument; its `describe` may be empty",
    note = "a route without a description is a `Described` too: `Described::from(route)`"
)]
pub trait Handler<Arguments> {
    /// Adds the descriptions of its arguments to an operation.
    fn describe(operation: &mut Operation, interface: &Interface<'_>);
}

macro_rules! handlers {
    ($($part:ident)*) => {
        impl<Function, Response, $($part: Part),*> Handler<($($part,)*)> for Function
        where
            Function: Fn($($part),*) -> Response,
        {
            fn describe(_operation: &mut Operation, _interface: &Interface<'_>) {
                $($part::describe(_operation, _interface);)*
            }
        }
    };
}

handlers!();
handlers!(A);
handlers!(A B);
handlers!(A B C);
handlers!(A B C D);
handlers!(A B C D E);
handlers!(A B C D E F);
handlers!(A B C D E F G);
handlers!(A B C D E F G H);
