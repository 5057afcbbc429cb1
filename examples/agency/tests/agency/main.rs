//! What the agency adds, held against Siaga's suites and asked for over HTTP.

mod audit;
mod configuration;
mod flatgeobuf;
mod program;
mod support;
mod warnings;
