//! docs/configuration.md tells the truth about which keys there are, and about their defaults. What a key does is tested
//! where its effect is.

mod keys;
mod minimal;
mod page;

mod defaults;
mod elsewhere;
mod known;
mod refusals;
