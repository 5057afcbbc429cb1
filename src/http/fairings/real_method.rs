use rocket::form::Form;
use rocket::http::Method;
use rocket::{Data, Request};

const PEEK_LENGTH: usize = "_method=delete".len();

/// Sets the method of a request back to POST if Rocket has replaced it by the field `_method` of the form in the body.
///
/// Rocket replaces the method before any fairing runs, so this function applies Rocket's rule to the beginning of the body. A
/// request that was really sent with the method in its form becomes a POST too, because it looks the same. This is harmless,
/// because no route of this service reads such a form.
pub(crate) async fn restore_method(request: &mut Request<'_>, data: &mut Data<'_>) {
    let form = request.content_type().is_some_and(|kind| kind.is_form());
    if form && method_field(data.peek(PEEK_LENGTH).await) == Some(request.method()) {
        request.set_method(Method::Post);
    }
}

fn method_field(form: &[u8]) -> Option<Method> {
    let field = Form::values(str::from_utf8(form).ok()?).next()?;
    (field.name == "_method").then(|| field.value.parse().ok())?
}
