//! The format suite on every format, and what each promises beyond it.

mod cap;
mod geojson;
mod prepared;
mod template;
mod topojson;
