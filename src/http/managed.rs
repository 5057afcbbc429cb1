//! Access to Rocket's managed state, and a macro for request guards.

use rocket::Request;

use crate::http::error::Problem;

/// Implements `FromRequest` for a type by an expression that returns the value or a [`Problem`].
macro_rules! guard {
    ($guard:ty, |$request:ident| $read:expr) => {
        #[rocket::async_trait]
        impl<'r> rocket::request::FromRequest<'r> for $guard {
            type Error = $crate::http::error::Problem;

            async fn from_request(
                $request: &'r rocket::Request<'_>,
            ) -> rocket::request::Outcome<Self, $crate::http::error::Problem> {
                $crate::http::error::Problem::outcome($request, $read)
            }
        }
    };
}
pub(crate) use guard;

pub(crate) fn managed<'r, T: Send + Sync + 'static>(request: &'r Request<'_>) -> Result<&'r T, Problem> {
    request
        .rocket()
        .state()
        .ok_or_else(|| Problem::internal(format!("{} is not managed", std::any::type_name::<T>())))
}
