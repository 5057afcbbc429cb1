//! docs/configuration.md tells the truth about which keys there are, about their defaults and examples. What a key does is
//! tested where its effect is.

mod minimal;
mod page;

mod defaults;
mod examples;
mod known;
mod refusals;
