use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::num::{
    NonZeroI8, NonZeroI16, NonZeroI32, NonZeroI64, NonZeroI128, NonZeroIsize, NonZeroU8, NonZeroU16,
    NonZeroU32, NonZeroU64, NonZeroU128, NonZeroUsize,
};
use std::path::PathBuf;

use rocket::{Data, State};

use super::{Interface, Operation};

/// What an argument of a handler says of the operation: the parameters it reads, the body it takes, and what it refuses.
///
/// A type of the standard library that Rocket makes of a part of the path, or of a parameter of the query (`?<name>`), is one
/// and says nothing. The description then has the part of the path by the name the route gives it, as a text; a parameter of
/// the query it does not list. What it shall list is a guard, or is said by [`Described::with`](super::Described::with).
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
/// let route = described!(find_log).says("A log of a pump").with(|operation, _| {
///     operation.takes(Parameter::query("last", "How many lines.", json!({ "type": "integer" })));
/// });
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what it takes of a request",
    label = "is an argument of a handler that is described",
    note = "implement `siaga::openapi::Part` for it; its `describe` may be empty",
    note = "a route that is not described is a `Described` too: `Described::from(route)`"
)]
pub trait Part {
    /// Adds it to the description of an operation of this interface.
    fn describe(operation: &mut Operation, interface: &Interface<'_>);
}

/// An argument that a handler looks into itself, to answer what the guard found wrong.
impl<T: Part, E> Part for Result<T, E> {
    fn describe(operation: &mut Operation, interface: &Interface<'_>) {
        T::describe(operation, interface);
    }
}

/// What the server manages is no part of a request.
impl<T: Send + Sync + 'static> Part for &State<T> {
    fn describe(_: &mut Operation, _: &Interface<'_>) {}
}

/// A part of the path as it stands there.
impl Part for &str {
    fn describe(_: &mut Operation, _: &Interface<'_>) {}
}

/// An argument that may fail.
impl<T: Part> Part for Option<T> {
    fn describe(operation: &mut Operation, interface: &Interface<'_>) {
        T::describe(operation, interface);
    }
}

macro_rules! say_nothing {
    ($($own:ty)*) => {
        $(
            impl Part for $own {
                fn describe(_: &mut Operation, _: &Interface<'_>) {}
            }
        )*
    };
}

say_nothing!(String PathBuf bool f32 f64);
say_nothing!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);
say_nothing!(NonZeroI8 NonZeroI16 NonZeroI32 NonZeroI64 NonZeroI128 NonZeroIsize);
say_nothing!(NonZeroU8 NonZeroU16 NonZeroU32 NonZeroU64 NonZeroU128 NonZeroUsize);
say_nothing!(IpAddr Ipv4Addr Ipv6Addr SocketAddr SocketAddrV4 SocketAddrV6);

/// A body in pieces; what it must be is for the route to say.
impl Part for Data<'_> {
    fn describe(_: &mut Operation, _: &Interface<'_>) {}
}

/// A handler of a route, by the arguments it takes.
///
/// Every function whose arguments are [`Part`]s, eight at most, is one: nobody has to say which these are.
#[diagnostic::on_unimplemented(
    message = "an argument of this handler does not say what it takes of a request",
    label = "has an argument that is no `Part`, or more than eight arguments",
    note = "implement `siaga::openapi::Part` for the type of the argument; its `describe` may be empty",
    note = "a route that is not described is a `Described` too: `Described::from(route)`"
)]
pub trait Handler<Arguments> {
    /// Adds what its arguments say to the description of an operation.
    fn describe(operation: &mut Operation, interface: &Interface<'_>);
}

macro_rules! handlers {
    ($($part:ident)*) => {
        impl<Function, Answer, $($part: Part),*> Handler<($($part,)*)> for Function
        where
            Function: Fn($($part),*) -> Answer,
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
