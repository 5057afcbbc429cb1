use std::fmt::Display;
use std::io::{self, IsTerminal};

use clap::ValueEnum;
use dialoguer::Input;

use crate::SetupError;

/// Asks for settings that were not given as options, if there is somebody to ask.
///
/// Every question is a line to type, never a list to move in: so the terminal's cursor is never hidden, even after Ctrl+C.
pub(crate) struct Questions {
    is_asking: bool,
    missing: Vec<String>,
}

/// A question whose answer is also an option.
pub(crate) struct Prompt<'q> {
    /// Such as `--agency NAME`.
    pub(crate) option: &'q str,
    pub(crate) text: &'q str,
    pub(crate) default: Option<String>,
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

    /// Returns the answer: the option, what somebody typed, or the default. Without any, notes that it is missing, and returns an
    /// empty text.
    pub(crate) fn answer(
        &mut self,
        question: Prompt<'_>,
        given: Option<String>,
        check: impl Fn(&str) -> Result<(), String> + Clone,
    ) -> Result<String, SetupError> {
        let Prompt { option, text, default } = question;
        if let Some(given) = given {
            let name = option.split(' ').next().unwrap_or_default();
            return match check(&given) {
                Ok(()) => Ok(given),
                Err(reason) => Err(SetupError::failed(name, format!("{reason}, not {given:?}"))),
            };
        }
        if !self.is_asking {
            let Some(default) = default else {
                self.missing.push(option.to_owned());
                return Ok(String::new());
            };
            return Ok(default);
        }
        let check = move |answer: &String| check(answer);
        let mut input = Input::<String>::new().with_prompt(text).validate_with(check);
        if let Some(default) = default {
            input = input.default(default);
        }
        input.interact_text().map_err(|error| SetupError::failed("the terminal", error))
    }

    /// Like [`answer`](Self::answer), for one of several words.
    pub(crate) fn choice<T: ValueEnum>(
        &mut self,
        option: &str,
        text: &str,
        given: Option<T>,
        default: T,
    ) -> Result<T, SetupError> {
        if let Some(given) = given {
            return Ok(given);
        }
        let name = |value: &T| value.to_possible_value().map(|value| value.get_name().to_owned());
        let names = T::value_variants().iter().filter_map(name).collect::<Vec<_>>().join(", ");
        let check = move |answer: &str| {
            T::from_str(answer, true).map(drop).map_err(|_| format!("must be one of {names}"))
        };
        let question = Prompt { option, text, default: name(&default) };
        let answer = self.answer(question, None, check)?;
        Ok(T::from_str(&answer, true).unwrap_or(default))
    }

    pub(crate) fn miss(&mut self, option: &str) {
        self.missing.push(option.to_owned());
    }

    /// Fails if settings are missing, and names them all.
    pub(crate) fn finish(&mut self) -> Result<(), SetupError> {
        let missing = std::mem::take(&mut self.missing);
        if missing.is_empty() { Ok(()) } else { Err(SetupError::Missing(missing)) }
    }
}

/// Accepts a name that pages can show.
pub(crate) fn name(text: &str) -> Result<(), String> {
    let is_right = !text.trim().is_empty() && text.chars().count() < 256 && !text.contains(char::is_control);
    if is_right { Ok(()) } else { Err("must be a text of 1 to 255 characters on one line".to_owned()) }
}
