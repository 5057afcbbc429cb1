//! Tests of the agency's additions, with Siaga's suites and over HTTP.

mod audit;
mod configuration;
mod flatgeobuf;
mod program;
mod support;
mod warnings;
