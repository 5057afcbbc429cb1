//! docs/configuration.md lists the existing keys with their defaults and valid examples. The effect of a key is
//! tested elsewhere.

mod minimal;
mod page;

mod defaults;
mod examples;
mod known;
mod manila;
mod refusals;
