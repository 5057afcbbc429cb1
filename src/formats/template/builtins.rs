//! Filters and functions of the language, held to the budget.

use minijinja::value::{Kwargs, Rest, Value, ValueOrKwargs};
use minijinja::{Environment, Error, ErrorKind, State, filters, functions};

use super::budget::Budget;

/// The widest a field of the filter `format` may be.
const WIDEST: usize = 1000;

/// Holds what makes long values, or goes through long lists, to the budget, and removes what no format needs of it.
pub(super) fn bound(engine: &mut Environment<'static>) {
    for name in ["batch", "slice", "indent"] {
        engine.remove_filter(name);
    }
    for (name, filter) in [
        ("capitalize", Value::from_function(filters::capitalize)),
        ("chain", Value::from_function(filters::chain)),
        ("count", Value::from_function(filters::length)),
        ("dictsort", Value::from_function(filters::dictsort)),
        ("e", Value::from_function(filters::escape)),
        ("escape", Value::from_function(filters::escape)),
        ("format", Value::from_function(filters::format)),
        ("groupby", Value::from_function(filters::groupby)),
        ("join", Value::from_function(filters::join)),
        ("length", Value::from_function(filters::length)),
        ("lines", Value::from_function(filters::lines)),
        ("list", Value::from_function(filters::list)),
        ("lower", Value::from_function(filters::lower)),
        ("map", Value::from_function(filters::map)),
        ("max", Value::from_function(filters::max)),
        ("min", Value::from_function(filters::min)),
        ("reject", Value::from_function(filters::reject)),
        ("rejectattr", Value::from_function(filters::rejectattr)),
        ("replace", Value::from_function(filters::replace)),
        ("reverse", Value::from_function(filters::reverse)),
        ("safe", Value::from_function(filters::safe)),
        ("select", Value::from_function(filters::select)),
        ("selectattr", Value::from_function(filters::selectattr)),
        ("sort", Value::from_function(filters::sort)),
        ("split", Value::from_function(filters::split)),
        ("string", Value::from_function(filters::string)),
        ("sum", Value::from_function(filters::sum)),
        ("title", Value::from_function(filters::title)),
        ("trim", Value::from_function(filters::trim)),
        ("unique", Value::from_function(filters::unique)),
        ("upper", Value::from_function(filters::upper)),
        ("urlencode", Value::from_function(filters::urlencode)),
        ("zip", Value::from_function(filters::zip)),
    ] {
        engine.add_filter(name, move |state: &mut State, arguments: Rest<ValueOrKwargs>| {
            let arguments = arguments.into_values();
            let budget = Budget::of(state)?;
            budget.goes_on()?;
            for argument in &arguments {
                budget.allows(length(argument))?;
            }
            match name {
                "format" => fields(&arguments)?,
                "join" => budget.allows(joined(&budget, &arguments)?)?,
                "replace" => budget.allows(replaced(&arguments))?,
                _ => {}
            }
            let made = filter.call(state, &arguments)?;
            budget.allows(length(&made))?;
            Ok::<_, Error>(made)
        });
    }
    engine.add_function(
        "range",
        |state: &mut State, lower: isize, upper: Option<isize>, step: Option<isize>| {
            let budget = Budget::of(state)?;
            let range = functions::range(lower, upper, step)?;
            // Where one ends that makes nothing with each step but what nobody sees.
            Ok::<_, Error>(Value::make_object_iterable((range, budget), |(range, budget)| {
                match range.try_iter() {
                    Ok(numbers) => {
                        Box::new(numbers.map(|number| budget.goes_on().map_or_else(Value::from, |()| number)))
                    }
                    Err(error) => Box::new(std::iter::once(Value::from(error))),
                }
            }))
        },
    );
}

/// How many bytes a text has, or how many entries a list.
fn length(value: &Value) -> usize {
    value.as_str().map_or_else(|| value.len().unwrap_or_default(), str::len)
}

/// An argument by its position or name.
fn argument(arguments: &[Value], position: usize, name: &str) -> Option<Value> {
    let named = || Kwargs::try_from(arguments.last()?.clone()).ok()?.get::<Value>(name).ok();
    arguments.get(position).filter(|value| !value.is_kwargs()).cloned().or_else(named)
}

/// How long texts are with another between them.
fn joined(budget: &Budget, arguments: &[Value]) -> Result<usize, Error> {
    let between = argument(arguments, 1, "d").as_ref().map(length).unwrap_or_default();
    let mut joined = 0_usize;
    // What is no list the filter itself refuses.
    for item in arguments.first().and_then(|list| list.try_iter().ok()).into_iter().flatten() {
        joined = joined.saturating_add(item.as_str().map_or(0, str::len)).saturating_add(between);
        budget.allows(joined.saturating_sub(between))?;
    }
    Ok(joined.saturating_sub(between))
}

/// How long a text is with another in place of each occurrence of a third.
fn replaced(arguments: &[Value]) -> usize {
    let text = |position: usize| arguments.get(position).and_then(Value::as_str).unwrap_or_default();
    let (of, from, to) = (text(0), text(1), text(2));
    let occurrences = of.matches(from).count();
    (of.len() - occurrences * from.len()).saturating_add(occurrences.saturating_mul(to.len()))
}

/// Refuses fields that are wider than any table.
fn fields(arguments: &[Value]) -> Result<(), Error> {
    let format = arguments.first().and_then(Value::as_str).unwrap_or_default();
    for field in format.split('%').skip(1) {
        let of_width = |c: char| c.is_ascii_digit() || "#-+ .*".contains(c);
        let width = &field[..field.find(|c| !of_width(c)).unwrap_or(field.len())];
        let wide =
            |number: &str| !number.is_empty() && number.parse().map_or(true, |number: usize| number > WIDEST);
        if width.contains('*') || width.split(|c: char| !c.is_ascii_digit()).any(wide) {
            let reason = format!("the width of a field is a number up to {WIDEST}");
            return Err(Error::new(ErrorKind::InvalidOperation, reason));
        }
    }
    Ok(())
}
