//! docs/configuration.md tells the truth: of the keys there are, their defaults, and what they do.

#[path = "../common/named_tests.rs"]
mod named_tests;

mod keys;
mod minimal;
mod page;

mod defaults;
mod effects;
mod elsewhere;
mod known;
mod refusals;
