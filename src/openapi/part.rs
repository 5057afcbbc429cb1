use rocket::{Data, State};

use super::{Interface, Operation};

/// What an argument of a handler says of the operation: the parameters it reads, the body it takes, and what it refuses.
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

/// A body in pieces; what it must be is for the route to say.
impl Part for Data<'_> {
    fn describe(_: &mut Operation, _: &Interface<'_>) {}
}

/// A handler of a route, by the arguments it takes.
///
/// Every function whose arguments are [`Part`]s is one: nobody has to say which these are.
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
