//! Reads data from folders: places and reports of an installation, texts of a country, and the demo.

pub(crate) mod country;
mod dataset;
pub(crate) mod demo;
pub mod folder;
pub(crate) mod statements;
