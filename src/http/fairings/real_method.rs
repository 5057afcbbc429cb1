use rocket::form::Form;
use rocket::http::Method;
use rocket::{Data, Request};

const PEEK_LENGTH: usize = "_method=delete".len();

/// Restores the method of a POST that Rocket has changed because its form has a field `_method`.
///
/// Rocket overwrites the method before any fairing runs. So this function reads the beginning of the body by the same rules. A
/// request whose own method is the one in its form is treated as a POST too: the two cannot be distinguished, and no route of
/// this service reads such a form.
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
