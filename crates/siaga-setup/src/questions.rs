use std::fmt::Display;
use std::io::{self, IsTerminal};

use clap::ValueEnum;
use dialoguer::Input;

use crate::SetupError;

/// Asks for answers that were not given as options, if there is somebody to ask.
///
/// Every question is a line to type, never a list to move in: so the terminal's cursor is never hidden, even after Ctrl+C.
pub(crate) struct Questions {
    is_asking: bool,
    missing: Vec<String>,
}

impl Questions {
    pub(crate) fn new(yes: bool) -> Self {
        let is_asking = !yes && io::stdin().is_terminal() && io::stderr().is_terminal();
        Self { is_asking, missing: Vec::new() }
    }

    pub(crate) fn is_asking(&self) -> bool {
        self.is_asking
    }

    /// Prints a heading or an explanation, if questions follow.
    pub(crate) fn say(&self, text: impl Display) {
        if self.is_asking {
            eprintln!("{text}");
        }
    }

    /// Returns the answer to a question that is also an option, such as `--agency NAME`: what was given, what somebody types, or the
    /// default. Keeps what was typed in `given`, but not a default, which may be another one in the next run.
    ///
    /// Without any, notes that it is missing, and returns an empty text.
    pub(crate) fn answer(
        &mut self,
        given: &mut Option<String>,
        option: &str,
        text: &str,
        default: Option<&str>,
        check: impl Fn(&str) -> Result<(), String>,
    ) -> Result<String, SetupError> {
        if let Some(given) = given {
            let name = option.split(' ').next().unwrap_or_default();
            let checked =
                check(given).map_err(|reason| SetupError::failed(name, format!("{reason}, not {given:?}")));
            return checked.map(|()| given.clone());
        }
        if !self.is_asking {
            if default.is_none() {
                self.missing.push(option.to_owned());
            }
            return Ok(default.unwrap_or_default().to_owned());
        }
        let check = |answer: &String| check(answer);
        let mut input = Input::<String>::new().with_prompt(text).validate_with(check);
        if let Some(default) = default {
            input = input.default(default.to_owned());
        }
        let answer = input.interact_text().map_err(|error| SetupError::failed("the terminal", error))?;
        if default != Some(&answer) {
            *given = Some(answer.clone());
        }
        Ok(answer)
    }

    /// Like [`answer`](Self::answer), for one of several words.
    pub(crate) fn choice<T: ValueEnum>(
        &mut self,
        given: &mut Option<T>,
        text: &str,
        default: T,
    ) -> Result<T, SetupError> {
        if let Some(given) = given {
            return Ok(given.clone());
        }
        let name = |value: &T| value.to_possible_value().map(|value| value.get_name().to_owned());
        let names = T::value_variants().iter().filter_map(name).collect::<Vec<_>>().join(", ");
        let check = |answer: &str| ensure(T::from_str(answer, true).is_ok(), &format!("one of {names}"));
        let (default_name, mut typed) = (name(&default), None);
        let answer = self.answer(&mut typed, "", text, default_name.as_deref(), check)?;
        let value = T::from_str(&answer, true).unwrap_or(default);
        if typed.is_some() {
            *given = Some(value.clone());
        }
        Ok(value)
    }

    pub(crate) fn add_missing(&mut self, options: impl IntoIterator<Item = String>) {
        self.missing.extend(options);
    }

    /// Fails if answers are missing, and names them all.
    pub(crate) fn finish(&mut self) -> Result<(), SetupError> {
        let missing = std::mem::take(&mut self.missing);
        if missing.is_empty() { Ok(()) } else { Err(SetupError::Missing(missing)) }
    }
}

/// Fails with the reason "must be …" if a condition does not hold.
pub(crate) fn ensure(is_right: bool, rule: &str) -> Result<(), String> {
    if is_right { Ok(()) } else { Err(format!("must be {rule}")) }
}
