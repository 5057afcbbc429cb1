use minijinja::value::Value;
use minijinja::{Environment, Error, ErrorKind, State, UndefinedBehavior};

use super::budget::Budget;
use super::escaping::{Escaping, html};
use super::shapes::{Point, Shape, WktGeometry, no_geometry};
use super::{shape_text, times};
use crate::model::FloodState;

/// The maximum nesting of macro calls. This depth fits on the stack of any thread.
const DEPTH: usize = 64;

/// Returns the template engine with its filters. The engine has no loader, so templates cannot read other templates or files.
pub(super) fn engine(escaping: Escaping, steps: u64) -> Environment<'static> {
    let mut engine = Environment::new();
    engine.set_undefined_behavior(UndefinedBehavior::Strict);
    // In this mode, errors contain the names of undefined variables.
    engine.set_debug(true);
    engine.set_fuel(Some(steps));
    engine.set_recursion_limit(DEPTH);
    engine.set_auto_escape_callback(move |_| escaping.mode());
    engine.set_formatter(move |out, state, value| {
        let plain = *state.auto_escape() == minijinja::AutoEscape::None;
        let text = if plain { Escaping::Plain } else { escaping }.escaped(value)?;
        Budget::current(state)?.print(text.len())?;
        Ok(out.write_str(&text)?)
    });
    // `debug` and `pprint` print internals, which readers of the output do not need.
    engine.remove_global("debug");
    engine.remove_filter("pprint");
    engine.add_filter("html", html);
    engine
        .add_filter("wkt", |value: &Value| Ok::<_, Error>(shape_text::wkt(&WktGeometry::from_value(value)?)));
    engine.add_filter("kml", |value: &Value| shape_text::kml(&WktGeometry::from_value(value)?));
    engine.add_filter("gml", |value: &Value| shape_text::gml(&WktGeometry::from_value(value)?));
    engine.add_filter("polygons", |value: &Value| Ok::<_, Error>(shape(value)?.polygons()));
    engine.add_filter("place", |value: &Value| Ok::<_, Error>(place(shape(value)?)));
    engine.add_filter("severity", severity);
    engine.add_filter("colour", colour);
    engine.add_filter("date", |state: &mut State, time: &str, format: &str, zone: Option<&str>| {
        times::date(state, time, format, zone)
    });
    engine.add_filter("rfc3339", |state: &mut State, time: &str, zone: Option<&str>| {
        times::rfc3339(state, time, zone)
    });
    engine.add_filter("rfc822", |state: &mut State, time: &str, zone: Option<&str>| {
        times::rfc822(state, time, zone)
    });
    engine
}

fn shape(value: &Value) -> Result<&Shape, Error> {
    value.downcast_object_ref().ok_or_else(|| no_geometry("a geometry"))
}

fn place(shape: &Shape) -> Value {
    shape.place().map_or_else(|| Value::from(()), |place: Point| Value::from_object(place))
}

fn colour(code: u64) -> Result<&'static str, Error> {
    state(code).map(FloodState::colour)
}

fn severity(code: u64) -> Result<&'static str, Error> {
    state(code).map(FloodState::severity)
}

fn state(code: u64) -> Result<FloodState, Error> {
    FloodState::try_from(code)
        .map_err(|error| Error::new(ErrorKind::InvalidOperation, format!("a flood state {error}")))
}
