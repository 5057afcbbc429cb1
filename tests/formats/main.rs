//! The format suite on every format, and what each promises beyond it.

mod cap;
mod geojson;
mod prepared;
mod suite;
mod template;
mod topojson;
