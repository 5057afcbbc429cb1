use rocket::form::Form;
use rocket::http::Method;
use rocket::{Data, Request};

/// The bytes of a body that Rocket reads for this.
const READ: usize = "_method=delete".len();

/// Restores the method of a POST that Rocket has changed to another method because its form has a field `_method`.
///
/// Rocket overwrites the method before any fairing runs and does not keep the original one. So this reads the beginning of the
/// body by the same rules as Rocket. A request that was really sent with the method in its form is taken for a POST too: the
/// two cannot be told apart, and no route of this service reads a form.
pub(crate) async fn restore_method(request: &mut Request<'_>, data: &mut Data<'_>) {
    let form = request.content_type().is_some_and(|kind| kind.is_form());
    if form && named(data.peek(READ).await) == Some(request.method()) {
        request.set_method(Method::Post);
    }
}

/// Returns the method in the first field of a form.
fn named(form: &[u8]) -> Option<Method> {
    let field = Form::values(str::from_utf8(form).ok()?).next()?;
    (field.name == "_method").then(|| field.value.parse().ok())?
}
