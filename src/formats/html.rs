//! Pages for people, from templates that are part of the program.

use minijinja::{Environment, Error, Value};

/// Renders a template, with every value escaped for HTML.
///
/// # Errors
///
/// If the template is wrong, or a value cannot be written.
pub(crate) fn render(template: &str, values: Value) -> Result<String, Error> {
    // The ending `.html` makes the engine escape.
    Environment::new().render_named_str("page.html", template, values)
}
