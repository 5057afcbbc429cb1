//! The format suite on every format, and the further guarantees of each.

#[path = "../../../../tests/common/xml.rs"]
mod xml;

mod alerts;
mod cap;
mod outlines;
mod prepared;
mod suite;
mod template;
mod topojson;
mod topology;
